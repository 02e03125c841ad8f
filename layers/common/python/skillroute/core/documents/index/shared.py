"""A Qdrant server that all processes share, kept in step with the change feed by whoever finds it behind.

The writer brings it up to date right after its commit. A search looks at the feed as well: usually there is nothing
to do, and when a writer died between its commit and the server, the search does that work. One row in PostgreSQL keeps
the position and is locked meanwhile, so that an old state is never written over a newer one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from skillroute.core.documents.index.events import Rebuild, model_of, tell_batch
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.index.projection import apply_changes, refresh_everything
from skillroute.core.documents.model import HEAD, START, Collection, FeedPage
from skillroute.core.documents.replica_port import ChangeFeed, IndexStatus, PositionStore
from skillroute.core.embedding.model import EmbeddingModel


@dataclass(slots=True)
class Opened:
    """The server's collections for one model, where their position is kept, and how far this process has seen.

    Each model has collections and a position of its own, so vectors of two models never meet, and a change of dimension
    needs nothing to be dropped first. `is_new` tells that the collections were empty when they were opened.
    """

    model: EmbeddingModel
    index: VectorIndex
    positions: PositionStore
    is_new: bool = False
    epoch: str | None = None
    position: str = START

    def saw(self, page: FeedPage) -> None:
        """Take note of a look at the feed whose changes are all in the index."""
        self.is_new = False
        self.epoch, self.position = page.epoch, page.position


OpenIndex = Callable[[EmbeddingModel], Opened]
"""Opens the server's collections for vectors of a model, and makes them where they are missing."""


class SharedReplica:
    """`ports.IndexReplica` over an index server."""

    def __init__(
        self,
        feed: ChangeFeed,
        open_index: OpenIndex,
        configured_model: Callable[[], EmbeddingModel | None],
    ) -> None:
        self._feed = feed
        self._open_index = open_index
        self._configured_model = configured_model
        self._lock = threading.Lock()
        self._opened: Opened | None = None

    @property
    def is_ready(self) -> bool:
        return self._opened is not None

    @contextmanager
    def current(self) -> Iterator[VectorIndex]:
        yield self._caught_up().index

    def status(self) -> IndexStatus:
        with self._lock:
            opened = self._opened
            page = self._feed.poll(HEAD)
            return IndexStatus(
                kind="server",
                ready=opened is not None,
                rebuilding=False,
                lag=self._feed.lag(opened.position if opened else START),
                items=opened.index.count(Collection.TOOLS) if opened else 0,
                skills=opened.index.count(Collection.SKILLS) if opened else 0,
                entities=opened.index.count(Collection.REGISTRY) if opened else 0,
                mail=opened.index.count(Collection.MAIL) if opened else 0,
                model=str(page.model) if page.model else None,
            )

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.index.close()

    def _caught_up(self) -> Opened:
        with self._lock:
            while True:
                page = self._feed.poll(self._opened.position if self._opened else START)
                opened = self._open(page)
                if page.epoch != opened.epoch or page.changes or not page.is_complete:
                    page = self._catch_up(opened)
                # A reindex may have come between the two looks; then the other model's collections are caught up.
                if self._model_of(page) == opened.model:
                    opened.saw(page)
                    return opened

    def _model_of(self, page: FeedPage) -> EmbeddingModel:
        return model_of(page, self._configured_model)

    def _open(self, page: FeedPage) -> Opened:
        model = self._model_of(page)
        if self._opened is None or self._opened.model != model:
            opened = self._open_index(model)
            # Whatever the position says: collections that somebody dropped come back empty.
            opened.is_new = not any(opened.index.count(collection) for collection in Collection)
            self._opened = opened
        return self._opened

    def _catch_up(self, opened: Opened) -> FeedPage:
        with opened.positions.exclusive() as cursor:
            page = self._feed.poll(cursor.position)
            if self._model_of(page) == opened.model:
                followed = cursor.epoch == page.epoch and page.is_complete
                if followed and not opened.is_new:
                    apply_changes(self._feed, opened.index, page.changes)
                    tell_batch(len(page.changes))
                else:
                    rebuild = Rebuild(self._feed)
                    refresh_everything(self._feed, opened.index)
                    rebuild.completed(opened.index)
                cursor.advance(page.epoch, page.position)
            return page
