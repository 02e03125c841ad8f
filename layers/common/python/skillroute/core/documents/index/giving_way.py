"""An index that gives way: heavy searches look into it when no plain one is under way (docs/adr/0065)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.port import IndexKind, LentIndex
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.documents.replica_port import LendsIndex
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.rationing.turns import Turns


class LentInTurn:
    """Lends an index to plain searches as it is, and to heavy ones as one that gives way before each look."""

    def __init__(self, replica: LendsIndex, turns: Turns) -> None:
        self._replica = replica
        self._turns = turns

    @contextmanager
    def current(self, on_stale: Callable[[], object] = lambda: None) -> Iterator[LentIndex]:
        """Lend the index, brought up to date. Raises as the replica does."""
        with self._replica.current(on_stale) as index:
            yield _GivingWay(index, self._turns.give_way) if self._turns.is_heavy else index


class _GivingWay:
    """See `SearchedIndex` for the methods."""

    def __init__(self, index: LentIndex, give_way: Callable[[], None]) -> None:
        self._index = index
        self._give_way = give_way

    @property
    def model(self) -> EmbeddingModel:
        return self._index.model

    @property
    def kind(self) -> IndexKind:
        return self._index.kind

    def search(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        where: IndexFilter,
        limit: int,
        threshold: float | None = None,
    ) -> list[IndexHit]:
        self._give_way()
        return self._index.search(collection, vector, where=where, limit=limit, threshold=threshold)

    def search_each(
        self, collection: Collection, vectors: Sequence[Sequence[float]], *, where: IndexFilter, limit: int
    ) -> list[list[IndexHit]]:
        # One by one: together they would be the longest step of all.
        return [self.search(collection, vector, where=where, limit=limit) for vector in vectors]

    def search_text(self, collection: Collection, text: str, *, where: IndexFilter, limit: int) -> list[IndexHit]:
        self._give_way()
        return self._index.search_text(collection, text, where=where, limit=limit)

    def search_terms(
        self, collection: Collection, weights: Mapping[str, float], *, where: IndexFilter, limit: int
    ) -> list[IndexHit]:
        self._give_way()
        return self._index.search_terms(collection, weights, where=where, limit=limit)

    def match(self, collection: Collection, *, where: IndexFilter, limit: int) -> list[str]:
        self._give_way()
        return self._index.match(collection, where=where, limit=limit)

    def payloads(self, collection: Collection, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        self._give_way()
        return self._index.payloads(collection, keys)

    def count(self, collection: Collection, *, where: IndexFilter | None = None) -> int:
        self._give_way()
        return self._index.count(collection, where=where)

    def close(self) -> None:
        self._index.close()
