"""Tool search and its routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.settings import SearchSettings
from skillroute.wiring.reranking import RerankParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.core.recent_searches import RecentSearches
    from skillroute.search.batch.search import BatchSearch
    from skillroute.search.search import ToolSearch


class ToolSearchParts(RerankParts):
    """Searching tools and skills."""

    @cached_property
    def recent_searches(self) -> RecentSearches:
        from skillroute.core.recent_searches import RecentSearches

        return RecentSearches()

    @cached_property
    def tool_search(self) -> ToolSearch:
        from skillroute.core.documents.index.giving_way import LentInTurn
        from skillroute.search.answer.schemas import SchemaLoader
        from skillroute.search.candidates.unembedded import MissingVectors
        from skillroute.search.search import ToolSearch

        settings = self.of(SearchSettings)
        return ToolSearch(
            LentInTurn(self.replica, self.turns),
            self.query_embedder,
            SchemaLoader(self.database),
            MissingVectors(self.database),
            default_ranking=settings.default_mode,
            hybrid_skill_weight=settings.hybrid_skill_weight,
            no_match_below=settings.no_match_below,
            reranker=self.reranker,
            rerank_timeout_s=settings.rerank_timeout_s,
            recent=self.recent_searches,
            give_way=self.turns.give_way,
        )

    @cached_property
    def batch_search(self) -> BatchSearch:
        from skillroute.core.documents.index.giving_way import LentInTurn
        from skillroute.search.batch.search import BatchSearch

        lent = LentInTurn(self.replica, self.turns)
        turns = self.turns if self.settings.embedding_provider == "onnx" else None
        return BatchSearch(self.tool_search, lent, turns=turns)

    def tool_search_routers(self) -> list[APIRouter]:
        """Return the routes that search tools and skills."""
        from skillroute.search import routes
        from skillroute.search.batch import routes as batch
        from skillroute.search.batch.search import BatchSearch
        from skillroute.search.search import ToolSearch

        self.use_cases |= {
            ToolSearch: self.tool_search,
            BatchSearch: self.batch_search,
            batch.SearchBatches: batch.SearchBatches(),
        }
        return [routes.router, batch.router]
