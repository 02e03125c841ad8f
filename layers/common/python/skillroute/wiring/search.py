"""The searches for tools and skills, and for servers and agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillroute.core.documents.index.giving_way import LentInTurn
from skillroute.core.settings import RankingSettings, RerankSettings, SearchSettings
from skillroute.wiring.parts import CoreParts

if TYPE_CHECKING:
    from skillroute.core.embedding.query import QueryEmbedder
    from skillroute.core.recent_searches import RecentSearches
    from skillroute.registry.search.search import RegistrySearch
    from skillroute.search.batch.search import BatchSearch
    from skillroute.search.learned import Learned
    from skillroute.search.receipts import KeepsReceipts
    from skillroute.search.search import ToolSearch


# Each imports what it makes itself: an agent's first call waits for one of them only.


def make_tool_search(
    core: CoreParts,
    recent: RecentSearches,
    receipts: KeepsReceipts | None,
    learned: Learned | None = None,
    embedder: QueryEmbedder | None = None,
) -> ToolSearch:
    """Return the search for tools and skills; an embedder takes the place of the process's own.

    A process whose settings know no reranker, such as that which learns, serves `hybrid_rerank` as hybrid.
    """
    from skillroute.search.answer.schemas import SchemaLoader
    from skillroute.search.candidates.unembedded import MissingVectors
    from skillroute.search.search import ToolSearch

    settings = core.of(RankingSettings)
    reranking = settings if isinstance(settings, RerankSettings) else None
    return ToolSearch(
        LentInTurn(core.replica, core.turns),
        embedder or core.query_embedder,
        SchemaLoader(core.database),
        MissingVectors(core.database),
        default_ranking=settings.default_mode,
        hybrid_skill_weight=settings.hybrid_skill_weight,
        no_match_below=settings.no_match_below,
        reranker=core.reranker if reranking else None,
        rerank_timeout_s=reranking.rerank_timeout_s if reranking else 0.0,
        recent=recent,
        learned=learned,
        receipts=receipts,
        give_way=core.turns.give_way,
    )


def make_batch_search(core: CoreParts, tool_search: ToolSearch) -> BatchSearch:
    """Return the search with many requests at once."""
    from skillroute.search.batch.search import BatchSearch

    turns = core.turns if core.settings.embedding_provider == "onnx" else None
    return BatchSearch(tool_search, LentInTurn(core.replica, core.turns), turns=turns)


def make_registry_search(core: CoreParts) -> RegistrySearch:
    """Return the search for servers and agents."""
    from skillroute.core.postgres.pool import CONNECTIONS
    from skillroute.registry.search.search import RegistrySearch

    settings = core.of(SearchSettings)
    return RegistrySearch(
        core.replica,
        core.query_embedder,
        core.database,
        default_fusion=settings.registry_fusion,
        threads=CONNECTIONS,
        reranker=core.reranker,
        rerank_timeout_s=settings.rerank_timeout_s,
    )
