"""The request and answer models of the routes over servers and agents."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from skillroute.catalogue.model import JsonObject
from skillroute.core.http.bulk_answers import Result, UpsertCounts, bare_list_of
from skillroute.core.input.shown_as import ShownAs
from skillroute.registry.model import Entity, SeenOutcome
from skillroute.registry.report import EntityOutcome
from skillroute.registry.schemas import MAX_ENTITIES
from skillroute.registry.shapes import AgentInput, ServerInput


def _servers_of(body: object) -> object:
    """Accept a bare list, and what a registry lists (its paging left aside), beside ``{"servers": [...]}``."""
    if isinstance(body, list):
        return {"servers": body}
    if isinstance(body, dict) and set(body) == {"servers", "metadata"}:
        return {"servers": body["servers"]}
    return body


# Each is checked on its own later, so that one that is wrong does not refuse the rest.
_AnyServer = Annotated[Any, ShownAs(ServerInput, "Server")]
_AnyAgent = Annotated[Any, ShownAs(AgentInput, "Agent")]


class UpsertServersRequest(BaseModel):
    """Servers to write: ``{"servers": [...]}``, a bare list, or what a registry lists."""

    model_config = ConfigDict(extra="forbid")

    servers: list[_AnyServer] = Field(max_length=MAX_ENTITIES)


class UpsertAgentsRequest(BaseModel):
    """Agents to write: ``{"agents": [...]}`` or a bare list of agent cards."""

    model_config = ConfigDict(extra="forbid")

    agents: list[_AnyAgent] = Field(max_length=MAX_ENTITIES)


UpsertServersBody = Annotated[UpsertServersRequest, BeforeValidator(_servers_of)]
UpsertAgentsBody = Annotated[UpsertAgentsRequest, bare_list_of("agents")]


ServerBody = Annotated[dict[str, Any], ShownAs(ServerInput, "ServerOfId", of_path=True)]
AgentBody = Annotated[dict[str, Any], ShownAs(AgentInput, "AgentOfId", of_path=True)]


class ToolCountsOut(BaseModel):
    """The results of a server's tools, counted."""

    created: int
    updated: int
    unchanged: int
    removed: int
    refused: int = Field(description="Of them all, those that have no vector for good: see `refusal`.")


class EntityResult(Result):
    """The result of one server or agent; a server is updated, too, when only its tools changed."""

    path: str | None
    name: str | None

    @classmethod
    def of(cls, outcome: EntityOutcome) -> EntityResult:
        """Return what the API says of an outcome."""
        return cls(**cls.shared(outcome, "entity"), path=outcome.path, name=outcome.name)


class ServerResult(EntityResult):
    """The result of one server and of its tools."""

    tools: ToolCountsOut | None = Field(description="Null where no tools were given, or the server failed.")

    @classmethod
    def of(cls, outcome: EntityOutcome) -> ServerResult:
        """Return what the API says of an outcome."""
        counts = outcome.tools
        tools = counts and ToolCountsOut(**asdict(counts))
        return cls(**cls.shared(outcome, "entity"), path=outcome.path, name=outcome.name, tools=tools)


class UpsertServersResponse(UpsertCounts):
    """The results of all servers, in the order of the request."""

    results: list[ServerResult]
    result_type: ClassVar = ServerResult


class UpsertAgentsResponse(UpsertCounts):
    """The results of all agents, in the order of the request."""

    results: list[EntityResult]
    result_type: ClassVar = EntityResult


class _EntityOut(BaseModel):
    id: int
    org_id: str | None
    path: str
    name: str
    description: str
    tags: list[str]
    is_enabled: bool
    is_embedded: bool = Field(
        description="False while it has no vector, because it waits or the model refuses its text; its words find it."
    )
    created_at: datetime
    updated_at: datetime


class ServerOut(_EntityOut):
    """An MCP server."""

    tool_count: int
    tools_server: str = Field(description="What tools that are written with it have as their `server`.")
    item_servers: list[str] = Field(
        description="What items have as their `server` in `/api/v1/tools` that means it: its path, name or title."
    )
    seen_outcome: SeenOutcome | None = Field(
        description="What came of asking it for its tools the last time; `doubted`: its list was not believed. "
        "Null: it was never asked."
    )
    seen_at: datetime | None = Field(description="When that was.")
    seen_error: str | None = Field(description="Why it is not `seen`, for callers of its own organisation.")
    server_json: JsonObject = Field(description="All of it as it came, but for its tools and whether it is enabled.")

    @classmethod
    def of(cls, entity: Entity) -> ServerOut:
        """Return what the API says of a server."""
        content = entity.content
        return cls(
            **_shared(entity),
            tool_count=entity.tool_count,
            tools_server=content.tools_server,
            item_servers=list(entity.item_servers),
            seen_outcome=entity.seen_outcome,
            seen_at=entity.seen_at,
            seen_error=entity.seen_error,
            server_json=content.document,
        )


class AgentSkillOut(BaseModel):
    """The searched fields of an agent's skill."""

    name: str
    description: str


class AgentOut(_EntityOut):
    """An A2A agent."""

    capabilities: list[str]
    skills: list[AgentSkillOut]
    agent_card: JsonObject = Field(description="All of it as it came, but for whether it is enabled.")

    @classmethod
    def of(cls, entity: Entity) -> AgentOut:
        """Return what the API says of an agent."""
        content = entity.content
        return cls(
            **_shared(entity),
            capabilities=list(content.capabilities),
            skills=[AgentSkillOut(name=skill.name, description=skill.description) for skill in content.skills],
            agent_card=content.document,
        )


def _shared(entity: Entity) -> dict[str, Any]:
    content = entity.content
    return {
        "id": entity.id,
        "org_id": entity.org_id,
        "path": content.path,
        "name": content.name,
        "description": content.description,
        "tags": list(content.tags),
        "is_enabled": entity.is_enabled,
        "is_embedded": entity.is_embedded,
        "created_at": entity.created_at,
        "updated_at": entity.updated_at,
    }
