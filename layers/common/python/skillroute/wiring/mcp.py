"""The Model Context Protocol over the other slices, and its routes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.core.embedding.packaged import default_model, models_dir
from skillroute.core.settings import SearchSettings
from skillroute.wiring.messages import MessageParts
from skillroute.wiring.registry import RegistryParts
from skillroute.wiring.search import ToolSearchParts

if TYPE_CHECKING:
    from fastapi import APIRouter

    from skillroute.core.embedding.tokens import TokenCounter
    from skillroute.core.http.auth import Access
    from skillroute.mcp.server import McpServer


class McpParts(ToolSearchParts, RegistryParts, MessageParts):
    """Speaking MCP with agents."""

    @cached_property
    def count_tokens(self) -> TokenCounter:
        from skillroute.core.embedding.tokens import TokenCounter

        # Where another provider embeds, the packaged model's tokenizer is at hand all the same.
        packaged = self.settings.embedding_provider == "onnx"
        folder = self.settings.onnx_dir if packaged else models_dir() / default_model()
        return TokenCounter(folder / "tokenizer.json")

    @cached_property
    def mcp_server(self) -> McpServer:
        from skillroute.catalogue.read import ReadItems
        from skillroute.mcp.methods import Methods
        from skillroute.mcp.prompts import CataloguePrompts
        from skillroute.mcp.resources import SkillResources
        from skillroute.mcp.server import McpServer
        from skillroute.mcp.summary import CatalogueSummary
        from skillroute.mcp.toolbox import Toolbox
        from skillroute.mcp.tools.list_skills import list_skills
        from skillroute.mcp.tools.messages import message_tools
        from skillroute.mcp.tools.search_tools import search_tools
        from skillroute.mcp.tools.servers_and_agents import servers_and_agents
        from skillroute.mcp.tools.tool_details import tool_details
        from skillroute.skills.read import ReadSkills

        items, skills = ReadItems(self.database), ReadSkills(self.database)
        toolbox = Toolbox(
            [
                search_tools(self.tool_search, CatalogueSummary(items, skills, self.count_tokens), self.count_tokens),
                tool_details(items),
                servers_and_agents(self.registry_search),
                list_skills(skills),
                *message_tools(self.message_tools),
            ]
        )
        return McpServer(Methods(toolbox, SkillResources(skills), CataloguePrompts(items)))

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
        from skillroute.mcp.routes import PATH, TOO_LARGE

        return {PATH: TOO_LARGE}
