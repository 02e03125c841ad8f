"""The Model Context Protocol over the other slices, and its routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from skillroute.core.embedding.packaged import default_model, models_dir
from skillroute.core.settings import SearchSettings
from skillroute.wiring.messages import MessageParts
from skillroute.wiring.search import ToolSearchParts
from skillroute.wiring.skills import SkillParts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import APIRouter
    from starlette.routing import Route

    from skillroute.catalogue.read import ReadItems
    from skillroute.core.caller import Caller
    from skillroute.core.embedding.tokens import TokenCounter
    from skillroute.core.http.auth import Access
    from skillroute.core.http.protected_resource import ProtectedResource
    from skillroute.mail.search.budget import Budget
    from skillroute.mcp.prompts import CataloguePrompts
    from skillroute.mcp.resources import SkillResources
    from skillroute.mcp.server import McpServer
    from skillroute.mcp.tool import Tool
    from skillroute.mcp.toolbox import Toolbox
    from skillroute.registry.search.model import RegistrySearchRequest, RegistrySearchResponse
    from skillroute.search.model import SearchRequest, SearchResponse


class McpParts(ToolSearchParts, SkillParts, MessageParts):
    """Speaking MCP with agents."""

    @cached_property
    def read_items(self) -> ReadItems:
        from skillroute.catalogue.read import ReadItems

        return ReadItems(self.database)

    @cached_property
    def count_tokens(self) -> TokenCounter:
        from skillroute.core.embedding.tokens import TokenCounter

        # Where another provider embeds, the packaged model's tokenizer is at hand all the same.
        packaged = self.settings.embedding_provider == "onnx"
        folder = self.settings.onnx_dir if packaged else models_dir() / default_model()
        return TokenCounter(folder / "tokenizer.json")

    @cached_property
    def mcp_toolbox(self) -> Toolbox:
        from skillroute.mcp.toolbox import Toolbox

        return Toolbox(
            {
                "search_tools": self._search_tools,
                "get_tool_details": self._tool_details,
                "search_servers_and_agents": self._servers_and_agents,
                "list_skills": self._list_skills,
                "search_messages": self._search_messages,
                "search_messages_product": self._search_messages_product,
            }
        )

    @cached_property
    def skill_resources(self) -> SkillResources:
        from skillroute.mcp.resources import SkillResources

        return SkillResources(self.read_skills)

    @cached_property
    def catalogue_prompts(self) -> CataloguePrompts:
        from skillroute.mcp.prompts import CataloguePrompts

        return CataloguePrompts(self.read_items)

    @cached_property
    def mcp_server(self) -> McpServer:
        from skillroute.mcp.methods import Methods
        from skillroute.mcp.server import McpServer

        return McpServer(
            Methods(self.mcp_toolbox, lambda: self.skill_resources, lambda: self.catalogue_prompts, self.work)
        )

    def make_mcp_ahead(self) -> None:
        """Make all that requests may need, where an environment starts before its first one; nothing is opened."""
        if self.settings.starts_ahead:
            self.mcp_toolbox.make_all()
            for name in ("tool_search", "registry_search", "message_tools", "skill_resources", "catalogue_prompts"):
                getattr(self, name)

    def _search_tools(self) -> Tool:
        from skillroute.mcp.remembered import RememberedSummary
        from skillroute.mcp.summary import CatalogueSummary
        from skillroute.mcp.tools.search_tools import search_tools

        summary = RememberedSummary(CatalogueSummary(self.read_items, self.read_skills, self.count_tokens), self.feed)
        return search_tools(self._find_tools, summary, self._count_in_turn)

    def _tool_details(self) -> Tool:
        from skillroute.mcp.tools.tool_details import tool_details

        return tool_details(self.read_items)

    def _servers_and_agents(self) -> Tool:
        from skillroute.mcp.tools.servers_and_agents import servers_and_agents

        return servers_and_agents(self._find_servers)

    def _list_skills(self) -> Tool:
        from skillroute.mcp.tools.list_skills import list_skills

        return list_skills(self.read_skills)

    def _search_messages(self) -> Tool:
        from skillroute.mcp.tools.messages import search_messages

        return search_messages(self._find_messages)

    def _search_messages_product(self) -> Tool:
        from skillroute.mcp.tools.messages import search_messages_product

        return search_messages_product(self._find_messages_of_product)

    def _count_in_turn(self, text: str) -> int:
        self.turns.give_way()  # to fit an answer into a budget takes as long as two searches
        return self.count_tokens(text)

    # What a tool asks is made when it is called: tools are listed before that, and none of it is needed to list them.

    def _find_tools(self, request: SearchRequest, caller: Caller) -> SearchResponse:
        return self.tool_search.search(request, caller)

    def _find_servers(self, request: RegistrySearchRequest, caller: Caller) -> RegistrySearchResponse:
        return self.registry_search(request, caller)

    def _find_messages(self, given: Mapping[str, object], caller: Caller, budget: Budget | None) -> dict[str, Any]:
        return self.message_tools.search_messages(given, caller, budget)

    def _find_messages_of_product(
        self, given: Mapping[str, object], caller: Caller, budget: Budget | None
    ) -> dict[str, Any]:
        return self.message_tools.search_messages_product(given, caller, budget)

    def mcp_routers_of(self, access: Access) -> list[APIRouter]:
        """Return the routes of the protocol, for an app that serves others too."""
        from skillroute.mcp.routes import mcp_router

        return [mcp_router(self.mcp_server, access, self._protected_resource(), self.lanes)]

    def mcp_plain_routes(self, access: Access) -> list[Route]:
        """Return the routes of the protocol, for an app that does without FastAPI."""
        from skillroute.mcp.plain_routes import plain_routes

        return plain_routes(self.mcp_server, access, self._protected_resource())

    def _protected_resource(self) -> ProtectedResource | None:
        from skillroute.core.http.protected_resource import ProtectedResource

        settings = self.of(SearchSettings)
        if settings.auth != "jwt" or not settings.jwt_issuer:
            return None
        return ProtectedResource(settings.jwt_issuer, settings.jwt_scope_prefix)

    def mcp_too_large(self) -> dict[str, bytes]:
        """Return what the path of the protocol answers to a body that is too large to be read."""
        from skillroute.mcp.plain_routes import PATH
        from skillroute.mcp.server import TOO_LARGE

        return {PATH: TOO_LARGE}
