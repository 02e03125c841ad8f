"""Carrying changes of PostgreSQL over to an index. Every step may be repeated without harm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.model import IndexRecord
from skillroute.core.documents.replica_port import ChangeFeed
from skillroute.core.embedding.model import EmbeddingModel

STEP = 100
"""Records that are written to an index at once: in 5 ms, for which other threads wait."""


def apply_changes(
    feed: ChangeFeed, index: VectorIndex, model: EmbeddingModel, changes: Iterable[tuple[Collection, str]]
) -> None:
    """Write the current state of every changed item to the index, with its vector of a model, or remove it."""
    for collection, records, gone in _current(feed, model, changes):
        if records:
            index.upsert(collection, records)
        if gone:
            index.delete(collection, gone)


def removes(
    feed: ChangeFeed, index: VectorIndex, model: EmbeddingModel, changes: Iterable[tuple[Collection, str]]
) -> bool:
    """Return whether applying changes would remove something that the index has."""
    return any(gone and index.payloads(collection, gone) for collection, _, gone in _current(feed, model, changes))


def _current(
    feed: ChangeFeed, model: EmbeddingModel, changes: Iterable[tuple[Collection, str]]
) -> Iterator[tuple[Collection, list[IndexRecord], list[str]]]:
    """Yield what is there of each collection's changed items, and the keys of what is not."""
    keys: dict[Collection, list[str]] = {}
    for collection, key in changes:
        keys.setdefault(collection, []).append(key)
    for collection, changed in keys.items():
        records = feed.load(collection, changed, model)
        yield collection, records, sorted(set(changed) - {record.key for record in records})


def load_everything(
    feed: ChangeFeed, index: VectorIndex, model: EmbeddingModel, before_step: Callable[[], None] = lambda: None
) -> None:
    """Fill an empty index, with vectors of a model; `before_step` is called before every few records."""
    for collection in collections():
        for records in feed.load_all(collection, model):
            for start in range(0, len(records), STEP):
                before_step()
                index.upsert(collection, records[start : start + STEP])
