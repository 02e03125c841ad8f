"""`search_servers_and_agents`: who offers something, rather than what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from skillroute.core.caller import Caller
from skillroute.core.input.json_schema import INTEGER, NUMBER, STRING, described, list_of, object_of
from skillroute.mcp.arguments import Arguments, input_schema, parsed
from skillroute.mcp.fit import Json
from skillroute.mcp.shown import brief
from skillroute.mcp.tool import Asked, Tool
from skillroute.registry.search.model import (
    AgentMatch,
    EntityType,
    RegistryQuery,
    RegistrySearchRequest,
    RegistrySearchResponse,
    ServerMatch,
)

_DESCRIPTION = """\
Find MCP servers to connect to, and A2A agents to hand a task to, by what they can do or by name. Call it when a whole \
service is needed, or another agent; for a single tool call search_tools."""

_CHARS = 300  # of a description
_TOOLS = 10  # a server's, by name
_SKILLS = 20  # an agent's
_URL_CHARS = 500

_SERVER = object_of(
    {
        "id": INTEGER,
        "path": STRING,
        "name": STRING,
        "description": STRING,
        "score": NUMBER,
        "tool_count": INTEGER,
        "tools": list_of(STRING, "Names of those that fit."),
    }
)
_AGENT = object_of(
    {
        "id": INTEGER,
        "path": STRING,
        "name": STRING,
        "description": STRING,
        "score": NUMBER,
        "skills": list_of(STRING),
        "url": described(STRING, "Where it answers."),
    },
    *("id", "path", "name", "description", "score", "skills"),
)
_OUTPUT = object_of(
    {"servers": list_of(_SERVER), "agents": list_of(_AGENT), "degraded": list_of(STRING, "What failed on the way.")},
    "servers",
    "agents",
)
_TYPES: dict[str | None, list[EntityType]] = {
    None: ["mcp_server", "a2a_agent"],
    "server": ["mcp_server"],
    "agent": ["a2a_agent"],
}


Search = Callable[[RegistrySearchRequest, Caller], RegistrySearchResponse]


class ServersAndAgentsArguments(Arguments):
    """The arguments of `search_servers_and_agents`."""

    query: Annotated[RegistryQuery, Field(description="What it should be able to do, or its name.")]
    limit: int = Field(3, ge=1, le=20, description="How many of each at most.")
    kind: Literal["server", "agent"] | None = Field(None, description="Only these.")


def servers_and_agents(search: Search) -> Tool:
    """Return the tool over a registry search."""

    def call(arguments: Mapping[str, Any], asked: Asked) -> Json:
        given = parsed(ServersAndAgentsArguments, arguments)
        request = RegistrySearchRequest(
            query=given.query, entity_types=list(_TYPES[given.kind]), max_results=given.limit
        )
        return _answer(search(request, asked.caller))

    return Tool(
        "search_servers_and_agents",
        "Search servers and agents",
        _DESCRIPTION,
        input_schema(ServersAndAgentsArguments),
        _OUTPUT,
        call,
        hint="MCP servers and A2A agents for a task",
    )


def _answer(found: RegistrySearchResponse) -> Json:
    degraded = found.metadata.degraded
    return {
        "servers": [_server(server) for server in found.servers],
        "agents": [_agent(agent) for agent in found.agents],
        **({"degraded": list(degraded)} if degraded else {}),
    }


def _server(found: ServerMatch) -> Json:
    return {
        "id": found.id,
        "path": found.path,
        "name": found.server_name,
        "description": brief(found.description, _CHARS),
        "score": round(found.relevance_score, 2),
        "tool_count": found.num_tools,
        "tools": [tool.tool_name for tool in found.matching_tools[:_TOOLS]],
    }


def _address(card: Mapping[str, Any]) -> object:
    """Return where an agent is reached: cards of A2A 1.0 list interfaces instead of an address, the best one first."""
    if card.get("url"):
        return card["url"]
    interfaces = card.get("supportedInterfaces") or card.get("additionalInterfaces")
    first = interfaces[0] if isinstance(interfaces, list) and interfaces else None
    return first.get("url") if isinstance(first, dict) else None


def _agent(found: AgentMatch) -> Json:
    url = _address(found.agent_card or {})
    return {
        "id": found.id,
        "path": found.path,
        "name": found.agent_name,
        "description": brief(found.description, _CHARS),
        "score": round(found.relevance_score, 2),
        "skills": [brief(skill, _CHARS) for skill in found.skills[:_SKILLS]],
        **({"url": url} if isinstance(url, str) and len(url) <= _URL_CHARS else {}),
    }
