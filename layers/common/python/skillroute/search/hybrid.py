"""Mode `hybrid`: candidates by meaning and by words, ranked by how likely they are right (docs/adr/0038)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.model import Collection, IndexFilter
from skillroute.core.embedding.model import Vector
from skillroute.core.learned_fusion import Evidence, FusedRequest, fusion_for
from skillroute.search.plan import CANDIDATE_POOL
from skillroute.search.retrieve import Candidate, LexicalRanking, SemanticRanking, by_rank, named_first


class HybridRanking:
    """By the probability that learned fusion gives; a tool that is named exactly comes first (decision 11).

    Skills are matched by meaning, and those of a tool that the query names match as well.
    """

    def __init__(self, index: LentIndex, vector: Vector, query: str) -> None:
        self._index = index
        self._vector = vector
        self._query = query
        self._by_meaning = SemanticRanking(index, vector)
        self._by_words = LexicalRanking(index, query)

    def skills(self, where: IndexFilter, *, limit: int, threshold: float) -> list[Candidate]:
        keys = set(self._by_words.skills_of_named_tools(where))
        near = [c for c in self._by_meaning.skills(where, limit=limit, threshold=threshold) if c.key not in keys]
        # A word such as "search" names tools in many skills: they leave the nearest skill its place.
        most = max(1, limit - 1) if near else limit
        return [*by_rank(Candidate(key, 1.0, None, True) for key in keys)[:most], *near][:limit]

    def tools(self, *wheres: IndexFilter, limit: int, threshold: float) -> list[Candidate]:
        """Return what is near or shares a word; `threshold` is the least cosine of what the query does not name.

        The threshold cuts and changes no score: all candidates are scored side by side before it.
        """
        pool = max(limit, CANDIDATE_POOL)
        cosines = {c.key: c.score for c in self._by_meaning.tools(*wheres, limit=pool, threshold=0.0)}
        words = {
            hit.key: hit.score
            for where in wheres
            for hit in self._index.search_text(Collection.TOOLS, self._query, where=where, limit=pool)
        }
        named = {key for where in wheres for key in self._by_words.named_tools(where)}
        # What only one of the two found is scored by the other as well: a guess in its place would be part of the rank.
        cosines |= self._cosines(sorted({*words, *named} - cosines.keys()))
        words |= self._bm25(sorted(cosines.keys() - words.keys()))
        ranked = self._ranked(sorted({*cosines, *words, *named}), cosines, words, named)
        return [c for c in ranked if c.is_named or (c.similarity or 0.0) >= threshold]

    def _ranked(
        self, keys: Sequence[str], cosines: Mapping[str, float], words: Mapping[str, float], named: set[str]
    ) -> list[Candidate]:
        from skillroute.core.documents.index.bm25 import Bm25Encoder  # noqa: PLC0415 - the index has loaded it

        vector = Bm25Encoder().query(self._query)
        request = FusedRequest(len(self._query.split()), sum(vector.values) if vector else 0.0)
        evidence = [Evidence(cosines.get(key, 0.0), words.get(key, 0.0)) for key in keys]
        fusion = fusion_for(__package__, self._index.model.name)
        return named_first(
            Candidate(key, probability, cosines.get(key), key in named)
            for key, probability in zip(keys, fusion.probabilities(request, evidence), strict=True)
        )

    def _cosines(self, keys: Sequence[str]) -> dict[str, float]:
        hits = self._index.search(Collection.TOOLS, self._vector, where=IndexFilter(keys=keys), limit=len(keys))
        return {hit.key: min(1.0, max(0.0, hit.score)) for hit in hits}

    def _bm25(self, keys: Sequence[str]) -> dict[str, float]:
        hits = self._index.search_text(Collection.TOOLS, self._query, where=IndexFilter(keys=keys), limit=len(keys))
        return {hit.key: hit.score for hit in hits}
