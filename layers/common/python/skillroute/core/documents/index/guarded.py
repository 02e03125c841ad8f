"""An index whose engine is watched: one that keeps failing is given up, and another is built."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.port import IndexKind, VectorIndex
from skillroute.core.documents.model import IndexFilter, IndexHit, IndexRecord
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexTimeout, IndexUnavailable

MAX_FAILURES = 3
"""So many in a row, and an engine is not trusted to recover."""

_Work = Literal["write", "search", "match", "payloads", "count"]


class GuardedIndex:
    """A `VectorIndex` that counts how often its engine failed in a row.

    Each kind of work is counted apart, and so are collections: one file that is damaged fails again and again between
    calls that succeed. An engine that is merely slow has not failed.

    Attributes
    ----------
    inner : VectorIndex
    model : EmbeddingModel
        That of its vectors.
    kind : IndexKind
    broken : IndexUnavailable or None
        The failure after which the engine is not trusted any more.
    """

    def __init__(self, inner: VectorIndex, model: EmbeddingModel, *, kind: IndexKind = "embedded") -> None:
        self.inner = inner
        self.model = model
        self.kind = kind
        self.broken: IndexUnavailable | None = None
        self._failures: Counter[tuple[_Work, Collection]] = Counter()

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        """Pass on to the engine."""
        with self._tried("write", collection):
            self.inner.upsert(collection, records)

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        """Pass on to the engine."""
        with self._tried("write", collection):
            self.inner.delete(collection, keys)

    def search(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        where: IndexFilter,
        limit: int,
        threshold: float | None = None,
    ) -> list[IndexHit]:
        """Pass on to the engine."""
        with self._tried("search", collection):
            return self.inner.search(collection, vector, where=where, limit=limit, threshold=threshold)

    def search_each(
        self, collection: Collection, vectors: Sequence[Sequence[float]], *, where: IndexFilter, limit: int
    ) -> list[list[IndexHit]]:
        """Pass on to the engine."""
        with self._tried("search", collection):
            return self.inner.search_each(collection, vectors, where=where, limit=limit)

    def search_text(self, collection: Collection, text: str, *, where: IndexFilter, limit: int) -> list[IndexHit]:
        """Pass on to the engine."""
        with self._tried("search", collection):
            return self.inner.search_text(collection, text, where=where, limit=limit)

    def search_terms(
        self, collection: Collection, weights: Mapping[str, float], *, where: IndexFilter, limit: int
    ) -> list[IndexHit]:
        """Pass on to the engine."""
        with self._tried("search", collection):
            return self.inner.search_terms(collection, weights, where=where, limit=limit)

    def match(self, collection: Collection, *, where: IndexFilter, limit: int) -> list[str]:
        """Pass on to the engine."""
        with self._tried("match", collection):
            return self.inner.match(collection, where=where, limit=limit)

    def payloads(self, collection: Collection, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Pass on to the engine."""
        with self._tried("payloads", collection):
            return self.inner.payloads(collection, keys)

    def count(self, collection: Collection, *, where: IndexFilter | None = None) -> int:
        """Pass on to the engine."""
        with self._tried("count", collection):
            return self.inner.count(collection, where=where)

    def close(self) -> None:
        """Pass on to the engine."""
        self.inner.close()

    @contextmanager
    def _tried(self, work: _Work, collection: Collection) -> Iterator[None]:
        try:
            yield
        except IndexTimeout:
            raise
        except IndexUnavailable as error:
            self._failures[work, collection] += 1
            if self._failures[work, collection] >= MAX_FAILURES:
                self.broken = error
            raise
        self._failures[work, collection] = 0
