"""Which ranking a search has: what it asks for, or what is left where a model fails (decisions 8 and 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.visibility import visible_to
from skillroute.core.embedding.model import Vector
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import DependencyUnavailable, EmbeddingUnavailable, IndexUnavailable
from skillroute.core.reranking.port import Reranker, no_reranker
from skillroute.search import plan
from skillroute.search.answer.explanation import UsedWith
from skillroute.search.candidates.candidate import Found
from skillroute.search.candidates.retrieve import LexicalRanking, Ranking, SemanticRanking
from skillroute.search.learned import Learned, LearnedRequests
from skillroute.search.ranking.hybrid import HybridRanking
from skillroute.search.ranking.rerank import RerankStage
from skillroute.search.run import ToolSearchRun

MAX_USED_WITH = 3
"""Tools that are named with a result."""


@dataclass(frozen=True, slots=True)
class Rankings:
    """Makes the ranking of each search.

    Attributes
    ----------
    embedder : QueryEmbedder
    reranker : Reranker or None
        Without one `hybrid_rerank` is served as `hybrid`.
    rerank_timeout_s : float
        The most that a search waits for the reranker.
    learned : Learned, optional
    """

    embedder: QueryEmbedder
    reranker: Reranker | None
    rerank_timeout_s: float
    learned: Learned | None = None

    def choose(
        self, run: ToolSearchRun, index: LentIndex, query: str, wanted: plan.RankBy, everything: IndexFilter
    ) -> Ranking:
        """Embed the query, once for all stages, and return its ranking; without the model, by words (decision 9)."""
        run.search_mode = wanted
        if wanted == "lexical":
            return LexicalRanking(index, query, everything)
        run.language_unknown_to_model = run.language is not None and index.model.knows_english_only
        try:
            with run.watch.stage("query_embedding"):
                vector, clauses = self._embed(run, index, plan.texts_to_embed(wanted, query))
        except EmbeddingUnavailable as error:
            run.search_mode = "lexical-only"
            run.degrade("embedding_unavailable", error)
            return LexicalRanking(index, query, everything)
        run.model, run.vector = index.model, vector
        if wanted == "semantic":
            return SemanticRanking(index, vector)
        seen, rerank = plan.skills_where(run.caller), self._rerank(run, index, query)
        learned = self._learned(run, index)
        return HybridRanking(index, query, vector, clauses, everything, seen, rerank, learned)

    def _embed(self, run: ToolSearchRun, index: LentIndex, texts: list[str]) -> tuple[Vector, dict[str, Vector]]:
        """Embed the query and its clauses in one call; where that fails, the query alone, which may be remembered."""
        query, *parts = texts
        try:
            vector, *of_parts = self.embedder.embed_all(texts, index.model)
        except EmbeddingUnavailable as error:
            if not parts:
                raise
            vector = self.embedder.embed(query, index.model)
            run.degrade("embedding_unavailable", error)
            return vector, {}
        return vector, dict(zip(parts, of_parts, strict=True))

    def _learned(self, run: ToolSearchRun, index: LentIndex) -> LearnedRequests | None:
        if self.learned is None:
            return None
        try:
            return self.learned.of(run.caller, index.model)
        except DependencyUnavailable as error:
            if "learned_unavailable" not in run.degraded:  # it is asked for twice where a search names `used_with`
                run.degrade("learned_unavailable", error)
            return None

    def used_with(self, run: ToolSearchRun, index: LentIndex, found: Found) -> Found:
        """Return what was found with the tools that are used with each result, of those that the caller may see."""
        try:
            learned = self._learned(run, index)
            keys = [hit.candidate.key for hit in found.hits]
            pairs = {key: () if learned is None else learned.used_with(key) for key in keys}
            others = sorted({other for of_tool in pairs.values() for other, _ in of_tool})
            if others and run.caller.rights.are_limited:
                others = index.match(
                    TOOL_DOCUMENTS, where=replace(plan.tools_where(run.caller), keys=others), limit=len(others)
                )
            payloads = index.payloads(TOOL_DOCUMENTS, others) if others else {}
        except IndexUnavailable as error:
            run.degrade("learned_unavailable", error)
            return replace(found, used_with=[[] for _ in found.hits])
        visible = visible_to(run.caller).any_of["org_id"]
        seen = {key: payload for key, payload in payloads.items() if payload["org_id"] in visible}
        together = [
            [_used_with(other, seen[other], tasks) for other, tasks in pairs[key] if other in seen][:MAX_USED_WITH]
            for key in keys
        ]
        return replace(found, used_with=together)

    def _rerank(self, run: ToolSearchRun, index: LentIndex, query: str) -> RerankStage | None:
        if run.search_mode != "hybrid_rerank":
            return None
        if self.reranker is None:
            run.search_mode = "hybrid"
            run.degrade("reranker_unavailable", no_reranker())
            return None
        return RerankStage(run, index, self.reranker, query, self.rerank_timeout_s)


def _used_with(key: str, payload: Mapping[str, Any], tasks: int) -> UsedWith:
    server = payload["server"] or None
    return UsedWith(tool_id=payload["db_id"], id=key, name=payload["name"], server=server, searches=tasks)
