"""The server engine: Qdrant through qdrant-client, for catalogues that outgrow a replica in every process.

`qdrant_client` takes 550 ms to import, so nothing here imports it before an index is made.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from json import JSONDecodeError
from threading import Lock
from typing import TYPE_CHECKING, Any

from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index import schema
from skillroute.core.documents.index.events import tell_mismatch
from skillroute.core.documents.index.points import IndexPoint, PointIndex, Scored
from skillroute.core.documents.index.qdrant_errors import translated
from skillroute.core.documents.index.qdrant_filter import filter_of
from skillroute.core.documents.index.schema import Conditions, PointId
from skillroute.core.errors.model import IndexUnavailable

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models
    from qdrant_edge import SparseVector

_BATCH = 256  # 8 MB of JSON at 1,536 dimensions; the server takes 32


class QdrantIndex(PointIndex):
    """A `VectorIndex` on a Qdrant server. Safe to call from several threads.

    Collections and their payload indexes are made on first use, where they are missing. BM25 vectors are computed here,
    by Edge's encoder, so that a server needs no inference service and both engines index the same words.

    Parameters
    ----------
    client : QdrantClient
        Over HTTP, or in local mode for tests. Closed together with the index.
    dimension : int
        Of the dense vectors. A collection that has another one makes every call fail.
    prefix : str
        Put before the names of the collections, for several deployments on one server.
    ef_search : int or None
        How many candidates a dense search keeps on its way through the graph, at least as many as it returns. None
        leaves it to the server, which takes what the collection was built with.
    makes_collections : bool
        Whether collections that are missing are made. Without, every call fails that needs one: an empty collection in
        the place of a full one would answer that there is nothing.
    """

    def __init__(
        self,
        client: QdrantClient,
        dimension: int,
        prefix: str = "",
        *,
        ef_search: int | None = None,
        makes_collections: bool = True,
    ) -> None:
        from qdrant_client import models  # noqa: PLC0415 - see the top of this module

        super().__init__()
        self._client = client
        self._models = models
        self._dimension = dimension
        self._prefix = prefix
        self._ef_search = ef_search
        self._makes_collections = makes_collections
        self._ready: set[Collection] = set()
        self._setup = Lock()
        self._closed = False

    @classmethod
    def connect(
        cls,
        url: str,
        api_key: str | None,
        dimension: int,
        timeout_s: float,
        *,
        prefix: str = "",
        ef_search: int | None = None,
        makes_collections: bool = True,
    ) -> QdrantIndex:
        """Make an index on the server at `url`. No connection is opened before the first call.

        Parameters
        ----------
        url : str
            With its port; without one it is Qdrant's 6333, also for https.
        timeout_s : float
            For each request. The client knows whole seconds only, so it is rounded up.
        """
        from qdrant_client import QdrantClient  # noqa: PLC0415 - see the top of this module

        # The compatibility check would open a connection in a thread at once.
        client = QdrantClient(url=url, api_key=api_key, timeout=math.ceil(timeout_s), check_compatibility=False)
        return cls(client, dimension, prefix, ef_search=ef_search, makes_collections=makes_collections)

    def close(self) -> None:
        """Let go of the connections. Closing twice is no error."""
        self._closed = True
        self._client.close()

    def exists(self) -> bool:
        """Whether all collections are there."""
        with self._translated("all"):
            return all(
                self._client.collection_exists(f"{self._prefix}{collection.value}") for collection in collections()
            )

    def drop(self) -> None:
        """Remove all collections. Those that are not there are no error."""
        with self._translated("all"):
            for collection in collections():
                self._ready.discard(collection)
                self._client.delete_collection(f"{self._prefix}{collection.value}")

    @contextmanager
    def _collection(self, collection: Collection) -> Iterator[str]:
        """Give the name of a collection that exists, and turn the client's failures into errors of the port."""
        name = f"{self._prefix}{collection.value}"
        try:
            with self._translated(name):
                if collection not in self._ready:
                    with self._setup:
                        self._set_up(collection, name)
                yield name
        except IndexUnavailable:
            # A rebuild of the data may drop a collection under a living process, so look again next time.
            self._ready.discard(collection)
            raise

    @contextmanager
    def _translated(self, name: str) -> Iterator[None]:
        from qdrant_client.common.client_exceptions import QdrantException  # noqa: PLC0415
        from qdrant_client.http.exceptions import ApiException  # noqa: PLC0415

        if self._closed:
            raise IndexUnavailable("the vector index is closed")
        try:
            yield
        except (ApiException, QdrantException, JSONDecodeError, AssertionError) as error:
            # The last two are how the client meets an answer that is no JSON (a proxy's page) or holds no result.
            raise translated(error, name) from error

    def _set_up(self, collection: Collection, name: str) -> None:
        if collection in self._ready:
            return
        if not self._client.collection_exists(name):
            if not self._makes_collections:
                raise IndexUnavailable(f"collection {name} is not on the server")
            self._create(name)
        info = self._client.get_collection(name)
        self._check(name, info.config.params)
        for field in collection.keyword_fields:
            if field not in info.payload_schema:
                self._client.create_payload_index(name, field, self._models.PayloadSchemaType.KEYWORD)
        for field in collection.number_fields:
            if field not in info.payload_schema:
                self._client.create_payload_index(name, field, self._models.PayloadSchemaType.FLOAT)
        self._ready.add(collection)

    def _check(self, name: str, params: models.CollectionParams) -> None:
        """Refuse a collection that was made for other vectors, or that weighs words by itself (docs/adr/0025)."""
        dense = params.vectors.get(schema.DENSE) if isinstance(params.vectors, dict) else None
        if dense is None or dense.size != self._dimension:
            tell_mismatch(self._dimension, None if dense is None else dense.size)
            raise IndexUnavailable(f"collection {name} holds no vectors of {self._dimension} dimensions")
        words = (params.sparse_vectors or {}).get(schema.BM25)
        if words is not None and words.modifier == self._models.Modifier.IDF:
            tell_mismatch("no modifier", "modifier idf")
            raise IndexUnavailable(
                f"collection {name} weighs words by how common they are in it (modifier idf): drop all collections of "
                "its model, and the next process that starts makes and fills them"
            )

    def _create(self, name: str) -> None:
        from qdrant_client.http.exceptions import UnexpectedResponse  # noqa: PLC0415

        m = self._models
        try:
            self._client.create_collection(
                name,
                vectors_config={schema.DENSE: m.VectorParams(size=self._dimension, distance=m.Distance.COSINE)},
                sparse_vectors_config={schema.BM25: m.SparseVectorParams()},  # no IDF: docs/adr/0025
                hnsw_config=m.HnswConfigDiff(m=schema.HNSW_M, ef_construct=schema.HNSW_EF_CONSTRUCT),
            )
        except UnexpectedResponse as error:
            # Another process was faster.
            if error.status_code != HTTPStatus.CONFLICT:
                raise

    def _write(self, collection: Collection, points: Sequence[IndexPoint]) -> None:
        stored = [
            self._models.PointStruct(id=point.id, vector=self._vectors(point), payload=point.payload)
            for point in points
        ]
        with self._collection(collection) as name:
            for start in range(0, len(stored), _BATCH):
                self._client.upsert(name, stored[start : start + _BATCH], wait=True)

    def _remove(self, collection: Collection, ids: Sequence[PointId]) -> None:
        with self._collection(collection) as name:
            self._client.delete(name, self._models.PointIdsList(points=list(ids)), wait=True)

    def _nearest(
        self,
        collection: Collection,
        query: list[float] | SparseVector,
        conditions: Conditions,
        limit: int,
        above: float | None,
    ) -> list[Scored]:
        dense = isinstance(query, list)
        with self._collection(collection) as name:
            answer = self._client.query_points(
                name,
                query=query if isinstance(query, list) else self._sparse(query),
                using=schema.DENSE if dense else schema.BM25,
                query_filter=filter_of(self._models, conditions),
                limit=limit,
                score_threshold=above,
                with_payload=False,
                search_params=self._search_params(limit) if dense else None,
            )
        return [(_id(point.id), point.score) for point in answer.points]

    def _nearest_each(
        self, collection: Collection, queries: Sequence[list[float]], conditions: Conditions, limit: int
    ) -> list[list[Scored]]:
        requests = [
            self._models.QueryRequest(
                query=query,
                using=schema.DENSE,
                filter=filter_of(self._models, conditions),
                limit=limit,
                with_payload=False,
                params=self._search_params(limit),
            )
            for query in queries
        ]
        with self._collection(collection) as name:
            answers = self._client.query_batch_points(name, requests)
        return [[(_id(point.id), point.score) for point in answer.points] for answer in answers]

    def _search_params(self, limit: int) -> models.SearchParams | None:
        return None if self._ef_search is None else self._models.SearchParams(hnsw_ef=max(self._ef_search, limit))

    def _page(
        self, collection: Collection, conditions: Conditions, limit: int, start: PointId | None
    ) -> tuple[list[tuple[PointId, Mapping[str, Any]]], PointId | None]:
        with self._collection(collection) as name:
            page, following = self._client.scroll(
                name,
                scroll_filter=filter_of(self._models, conditions),
                limit=limit,
                offset=start,
                with_payload=[schema.KEY_FIELD],
            )
        return [(_id(point.id), point.payload or {}) for point in page], None if following is None else _id(following)

    def _read(
        self, collection: Collection, ids: Sequence[PointId], fields: list[str] | None
    ) -> dict[PointId, Mapping[str, Any]]:
        with self._collection(collection) as name:
            found = self._client.retrieve(name, list(ids), with_payload=True if fields is None else fields)
        return {_id(point.id): point.payload or {} for point in found}

    def _count(self, collection: Collection, conditions: Conditions) -> int:
        with self._collection(collection) as name:
            return self._client.count(name, count_filter=filter_of(self._models, conditions), exact=True).count

    def _vectors(self, point: IndexPoint) -> dict[str, Any]:
        vectors: dict[str, Any] = {}
        if point.dense is not None:
            vectors[schema.DENSE] = point.dense
        if point.sparse is not None:
            vectors[schema.BM25] = self._sparse(point.sparse)
        return vectors

    def _sparse(self, vector: SparseVector) -> models.SparseVector:
        return self._models.SparseVector(indices=vector.indices, values=vector.values)


def _id(point: object) -> PointId:
    return point if isinstance(point, int) else str(point)
