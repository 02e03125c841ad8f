"""The same sparse vectors in an engine that counts words and in one that does not, for `lexical_weights.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import qdrant_edge as edge
from skillroute.core.documents import term_weights
from skillroute.core.documents.index.bm25 import weights_by_place

Weights = Mapping[int, float]
Sparse = edge.SparseVector


class Shards:
    """The same vectors twice: in an engine that counts words, and in one that does not."""

    def __init__(self, folder: Path) -> None:
        self._shards = {counts: self._made(folder / str(counts), counts) for counts in (True, False)}

    def write(self, points: Sequence[tuple[int, Sparse, str]]) -> None:
        stored = [edge.Point(id_, {"words": vector}, {"org": org}) for id_, vector, org in points]
        for shard in self._shards.values():
            shard.update(edge.UpdateOperation.upsert_points(stored))

    def search(self, way: str, query: Sparse, weights: Weights | None, where: edge.Filter, limit: int) -> list[int]:
        """Return ids, the best first; `weights` of the fixed ways."""
        corpus = {"everything": edge.Filter(), "caller": where}.get(way)
        if weights is not None:
            query = Sparse(query.indices, [weights[place] for place in query.indices])
        request = edge.QueryRequest(
            query=edge.Query.Nearest(query, using="words"),
            limit=limit,
            filter=where,
            with_payload=False,
            params=None if corpus is None else edge.SearchParams(idf=edge.IdfParams(corpus=corpus)),
        )
        hits = self._shards[corpus is not None].query(request)
        return [point.id for point in sorted(hits, key=lambda point: (-round(point.score, 6), point.id))]

    def close(self) -> None:
        for shard in self._shards.values():
            shard.close()

    @staticmethod
    def _made(folder: Path, counts: bool) -> edge.EdgeShard:
        folder.mkdir()
        params = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf) if counts else edge.EdgeSparseVectorParams()
        config = edge.EdgeConfig(sparse_vectors={"words": params}, payload_memory=edge.Memory.Cached, wal_enabled=False)
        shard = edge.EdgeShard.create(str(folder), config)
        shard.update(edge.UpdateOperation.create_field_index("org", edge.PayloadSchemaType.Keyword))
        return shard


class Fixed(dict[int, float]):
    """Weights by place; what is not in the table weighs what `unknown` texts of `TEXTS` make it weigh."""

    def __init__(self, counts: Mapping[str, int], unknown: float) -> None:
        super().__init__(weights_by_place(counts))
        self._unknown = term_weights.weight_of(unknown)  # type: ignore[arg-type]

    def __missing__(self, place: int) -> float:
        return self._unknown


class Unweighted(dict[int, float]):
    def __missing__(self, place: int) -> float:
        return 1.0
