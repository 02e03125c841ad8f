"""The contract of `VectorIndex`, written once over the few calls that both Qdrant engines offer.

What an engine leaves open is settled here, so that both answer alike:

- *Scores* are float32 inside, good to about six decimals. They are rounded to six, so that equal vectors score 1.0 and
  equal documents tie. Thresholds are compared at six decimals too, inclusively; both engines compare exclusively.
- *Ties* are broken by key, at the cut as well. Engines break them by an internal number, so when a tie reaches
  over the cut, more is fetched until it ends.
- *Keys* that are no numbers are read from the payload after the search, for the hits only: a search without payload
  takes half the time of one with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index import schema
from skillroute.core.documents.index.bm25 import Bm25Encoder, terms_vector
from skillroute.core.documents.index.schema import Conditions, PointId
from skillroute.core.documents.model import IndexFilter, IndexHit, IndexRecord

if TYPE_CHECKING:
    from qdrant_edge import SparseVector

_DECIMALS = 6
_MARGIN = 2e-6  # more than rounding and float32 together can move a score
_SMALLEST_PAGE, _LARGEST_PAGE = 100, 1000

Scored = tuple[PointId, float]
Id = TypeVar("Id")


@dataclass(frozen=True, slots=True)
class IndexPoint:
    """A record as an engine stores it. A vector that is None is not stored at all."""

    id: PointId
    dense: list[float] | None
    sparse: SparseVector | None
    payload: dict[str, Any]


class PointIndex(ABC):
    """`VectorIndex` over an engine; a subclass supplies the engine's eight calls.

    Each of them raises `IndexUnavailable` or `IndexTimeout` for any failure of the engine.
    """

    def __init__(self) -> None:
        self._bm25 = Bm25Encoder()

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        """Write records, replacing those of the same key whole. Of two with one key the last stays."""
        points = [
            IndexPoint(
                id=schema.point_id(record.key),
                dense=None if record.vector is None else list(record.vector),
                sparse=self._bm25.document(record.text) if record.impacts is None else terms_vector(record.impacts),
                payload=schema.to_payload(record),
            )
            for record in {record.key: record for record in records}.values()
        ]
        if points:
            self._write(collection, points)

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        """Remove records. Unknown keys are no error."""
        if keys:
            self._remove(collection, [schema.point_id(key) for key in keys])

    def search(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        where: IndexFilter,
        limit: int,
        threshold: float | None = None,
    ) -> list[IndexHit]:
        """Return the records nearest by cosine, at least `threshold`, sorted by score descending, then by key."""
        conditions = schema.conditions(where)
        if conditions is None:
            return []
        query = list(vector)
        above = None if threshold is None else threshold - _MARGIN
        found = with_ties(lambda count: self._nearest(collection, query, conditions, count, above), limit)
        if threshold is not None:
            floor = round(threshold, _DECIMALS)
            found = [(point, score) for point, score in found if score >= floor]
        return self._hits(collection, found, limit)

    def search_each(
        self, collection: Collection, vectors: Sequence[Sequence[float]], *, where: IndexFilter, limit: int
    ) -> list[list[IndexHit]]:
        """Return for each vector what `search` does, all of them in one call to the engine."""
        conditions = schema.conditions(where)
        if conditions is None or not vectors:
            return [[] for _ in vectors]
        queries = [list(vector) for vector in vectors]
        together = self._nearest_each(collection, queries, conditions, limit + 1)

        def fetch(place: int, count: int) -> list[Scored]:
            # A tie that reaches over the cut is fetched to its end alone.
            if count == limit + 1:
                return together[place]
            return self._nearest(collection, queries[place], conditions, count, None)

        found = (with_ties(partial(fetch, place), limit) for place in range(len(queries)))
        return [self._hits(collection, scored, limit) for scored in found]

    def search_text(self, collection: Collection, text: str, *, where: IndexFilter, limit: int) -> list[IndexHit]:
        """Return the records that share a word with `text`, by BM25 descending, then by key."""
        conditions = schema.conditions(where)
        query = self._bm25.query(text)
        if conditions is None or query is None:
            return []
        return self._by_terms(collection, query, conditions, limit)

    def search_terms(
        self, collection: Collection, weights: Mapping[str, float], *, where: IndexFilter, limit: int
    ) -> list[IndexHit]:
        """Return the records that have one of the terms, by the sum of weight times impact, then by key."""
        conditions = schema.conditions(where)
        query = terms_vector(weights)
        if conditions is None or query is None:
            return []
        return self._by_terms(collection, query, conditions, limit)

    def _by_terms(
        self, collection: Collection, query: SparseVector, conditions: Conditions, limit: int
    ) -> list[IndexHit]:
        # Of the first thousand by a word or two dozens tie at the cut, of a hundred a few: a tenth more holds them
        # nearly always.
        found = with_ties(
            lambda count: self._nearest(collection, query, conditions, count, None), limit, spare=limit // 10
        )
        return self._hits(collection, found, limit)

    def match(self, collection: Collection, *, where: IndexFilter, limit: int) -> list[str]:
        """Return the keys of records that pass the filter, in key order, without ranking."""
        conditions = schema.conditions(where)
        if conditions is None:
            return []
        size = min(max(limit, _SMALLEST_PAGE), _LARGEST_PAGE)
        keys: list[str] = []
        start: PointId | None = None
        while True:
            page, start = self._page(collection, conditions, size, start)
            keys += [schema.key_of(point, payload) for point, payload in page]
            # Pages come by point id, numbers first: enough numbers are the answer. UUIDs come in no order of keys.
            if start is None or (len(keys) >= limit and isinstance(page[-1][0], int)):
                return sorted(keys, key=schema.sort_key)[:limit]

    def payloads(self, collection: Collection, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return the payloads of the records that exist, by key, in the order of `keys`."""
        ids = {key: schema.point_id(key) for key in keys}
        if not ids:
            return {}
        stored = self._read(collection, list(ids.values()), None)
        return {key: schema.from_payload(stored[point]) for key, point in ids.items() if point in stored}

    def count(self, collection: Collection, *, where: IndexFilter | None = None) -> int:
        """Return how many records pass the filter."""
        conditions = schema.conditions(where)
        return 0 if conditions is None else self._count(collection, conditions)

    def _hits(self, collection: Collection, found: Sequence[Scored], limit: int) -> list[IndexHit]:
        numbered = [(-score, point) for point, score in found if isinstance(point, int)]
        if len(numbered) == len(found):  # nearly always: mail has a thousand a search, and numbers need no lookup
            return [IndexHit(str(point), -lost) for lost, point in sorted(numbered)[:limit]]
        unnamed = [point for point, _ in found if isinstance(point, str)]
        scores = dict(found)
        named = self._read(collection, unnamed, [schema.KEY_FIELD])
        keys = {
            point: schema.key_of(point, named.get(point, {}))
            for point in scores
            if isinstance(point, int) or point in named  # else deleted since the search
        }
        best = sorted(keys, key=lambda point: (-scores[point], schema.point_order(point, keys[point])))[:limit]
        return [IndexHit(keys[point], scores[point]) for point in best]

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections. Closing twice is no error."""

    @abstractmethod
    def _write(self, collection: Collection, points: Sequence[IndexPoint]) -> None:
        """Write at least one point, each replacing its predecessor whole."""

    @abstractmethod
    def _remove(self, collection: Collection, ids: Sequence[PointId]) -> None:
        """Remove at least one point; unknown ids are no error."""

    @abstractmethod
    def _nearest(
        self,
        collection: Collection,
        query: list[float] | SparseVector,
        conditions: Conditions,
        limit: int,
        above: float | None,
    ) -> list[Scored]:
        """Return the best points by score descending: by dense vector for a list, else by sparse vector."""

    @abstractmethod
    def _nearest_each(
        self, collection: Collection, queries: Sequence[list[float]], conditions: Conditions, limit: int
    ) -> list[list[Scored]]:
        """Return what `_nearest` does for each of at least one dense vector."""

    @abstractmethod
    def _page(
        self, collection: Collection, conditions: Conditions, limit: int, start: PointId | None
    ) -> tuple[list[tuple[PointId, Mapping[str, Any]]], PointId | None]:
        """Return points from `start` on in order of id, with their key field, and where the next page starts."""

    @abstractmethod
    def _read(
        self, collection: Collection, ids: Sequence[PointId], fields: list[str] | None
    ) -> dict[PointId, Mapping[str, Any]]:
        """Return the stored payloads of the points that exist: these fields of them, or all."""

    @abstractmethod
    def _count(self, collection: Collection, conditions: Conditions) -> int:
        """Return how many points pass."""


def rounded(score: float) -> float:
    """Return a score at the precision that all engines have."""
    return round(score, _DECIMALS)


def with_ties(fetch: Callable[[int], list[tuple[Id, float]]], limit: int, *, spare: int = 0) -> list[tuple[Id, float]]:
    """Fetch the best `limit` points and all that tie with the last of them, scores rounded.

    `spare` is how many more to ask for at once, where a tie at the cut is to be expected.
    """
    count = limit + 1 + spare
    while True:
        found = fetch(count)
        if len(found) < count:
            return [(point, round(score, _DECIMALS)) for point, score in found]
        last = round(found[limit - 1][1], _DECIMALS)
        if round(found[-1][1], _DECIMALS) < last:
            return [(point, near) for point, score in found if (near := round(score, _DECIMALS)) >= last]
        count *= 4
