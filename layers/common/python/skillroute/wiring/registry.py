"""The use cases over servers and agents, and their routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.settings import SearchSettings
from skillroute.wiring.reranking import RerankParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.catalogue.servers import ServersOfItems
    from skillroute.registry.read import Registry
    from skillroute.registry.search.search import RegistrySearch
    from skillroute.registry.sync import SyncRegistry


class RegistryParts(RerankParts):
    """Writing, reading, switching and searching servers and agents."""

    @cached_property
    def servers(self) -> ServersOfItems:
        from skillroute.registry.servers import RegisteredServers

        return RegisteredServers()

    @cached_property
    def sync_registry(self) -> SyncRegistry:
        from skillroute.registry.sync import SyncRegistry

        return SyncRegistry(self.writer, self.known_requests)

    @cached_property
    def registry(self) -> Registry:
        from skillroute.registry.read import Registry

        return Registry(self.database)

    @cached_property
    def registry_search(self) -> RegistrySearch:
        from skillroute.core.postgres.pool import CONNECTIONS
        from skillroute.registry.search.search import RegistrySearch

        return RegistrySearch(
            self.replica,
            self.query_embedder,
            self.database,
            default_fusion=self.of(SearchSettings).registry_fusion,
            threads=CONNECTIONS,
            reranker=self.reranker,
            rerank_timeout_s=self.of(SearchSettings).rerank_timeout_s,
        )

    def registry_routers(self) -> list[APIRouter]:
        """Return the routes over servers and agents."""
        from skillroute.registry.read import Registry
        from skillroute.registry.routes import router
        from skillroute.registry.sync import SyncRegistry

        self.use_cases |= {SyncRegistry: self.sync_registry, Registry: self.registry}
        return [router]

    def registry_search_routers(self) -> list[APIRouter]:
        """Return the routes that search servers and agents."""
        from skillroute.registry.search.routes import router
        from skillroute.registry.search.search import RegistrySearch

        self.use_cases[RegistrySearch] = self.registry_search
        return [router]
