"""An index in this process's memory, for the few thousand tools of the servers on a laptop.

Qdrant Edge makes four collections on disk first: 0.6 s, and 3 s where the disk is busy. Here a search reads every
vector: 0.3 ms at 1,000 of 384 dimensions, 8 ms at 10,000 (two busy cores).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index.points import IndexPoint, PointIndex, Scored
from skillroute.core.documents.index.schema import Alternatives, Asked, Conditions, NoneOf, PointId, PointIds
from skillroute.core.errors.model import IndexUnavailable

if TYPE_CHECKING:
    from qdrant_edge import SparseVector

_Floats = np.ndarray[Any, np.dtype[np.float32]]


class _Points:
    """The points of one collection, their vectors as one matrix, and for each word the points that have it."""

    def __init__(self) -> None:
        self.by_id: dict[PointId, IndexPoint] = {}
        self._having: dict[int, dict[PointId, float]] = {}
        self._matrix: tuple[list[PointId], _Floats] | None = None

    def put(self, points: Sequence[IndexPoint]) -> None:
        self.remove([point.id for point in points])
        for point in points:
            self.by_id[point.id] = point
            for word, impact in _words(point):
                self._having.setdefault(word, {})[point.id] = impact

    def remove(self, ids: Sequence[PointId]) -> None:
        for id_ in ids:
            if (point := self.by_id.pop(id_, None)) is not None:
                for word, _ in _words(point):
                    self._having[word].pop(id_, None)
        self._matrix = None

    def by_meaning(self, query: list[float]) -> Iterator[Scored]:
        """Yield the points that have a vector, by their cosine, the highest first."""
        if self._matrix is None:
            dense = [(point.id, point.dense) for point in self.by_id.values() if point.dense is not None]
            vectors = np.asarray([vector for _, vector in dense], dtype=np.float32)
            self._matrix = [id_ for id_, _ in dense], _of_length_one(vectors) if dense else vectors
        ids, vectors = self._matrix
        if ids:
            scores = vectors @ _of_length_one(np.asarray([query], dtype=np.float32))[0]
            yield from ((ids[place], float(scores[place])) for place in np.argsort(-scores, kind="stable"))

    def by_words(self, query: SparseVector) -> Iterator[Scored]:
        """Yield the points that share a word, by the sum of weight times impact, the highest first."""
        scores: dict[PointId, float] = {}
        for word, weight in zip(query.indices, query.values, strict=True):
            for id_, impact in self._having.get(word, {}).items():
                scores[id_] = scores.get(id_, 0.0) + weight * impact
        yield from sorted(scores.items(), key=lambda scored: -scored[1])

    def passing(self, conditions: Conditions) -> Iterator[PointId]:
        return (id_ for id_ in self.by_id if self.passes(id_, conditions))

    def passes(self, id_: PointId, conditions: Conditions) -> bool:
        return all(_passes(self.by_id[id_], *asked) for asked in conditions)


class MemoryIndex(PointIndex):
    """A `VectorIndex` in memory. Safe to call from several threads."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._points: dict[Collection, _Points] | None = {collection: _Points() for collection in collections()}

    def close(self) -> None:
        """Forget everything."""
        with self._lock:
            self._points = None

    def _write(self, collection: Collection, points: Sequence[IndexPoint]) -> None:
        with self._used(collection) as stored:
            stored.put(points)

    def _remove(self, collection: Collection, ids: Sequence[PointId]) -> None:
        with self._used(collection) as stored:
            stored.remove(ids)

    def _nearest(
        self,
        collection: Collection,
        query: list[float] | SparseVector,
        conditions: Conditions,
        limit: int,
        above: float | None,
    ) -> list[Scored]:
        with self._used(collection) as points:
            scored = points.by_meaning(query) if isinstance(query, list) else points.by_words(query)
            wanted = scored if above is None else takewhile(lambda found: found[1] > above, scored)
            return list(islice((found for found in wanted if points.passes(found[0], conditions)), limit))

    def _nearest_each(
        self, collection: Collection, queries: Sequence[list[float]], conditions: Conditions, limit: int
    ) -> list[list[Scored]]:
        return [self._nearest(collection, query, conditions, limit, None) for query in queries]

    def _page(
        self, collection: Collection, conditions: Conditions, limit: int, start: PointId | None
    ) -> tuple[list[tuple[PointId, Mapping[str, Any]]], PointId | None]:
        with self._used(collection) as points:
            ids = sorted(points.passing(conditions), key=_by_id)
            first = 0 if start is None else next((n for n, point in enumerate(ids) if point == start), len(ids))
            page: list[tuple[PointId, Mapping[str, Any]]] = [
                (point, points.by_id[point].payload) for point in ids[first : first + limit]
            ]
        return page, ids[first + limit] if first + limit < len(ids) else None

    def _read(
        self, collection: Collection, ids: Sequence[PointId], fields: list[str] | None
    ) -> dict[PointId, Mapping[str, Any]]:
        with self._used(collection) as points:
            return {point: points.by_id[point].payload for point in ids if point in points.by_id}

    def _count(self, collection: Collection, conditions: Conditions) -> int:
        with self._used(collection) as points:
            return sum(1 for _ in points.passing(conditions))

    @contextmanager
    def _used(self, collection: Collection) -> Iterator[_Points]:
        with self._lock:
            if self._points is None:
                raise IndexUnavailable("the index is closed")
            yield self._points[collection]


def _words(point: IndexPoint) -> Iterable[tuple[int, float]]:
    return () if point.sparse is None else zip(point.sparse.indices, point.sparse.values, strict=True)


def _of_length_one(vectors: _Floats) -> _Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: _Floats = np.divide(vectors, lengths, out=vectors, where=lengths > 0)
    return scaled


def _passes(point: IndexPoint, name: str, asked: Asked) -> bool:
    if isinstance(asked, PointIds):
        return point.id in asked.ids
    if isinstance(asked, Alternatives):
        return asked.may_hold == any(all(_passes(point, *pair) for pair in pairs) for pairs in asked.each)
    value = point.payload.get(name)
    values = value if isinstance(value, list) else [] if value is None else [value]
    if isinstance(asked, NoneOf):
        return not any(one in asked.values for one in values)
    if isinstance(asked, tuple):
        least, most = asked
        return any((least is None or one >= least) and (most is None or one <= most) for one in values)
    return any(one in asked for one in values)


def _by_id(point: PointId) -> tuple[bool, int, str]:
    """Order numbers before the others, as Qdrant's engines do."""
    return (False, point, "") if isinstance(point, int) else (True, 0, point)
