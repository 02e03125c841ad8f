"""The embedded engine: Qdrant Edge, inside the process, files in a directory.

Figures (qdrant-edge-py 0.9, 384 dimensions, two cores). 10,000 points: a dense search 0.7 ms, with a filter that all
pass 1.2 ms, with one that 600 pass 0.2 ms; BM25 0.1 ms. 100,000 points: dense 18 ms, and 1.2 ms once `optimize` has
built HNSW. Making a collection 140 ms and 33 MB, opening it again 20 ms.

Every call holds the GIL for its whole run. That makes calls atomic among Python threads (eight of them writing,
deleting and searching for six seconds: no error), so there is no lock but for making collections, and no gain from
searching in two threads.
Threads of Edge's own, which search segments side by side, are no gain either: there are one or two segments. On two
cores Edge would keep eight for each collection, and all of them wake at every call; with one, the caller's thread
does the work.

Edge is imported at the top: the wiring imports this module only where the embedded index is configured, and it costs
3 ms.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index import schema
from skillroute.core.documents.index.points import IndexPoint, PointIndex, Scored
from skillroute.core.documents.index.schema import Conditions, PointId
from skillroute.core.errors.model import IndexUnavailable

# What `optimize` builds. Searches keep as many candidates as building did, 128 (docs/adr/0018); the threshold is Edge's
# own, in kB: filters that fewer vectors pass are answered by reading those.
_GRAPH = edge.HnswIndexConfig(schema.HNSW_M, schema.HNSW_EF_CONSTRUCT, full_scan_threshold=10_000)


class EdgeIndex(PointIndex):
    """A `VectorIndex` in this process. Safe to call from several threads.

    There is no write-ahead log, for the index is a replica: what a crash loses is read from PostgreSQL again. `close`
    writes everything out. A directory belongs to one index at a time; Edge does not check that.

    Parameters
    ----------
    directory : Path
        Made if missing, one folder in it for each collection that something was written to: the others cost neither
        time nor memory. What an earlier `close` left there is opened again.
    dimension : int
        Of the dense vectors. Opening a directory of another dimension fails.

    Raises
    ------
    IndexUnavailable
        The directory cannot be made, or holds files that are damaged or of another dimension.
    """

    def __init__(self, directory: Path, dimension: int) -> None:
        super().__init__()
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(f"the embedded index cannot be written: {error}") from error
        self._directory = directory
        self._dimension = dimension
        self._making = threading.Lock()
        self._shards = {
            collection: self._opened(collection)
            for collection in collections()
            if (directory / collection.value / "edge_config.json").exists()
        }

    def close(self) -> None:
        """Write everything to disk and let go of the files. Closing twice is no error."""
        for collection, shard in self._shards.items():
            with _translated(collection):
                shard.close()

    def optimize(self) -> None:
        """Merge segments and build HNSW where a segment is large enough for it. **Blocks the whole process.**

        It holds the GIL from start to end (15 s at 40,000 points), so run it only in a process that does nothing else,
        on a directory that no other process has open; then open that directory.
        """
        for collection, shard in self._shards.items():
            with _translated(collection):
                shard.optimize()
                shard.flush()

    def _opened(self, collection: Collection) -> edge.EdgeShard:
        with _translated(collection):
            return edge.EdgeShard.load(str(self._directory / collection.value), self._config())

    def _made(self, collection: Collection) -> edge.EdgeShard:
        """Return what a collection is written to, made where there is none."""
        with self._making:
            if (shard := self._shards.get(collection)) is None:
                with _translated(collection):
                    shard = edge.EdgeShard.create(str(self._directory / collection.value), self._config())
                    for name in collection.keyword_fields:
                        shard.update(edge.UpdateOperation.create_field_index(name, edge.PayloadSchemaType.Keyword))
                    for name in collection.number_fields:
                        shard.update(edge.UpdateOperation.create_field_index(name, edge.PayloadSchemaType.Float))
                self._shards = {**self._shards, collection: shard}  # who goes through the others meanwhile sees these
            return shard

    def _config(self) -> edge.EdgeConfig:
        return edge.EdgeConfig(
            vectors={schema.DENSE: edge.EdgeVectorParams(size=self._dimension, distance=edge.Distance.Cosine)},
            sparse_vectors={schema.BM25: edge.EdgeSparseVectorParams()},  # no IDF: docs/adr/0025
            hnsw_config=_GRAPH,
            payload_memory=edge.Memory.Cached,
            max_search_threads=1,
            wal_enabled=False,
        )

    def _write(self, collection: Collection, points: Sequence[IndexPoint]) -> None:
        stored = [edge.Point(point.id, _vectors(point), point.payload) for point in points]
        shard = self._made(collection)
        with _translated(collection):
            shard.update(edge.UpdateOperation.upsert_points(stored))

    def _remove(self, collection: Collection, ids: Sequence[PointId]) -> None:
        if (shard := self._shards.get(collection)) is not None:
            with _translated(collection):
                shard.update(edge.UpdateOperation.delete_points(list(ids)))

    def _nearest(
        self,
        collection: Collection,
        query: list[float] | edge.SparseVector,
        conditions: Conditions,
        limit: int,
        above: float | None,
    ) -> list[Scored]:
        if (shard := self._shards.get(collection)) is None:
            return []
        request = _request(query, _filter(conditions), limit, above)
        with _translated(collection):
            return _scored(shard.query(request))

    def _nearest_each(
        self, collection: Collection, queries: Sequence[list[float]], conditions: Conditions, limit: int
    ) -> list[list[Scored]]:
        if (shard := self._shards.get(collection)) is None:
            return [[] for _ in queries]
        where = _filter(conditions)
        # Eight at once take half the time of eight after each other.
        batch = edge.QueryBatchRequest([_request(query, where, limit, None) for query in queries])
        with _translated(collection):
            return [_scored(found) for found in shard.query_batch(batch)]

    def _page(
        self, collection: Collection, conditions: Conditions, limit: int, start: PointId | None
    ) -> tuple[list[tuple[PointId, Mapping[str, Any]]], PointId | None]:
        if (shard := self._shards.get(collection)) is None:
            return [], None
        request = edge.ScrollRequest(
            offset=start, limit=limit, filter=_filter(conditions), with_payload=[schema.KEY_FIELD]
        )
        with _translated(collection):
            page, following = shard.scroll(request)
        return [(_id(point.id), point.payload or {}) for point in page], None if following is None else _id(following)

    def _read(
        self, collection: Collection, ids: Sequence[PointId], fields: list[str] | None
    ) -> dict[PointId, Mapping[str, Any]]:
        if (shard := self._shards.get(collection)) is None:
            return {}
        with _translated(collection):
            found = shard.retrieve(list(ids), True if fields is None else fields, False)
        return {_id(point.id): point.payload or {} for point in found}

    def _count(self, collection: Collection, conditions: Conditions) -> int:
        if (shard := self._shards.get(collection)) is None:
            return 0
        with _translated(collection):
            return shard.count(edge.CountRequest(exact=True, filter=_filter(conditions)))


@contextmanager
def _translated(collection: Collection) -> Iterator[None]:
    """Turn the engine's failures into `IndexUnavailable`.

    Edge has no exception class of its own: its errors are instances of `Exception` itself, and a panic in Rust is a
    `pyo3_runtime.PanicException`, which cannot be imported and derives from BaseException. A TypeError or ValueError
    is a wrong argument, hence a mistake of ours, and goes through.
    """
    try:
        yield
    except BaseException as error:
        if type(error) is Exception or type(error).__module__ == "pyo3_runtime":
            raise IndexUnavailable(f"the embedded index of {collection.value} failed") from error
        raise


def _request(
    query: list[float] | edge.SparseVector, where: edge.Filter | None, limit: int, above: float | None
) -> edge.QueryRequest:
    return edge.QueryRequest(
        query=edge.Query.Nearest(query, using=schema.DENSE if isinstance(query, list) else schema.BM25),
        limit=limit,
        filter=where,
        score_threshold=above,
        with_payload=False,
    )


def _scored(found: Iterable[edge.ScoredPoint]) -> list[Scored]:
    # Numbers are nearly all that is found: a call for each would be a third of this.
    return [(point_id if type(point_id := point.id) is int else _id(point_id), point.score) for point in found]


def _vectors(point: IndexPoint) -> dict[str, Any]:
    vectors = {schema.DENSE: point.dense, schema.BM25: point.sparse}
    return {name: vector for name, vector in vectors.items() if vector is not None}


def _filter(conditions: Conditions) -> edge.Filter | None:
    """Build a filter of keyword matches and ranges, the kinds that Edge answers from its index (docs/adr/0004)."""
    if not conditions:
        return None
    must: list[Any] = []
    must_not: list[Any] = []
    for name, asked in conditions:
        if isinstance(asked, schema.NoneOf):
            must_not.append(_condition(name, asked.values))
        elif isinstance(asked, schema.Alternatives):
            each: list[Any] = [edge.Filter(must=[_condition(*pair) for pair in pairs]) for pairs in asked.each]
            if asked.may_hold:
                must.append(edge.Filter(should=each))
            else:
                must_not += each
        else:
            must.append(_condition(name, asked))
    return edge.Filter(must=must, must_not=must_not)


def _condition(
    name: str, values: list[str] | schema.Range | schema.PointIds
) -> edge.FieldCondition | edge.HasIdCondition:
    if isinstance(values, schema.PointIds):
        return edge.HasIdCondition(set(values.ids))
    if isinstance(values, list):
        # One value is looked up faster by itself: of a dense search of 10,000 points, a fifth.
        match = edge.MatchValue(values[0]) if len(values) == 1 else edge.MatchAny(values)
        return edge.FieldCondition(name, match=match)
    least, most = values
    return edge.FieldCondition(
        name,
        range=edge.RangeFloat(gte=None if least is None else float(least), lte=None if most is None else float(most)),
    )


def _id(point: object) -> PointId:
    return point if isinstance(point, int) else str(point)
