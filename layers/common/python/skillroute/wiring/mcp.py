"""The Model Context Protocol over the other slices, and its routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.embedding.packaged import default_model, models_dir
from skillroute.core.settings import SearchSettings
from skillroute.wiring.messages import MessageParts
from skillroute.wiring.registry import RegistryParts
from skillroute.wiring.search import ToolSearchParts
from skillroute.wiring.skills import SkillParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.catalogue.read import ReadItems
    from skillroute.core.embedding.tokens import TokenCounter
    from skillroute.core.http.auth import Access
    from skillroute.mcp.server import McpServer
    from skillroute.mcp.tool import Tool


class McpParts(ToolSearchParts, RegistryParts, SkillParts, MessageParts):
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
    def mcp_server(self) -> McpServer:
        from skillroute.mcp.methods import Methods
        from skillroute.mcp.prompts import CataloguePrompts
        from skillroute.mcp.resources import SkillResources
        from skillroute.mcp.server import McpServer
        from skillroute.mcp.toolbox import Toolbox

        toolbox = Toolbox(
            {
                "search_tools": self._search_tools,
                "get_tool_details": self._tool_details,
                "search_servers_and_agents": self._servers_and_agents,
                "list_skills": self._list_skills,
                "search_messages": self._search_messages,
                "search_messages_product": self._search_messages_product,
            }
        )
        return McpServer(Methods(toolbox, SkillResources(self.read_skills), CataloguePrompts(self.read_items)))

    def _search_tools(self) -> Tool:
        from skillroute.mcp.summary import CatalogueSummary
        from skillroute.mcp.tools.search_tools import search_tools

        summary = CatalogueSummary(self.read_items, self.read_skills, self.count_tokens)
        return search_tools(self.tool_search, summary, self.count_tokens)

    def _tool_details(self) -> Tool:
        from skillroute.mcp.tools.tool_details import tool_details

        return tool_details(self.read_items)

    def _servers_and_agents(self) -> Tool:
        from skillroute.mcp.tools.servers_and_agents import servers_and_agents

        return servers_and_agents(self.registry_search)

    def _list_skills(self) -> Tool:
        from skillroute.mcp.tools.list_skills import list_skills

        return list_skills(self.read_skills)

    def _search_messages(self) -> Tool:
        from skillroute.mcp.tools.messages import search_messages

        return search_messages(self.message_tools)

    def _search_messages_product(self) -> Tool:
        from skillroute.mcp.tools.messages import search_messages_product

        return search_messages_product(self.message_tools)

    def mcp_routers_of(self, access: Access) -> list[APIRouter]:
        """Return the routes of the protocol."""
        from skillroute.core.http.protected_resource import ProtectedResource
        from skillroute.mcp.routes import mcp_router

        settings = self.of(SearchSettings)
        resource = (
            ProtectedResource(settings.jwt_issuer, settings.jwt_scope_prefix)
            if settings.auth == "jwt" and settings.jwt_issuer
            else None
        )
        return [mcp_router(self.mcp_server, access, resource)]

    def mcp_too_large(self) -> dict[str, bytes]:
        """Return what the path of the protocol answers to a body that is too large to be read."""
        from skillroute.mcp.routes import PATH
        from skillroute.mcp.server import TOO_LARGE

        return {PATH: TOO_LARGE}
