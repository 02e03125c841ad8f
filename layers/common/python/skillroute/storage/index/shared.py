"""A Qdrant server that all processes share, kept in step with the change feed by whoever finds it behind.

The writer brings it up to date right after its commit. A search looks at the feed as well: usually there is nothing
to do, and when a writer died between its commit and the server, the search does that work. One row in PostgreSQL keeps
the position and is locked meanwhile, so that an old state is never written over a newer one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from skillroute.domain.embedding import EmbeddingModel
from skillroute.domain.index import Collection, FeedPage
from skillroute.errors import EmbeddingModelMismatch
from skillroute.ports import ChangeFeed, IndexStatus, PositionStore, VectorIndex
from skillroute.storage.index.projection import AppliedChanges, apply_changes, refresh_everything

OpenIndex = Callable[[EmbeddingModel], VectorIndex]
"""Opens the server's collections for vectors of a model, and makes them where they are missing."""


class SharedReplica:
    """`ports.IndexReplica` over an index server."""

    def __init__(
        self,
        feed: ChangeFeed,
        positions: PositionStore,
        open_index: OpenIndex,
        configured_model: Callable[[], EmbeddingModel | None],
    ) -> None:
        self._feed = feed
        self._positions = positions
        self._open_index = open_index
        self._configured_model = configured_model
        self._lock = threading.Lock()
        self._index: VectorIndex | None = None
        self._model: EmbeddingModel | None = None
        self._epoch: str | None = None
        self._position = 0
        self._applied = AppliedChanges()

    @contextmanager
    def current(self) -> Iterator[VectorIndex]:
        yield self._caught_up()

    def status(self) -> IndexStatus:
        with self._lock:
            page = self._feed.poll(self._position)
            index = self._index
            return IndexStatus(
                kind="server",
                ready=index is not None,
                rebuilding=False,
                lag=len(self._applied.fresh(page)),
                items=index.count(Collection.TOOLS) if index else 0,
                skills=index.count(Collection.SKILLS) if index else 0,
                model=str(page.model) if page.model else None,
            )

    def close(self) -> None:
        with self._lock:
            index, self._index = self._index, None
        if index is not None:
            index.close()

    def _caught_up(self) -> VectorIndex:
        with self._lock:
            page = self._feed.poll(self._position)
            index = self._opened(page)
            if page.epoch != self._epoch or self._applied.fresh(page):
                page = self._catch_up(index)
                index = self._opened(page)  # a reindex may have come between the two looks
            self._applied.remember(page)
            self._epoch, self._position = page.epoch, page.position
            return index

    def _opened(self, page: FeedPage) -> VectorIndex:
        configured = self._configured_model()
        if page.model and configured and page.model != configured:
            raise EmbeddingModelMismatch(stored=str(page.model), configured=str(configured))
        model = page.model or configured or EmbeddingModel("none", 1)
        if self._index is None or self._model != model:
            self._index, self._model = self._open_index(model), model
        return self._index

    def _catch_up(self, index: VectorIndex) -> FeedPage:
        with self._positions.exclusive() as cursor:
            page = self._feed.poll(cursor.position)
            if cursor.epoch == page.epoch:
                apply_changes(self._feed, index, page.changes)
            else:
                refresh_everything(self._feed, index)
            cursor.advance(page.epoch, page.position)
            return page
