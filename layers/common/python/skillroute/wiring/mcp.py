"""The Model Context Protocol over the other slices, and its routes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

from skillroute.core.embedding.packaged import default_model, models_dir
from skillroute.core.http.auth import Access
from skillroute.core.http.protected_resource import ProtectedResource
from skillroute.core.settings import CallSettings, WebSettings
from skillroute.core.settings.calling import OFFERED, Offered
from skillroute.mcp.methods import Methods
from skillroute.mcp.plain_routes import PATH, plain_routes
from skillroute.mcp.server import TOO_LARGE, McpServer
from skillroute.mcp.toolbox import Toolbox

if TYPE_CHECKING:
    from fastapi import APIRouter
    from starlette.routing import Route

    from skillroute.agent_skills.search.model import AgentSkillSearchRequest, AgentSkillSearchResponse
    from skillroute.agent_skills.served import ServedAgentSkills
    from skillroute.catalogue.read import ReadItems
    from skillroute.core.caller import Caller
    from skillroute.core.embedding.tokens import TokenCounter
    from skillroute.mail.read import Mail
    from skillroute.mcp.elsewhere import ToolsElsewhere
    from skillroute.mcp.prompts import CataloguePrompts
    from skillroute.mcp.remembered import Remembered
    from skillroute.mcp.resources import Resources
    from skillroute.mcp.tool import Tool
    from skillroute.skills.read import ReadSkills
    from skillroute.wiring.use_cases import Parts


class Mcp:
    """Speaking MCP with agents. All but the server is made when a request needs it: the first is a handshake."""

    too_large: ClassVar[dict[str, bytes]] = {PATH: TOO_LARGE}
    """The answer of the protocol's path to a body that is too large to be read."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    @cached_property
    def server(self) -> McpServer:
        return McpServer(
            Methods(
                self.toolbox,
                lambda: self.resources,
                lambda: self.prompts,
                self._parts.work,
                lambda caller: self.summary(caller),
                None if self._calls_offered == "off" else lambda key: self._parts.calling.calls.cancel(key),
            )
        )

    @cached_property
    def toolbox(self) -> Toolbox:
        return Toolbox(
            {
                "search_tools": self._search_tools,
                "get_tool_details": self._tool_details,
                **self._calling_tools(),
                "search_servers_and_agents": self._servers_and_agents,
                "list_tool_groups": self._list_tool_groups,
                "search_skills": self._search_skills,
                "search_messages": self._search_messages,
                "search_messages_product": self._search_messages_product,
                "read_message": self._read_message,
                "list_skills": self._list_skills,
            },
            {
                "search_skills": "skills",
                **dict.fromkeys(("search_messages", "search_messages_product", "read_message"), "mail"),
            },
            lambda group, caller: (self.has_mail if group == "mail" else self.has_agent_skills)(caller),
            lambda name, caller: self.elsewhere(name, caller),
            deprecated=frozenset({"list_skills"}),
        )

    @cached_property
    def elsewhere(self) -> ToolsElsewhere:
        from skillroute.mcp.elsewhere import ToolsElsewhere

        return ToolsElsewhere(self.read_items, self._called_by)

    @cached_property
    def read_mail(self) -> Mail:
        from skillroute.mail.read import Mail

        return Mail(self._parts.database)

    @cached_property
    def has_mail(self) -> Remembered[bool]:
        from skillroute.mail.collection import MAIL_DOCUMENTS
        from skillroute.mcp.remembered import Remembered

        # What a caller sees of mail depends on its agent, and on whether it is an operator.
        return Remembered(
            self.read_mail.has_any,
            self._parts.feed,
            frozenset({MAIL_DOCUMENTS}),
            lambda caller: (caller.org_id, caller.is_operator, caller.agent),
        )

    @cached_property
    def has_agent_skills(self) -> Remembered[bool]:
        from skillroute.agent_skills.collection import AGENT_SKILL_DOCUMENTS
        from skillroute.mcp.remembered import Remembered

        return Remembered(self.agent_skills.has_any, self._parts.feed, frozenset({AGENT_SKILL_DOCUMENTS}))

    @cached_property
    def summary(self) -> Remembered[str]:
        from skillroute.catalogue.collection import TOOL_DOCUMENTS
        from skillroute.mcp.remembered import Remembered
        from skillroute.mcp.summary import CatalogueSummary
        from skillroute.skills.collection import SKILL_DOCUMENTS

        summary = CatalogueSummary(self.read_items, self.read_skills, self.count_tokens)
        return Remembered(summary, self._parts.feed, frozenset({TOOL_DOCUMENTS, SKILL_DOCUMENTS}))

    @cached_property
    def resources(self) -> Resources:
        from skillroute.mcp.agent_skills import AgentSkillResources
        from skillroute.mcp.resources import Resources
        from skillroute.mcp.tool_groups import ToolGroups

        return Resources(ToolGroups(self.read_skills), AgentSkillResources(self.agent_skills))

    @cached_property
    def agent_skills(self) -> ServedAgentSkills:
        from skillroute.agent_skills.served import ServedAgentSkills

        return ServedAgentSkills(self._parts.database)

    @cached_property
    def prompts(self) -> CataloguePrompts:
        from skillroute.mcp.prompts import CataloguePrompts

        return CataloguePrompts(self.read_items)

    @cached_property
    def read_items(self) -> ReadItems:
        from skillroute.catalogue.read import ReadItems

        return ReadItems(self._parts.database)

    @cached_property
    def read_skills(self) -> ReadSkills:
        from skillroute.skills.read import ReadSkills

        return ReadSkills(self._parts.database)

    @cached_property
    def count_tokens(self) -> TokenCounter:
        from skillroute.core.embedding.tokens import TokenCounter

        # Where another provider embeds, the packaged model's tokenizer is at hand all the same.
        settings = self._parts.settings
        folder = settings.onnx_dir if settings.embedding_provider == "onnx" else models_dir() / default_model()
        return TokenCounter(folder / "tokenizer.json")

    def make_ahead(self) -> None:
        """Make all that requests may need, where an environment starts before its first one; nothing is opened."""
        parts = self._parts
        if parts.settings.starts_ahead:
            self.toolbox.make_all()
            _ = (
                parts.tool_search,
                parts.registry_search,
                parts.messages,
                parts.agent_skill_search,
                self.resources,
                self.prompts,
            )

    # What a tool asks is made when it is called: tools are listed before that, and none of it is needed to list them.

    def _search_tools(self) -> Tool:
        from skillroute.mcp.tools.search_tools import search_tools

        return search_tools(
            lambda request, caller: self._parts.tool_search.search(request, caller, door="mcp"),
            self.summary,
            self._count_in_turn,
            self._find_skills,
            **({"how": f"By {self._called_by} with the id."} if self._called_by else {}),
        )

    @property
    def _calls_offered(self) -> Offered:
        return self._parts.of(CallSettings).calls

    @cached_property
    def _called_by(self) -> str:
        """The names of the tools that call others; empty where there are none."""
        return " or ".join(OFFERED[self._calls_offered])

    def _calling_tools(self) -> dict[str, Callable[[], Tool]]:
        """Return what makes the tools that call others: what stands behind them is made with the first call."""
        return {name: partial(self._calling_tool, name) for name in OFFERED[self._calls_offered]}

    def _calling_tool(self, name: str) -> Tool:
        from skillroute.mcp.tools.call_tool import call_tool

        return call_tool(name, lambda *asked: self._parts.calling.calls(*asked))

    def _tool_details(self) -> Tool:
        from skillroute.mcp.tools.tool_details import tool_details

        return tool_details(self.read_items)

    def _servers_and_agents(self) -> Tool:
        from skillroute.mcp.tools.servers_and_agents import servers_and_agents

        return servers_and_agents(lambda request, caller: self._parts.registry_search(request, caller))

    def _list_tool_groups(self) -> Tool:
        from skillroute.mcp.tools.list_tool_groups import list_tool_groups

        return list_tool_groups(self.read_skills)

    def _list_skills(self) -> Tool:
        from skillroute.mcp.tools.list_tool_groups import list_skills

        return list_skills(self.read_skills)

    def _search_skills(self) -> Tool:
        from skillroute.mcp.tools.search_skills import search_skills

        return search_skills(self._find_skills)

    def _find_skills(self, request: AgentSkillSearchRequest, caller: Caller) -> AgentSkillSearchResponse:
        return self._parts.agent_skill_search(request, caller, is_served=True)

    def _search_messages(self) -> Tool:
        from skillroute.mcp.tools.messages import search_messages

        return search_messages(lambda *asked: self._parts.messages.tools.search_messages(*asked))

    def _search_messages_product(self) -> Tool:
        from skillroute.mcp.tools.messages import search_messages_product

        return search_messages_product(lambda *asked: self._parts.messages.tools.search_messages_product(*asked))

    def _read_message(self) -> Tool:
        from skillroute.mcp.tools.read_message import read_message

        return read_message(lambda: self.read_mail, self._count_in_turn)

    def _count_in_turn(self, text: str) -> int:
        self._parts.turns.give_way()  # to fit an answer into a budget takes as long as two searches
        return self.count_tokens(text)

    def router(self) -> APIRouter:
        """Return the routes of the protocol, for an app that serves others too."""
        from skillroute.mcp.routes import mcp_router

        return mcp_router(self.server, self._parts.access, self._protected_resource(), self._parts.lanes)

    def plain_routes(self, access: Access) -> list[Route]:
        """Return the routes of the protocol, for an app that does without FastAPI."""
        return plain_routes(self.server, access, self._protected_resource())

    def _protected_resource(self) -> ProtectedResource | None:
        settings = self._parts.of(WebSettings)
        if settings.auth != "jwt" or not settings.jwt_issuer:
            return None
        return ProtectedResource(settings.jwt_issuer, settings.jwt_scope_prefix)
