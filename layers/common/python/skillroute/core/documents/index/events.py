"""Events of an index: one log line and one metric for each (message-search, section 8)."""

from __future__ import annotations

import time

from skillroute.core.documents.index.port import SearchedIndex, counts
from skillroute.core.documents.lexical_engines import WIRE_NAMES
from skillroute.core.documents.model import Models
from skillroute.core.documents.replica_port import ChangeFeed
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.observability import Metric, event
from skillroute.core.time.clock import Clock

ENGINE = WIRE_NAMES["bm25"]
"""The name of the index in events, whichever engine holds it."""

NO_MODEL = EmbeddingModel("none", 1)


class Rebuild:
    """The writing of everything to an index: tells of its beginning when it is made, and of its end.

    `doc_count` is of all collections: at the beginning what PostgreSQL has, at the end what the index holds.
    """

    def __init__(self, feed: ChangeFeed, clock: Clock = time.monotonic) -> None:
        tell_rebuild(feed)
        self._clock = clock
        self._started = clock()

    def completed(self, index: SearchedIndex) -> None:
        """Report that the index is full. One that failed never is: its builder logs why."""
        tell_rebuilt(index, round((self._clock() - self._started) * 1000))


def tell_rebuild(feed: ChangeFeed) -> None:
    """Tell that an index is about to be filled."""
    event("index.rebuild.start", Metric.INDEX_REBUILD_START, doc_count=feed.count(), engine=ENGINE)


def tell_rebuilt(index: SearchedIndex, duration_ms: int) -> None:
    """Tell that an index is full."""
    event(
        "index.rebuild.complete",
        Metric.INDEX_REBUILD_COMPLETE,
        doc_count=sum(counts(index).values()),
        duration_ms=duration_ms,
        engine=ENGINE,
    )


def tell_stale() -> None:
    """Tell that a search was answered by an index that lacks changes."""
    event("index.stale", Metric.INDEX_STALE, engine=ENGINE)


def tell_batch(size: int) -> None:
    """Tell that so many changes have been applied; nothing when there were none."""
    if size:
        event("index.incremental.batch", Metric.INDEX_INCREMENTAL_BATCH, batch_size=size, engine=ENGINE)


def tell_given_up(reason: object) -> None:
    """Tell that an index whose engine keeps failing is rebuilt."""
    event("index.given_up", Metric.INDEX_GIVEN_UP, reason=str(reason), engine=ENGINE)


def tell_mismatch(expected: object, actual: object) -> None:
    """Tell that what is stored is not what this process is configured for."""
    event("index.schema.mismatch", Metric.INDEX_SCHEMA_MISMATCH, expected=str(expected), actual=str(actual))


def model_to_search(models: Models, own: EmbeddingModel | None) -> EmbeddingModel:
    """Return the model whose vectors a process searches that embeds with `own`, and tell when it is another one.

    Without either nothing has a vector, and any dimension does until the first one is written.
    """
    model = models.to_search(own) or NO_MODEL
    if own and model != own:
        tell_mismatch(own, model)
    return model
