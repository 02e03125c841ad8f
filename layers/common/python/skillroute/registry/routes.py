"""`/api/v1/servers` and `/api/v1/agents`: the registry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import BulkJsonRoute
from skillroute.core.http.bulk_answers import DryRun
from skillroute.core.http.docs import ERRORS, NOT_FOUND
from skillroute.core.http.listing import LIST_DOC, STATES, Listing, State, StateQuery, listing_of
from skillroute.core.http.use_cases import given, require
from skillroute.core.http.versions import STALE, VERSIONED, IfMatch, tell_version
from skillroute.core.input.text_fields import Text
from skillroute.core.listing import Cursor, Listed
from skillroute.registry.answers import (
    AgentBody,
    AgentOut,
    ServerBody,
    ServerOut,
    UpsertAgentsBody,
    UpsertAgentsResponse,
    UpsertServersBody,
    UpsertServersResponse,
)
from skillroute.registry.model import Entity, EntityFilter, EntityKind, SeenOutcome
from skillroute.registry.read import Registry
from skillroute.registry.sync import SyncRegistry

ServerId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The server's id.")]
AgentId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The agent's id.")]
PathQuery = Annotated[Text | None, Query(max_length=256, description="The path, with or without its slash.")]
TagQuery = Annotated[Text | None, Query(max_length=64, description="A tag, in any case.")]
SeenQuery = Annotated[
    SeenOutcome | None, Query(description="What came of asking servers for their tools the last time.")
]
EntitySort = Literal["path", "-path", "name", "-name", "id", "-id", "updated_at", "-updated_at"]
EntityListing = Annotated[Listing, Depends(listing_of(EntitySort, "path"))]


router = APIRouter(prefix="/api/v1", tags=["registry"], route_class=BulkJsonRoute, responses=ERRORS)

AsWriter = Annotated[Caller, Depends(require(Scope.CATALOG))]
AsReader = Annotated[Caller, Depends(require(Scope.SEARCH))]
Sync = Annotated[SyncRegistry, given(SyncRegistry)]
Entities = Annotated[Registry, given(Registry)]


@router.put("/servers", summary="Create or change up to 100 servers")
def put_servers(
    body: UpsertServersBody, caller: AsWriter, sync: Sync, dry_run: DryRun = False
) -> UpsertServersResponse:
    """Write servers with their tools; each is judged on its own, whole, and the answer says what became of it.

    A server is the same one when organisation and path are. With `tools`, these become its tools: those that are
    gone are removed from the catalogue, those that are the same are left alone. Without, its tools stay.

    One call has at most 500 tools a server and 2,000 in all: the server that passes this fails with field `tools`,
    and belongs in another call.
    """
    return UpsertServersResponse.of(sync("server", body.servers, caller, dry_run=dry_run))


@router.get("/servers", response_model=list[ServerOut], summary="List servers", responses=LIST_DOC)
def list_servers(
    caller: AsReader,
    registry: Entities,
    page: EntityListing,
    path: PathQuery = None,
    tag: TagQuery = None,
    is_enabled: StateQuery = "all",
    seen_outcome: SeenQuery = None,
) -> Response:
    """Return a page of servers by path, or in another order; all conditions must hold."""
    where = replace(_filter("server", path, tag, is_enabled), seen_outcome=seen_outcome)
    found = registry.listed(where, caller, page.order, limit=page.limit, offset=page.offset)
    return page.listed(list(map(ServerOut.of, found.rows)), _cursors(found, page), found.total, found.remaining)


@router.get("/servers/{server_id}", summary="Get a server", responses=VERSIONED | NOT_FOUND)
def get_server(server_id: ServerId, caller: AsReader, registry: Entities, response: Response) -> ServerOut:
    """Return a server, enabled or not. Its tools are in `/api/v1/tools`, by `tools_server`."""
    return _server_shown(registry.get("server", server_id, caller), response)


@router.put("/servers/{server_id}", summary="Replace a server", responses=VERSIONED | NOT_FOUND | STALE)
def put_server(
    server_id: ServerId, body: ServerBody, caller: AsWriter, sync: Sync, response: Response, expected: IfMatch
) -> ServerOut:
    """Replace a server; its path stays, and without `tools` its tools do.

    What it says already changes nothing.
    """
    return _server_shown(sync.one("server", server_id, body, caller, expected), response)


@router.delete(
    "/servers/{server_id}", status_code=204, summary="Delete a server and its tools", responses=NOT_FOUND | STALE
)
def delete_server(server_id: ServerId, caller: AsWriter, registry: Entities, expected: IfMatch) -> None:
    """Delete a server, and its tools from the catalogue. Disabling it instead keeps them.

    Prompts and resources of the same `server` stay: no server was given with them.
    """
    registry.delete("server", server_id, caller, expected)


@router.post("/servers/{server_id}/enable", summary="Enable a server", responses=VERSIONED | NOT_FOUND | STALE)
def enable_server(
    server_id: ServerId, caller: AsWriter, registry: Entities, response: Response, expected: IfMatch
) -> ServerOut:
    """Let searches find a server and its tools again; without effect on one that is enabled."""
    entity = registry.set_enabled("server", server_id, caller, is_enabled=True, expected=expected)
    return _server_shown(entity, response)


@router.post("/servers/{server_id}/disable", summary="Disable a server", responses=VERSIONED | NOT_FOUND | STALE)
def disable_server(
    server_id: ServerId, caller: AsWriter, registry: Entities, response: Response, expected: IfMatch
) -> ServerOut:
    """Leave a server and its tools, prompts and resources out of all searches; registry search shows it when asked.

    They stay in the catalogue, where its items show `is_active: false`.
    """
    entity = registry.set_enabled("server", server_id, caller, is_enabled=False, expected=expected)
    return _server_shown(entity, response)


@router.put("/agents", summary="Create or change up to 100 agents")
def put_agents(body: UpsertAgentsBody, caller: AsWriter, sync: Sync, dry_run: DryRun = False) -> UpsertAgentsResponse:
    """Write agents by their cards; each is judged on its own, and the answer says what became of it.

    An agent is the same one when organisation and path are.
    """
    return UpsertAgentsResponse.of(sync("agent", body.agents, caller, dry_run=dry_run))


@router.get("/agents", response_model=list[AgentOut], summary="List agents", responses=LIST_DOC)
def list_agents(
    caller: AsReader,
    registry: Entities,
    page: EntityListing,
    path: PathQuery = None,
    tag: TagQuery = None,
    is_enabled: StateQuery = "all",
) -> Response:
    """Return a page of agents by path, or in another order; all conditions must hold."""
    where = _filter("agent", path, tag, is_enabled)
    found = registry.listed(where, caller, page.order, limit=page.limit, offset=page.offset)
    return page.listed(list(map(AgentOut.of, found.rows)), _cursors(found, page), found.total, found.remaining)


@router.get("/agents/{agent_id}", summary="Get an agent", responses=VERSIONED | NOT_FOUND)
def get_agent(agent_id: AgentId, caller: AsReader, registry: Entities, response: Response) -> AgentOut:
    """Return an agent with its card, enabled or not."""
    return _agent_shown(registry.get("agent", agent_id, caller), response)


@router.put("/agents/{agent_id}", summary="Replace an agent", responses=VERSIONED | NOT_FOUND | STALE)
def put_agent(
    agent_id: AgentId, body: AgentBody, caller: AsWriter, sync: Sync, response: Response, expected: IfMatch
) -> AgentOut:
    """Replace an agent by its card; its path stays. What is stored already changes nothing."""
    return _agent_shown(sync.one("agent", agent_id, body, caller, expected), response)


@router.delete("/agents/{agent_id}", status_code=204, summary="Delete an agent", responses=NOT_FOUND | STALE)
def delete_agent(agent_id: AgentId, caller: AsWriter, registry: Entities, expected: IfMatch) -> None:
    """Delete an agent; the next search no longer finds it."""
    registry.delete("agent", agent_id, caller, expected)


@router.post("/agents/{agent_id}/enable", summary="Enable an agent", responses=VERSIONED | NOT_FOUND | STALE)
def enable_agent(
    agent_id: AgentId, caller: AsWriter, registry: Entities, response: Response, expected: IfMatch
) -> AgentOut:
    """Let registry search find an agent again; without effect on one that is enabled."""
    entity = registry.set_enabled("agent", agent_id, caller, is_enabled=True, expected=expected)
    return _agent_shown(entity, response)


@router.post("/agents/{agent_id}/disable", summary="Disable an agent", responses=VERSIONED | NOT_FOUND | STALE)
def disable_agent(
    agent_id: AgentId, caller: AsWriter, registry: Entities, response: Response, expected: IfMatch
) -> AgentOut:
    """Leave an agent out of registry search, unless asked for."""
    entity = registry.set_enabled("agent", agent_id, caller, is_enabled=False, expected=expected)
    return _agent_shown(entity, response)


def _cursors(found: Listed[Entity], page: Listing) -> Callable[[int], Cursor]:
    def cursor(place: int) -> Cursor:
        entity = found.rows[place]
        content = entity.content
        return page.order.cursor(entity.id, path=content.path, name=content.name, updated_at=entity.updated_at)

    return cursor


def _filter(kind: EntityKind, path: str | None, tag: str | None, is_enabled: State) -> EntityFilter:
    path = None if path is None else f"/{path.removeprefix('/').rstrip('/')}"
    return EntityFilter(kind=kind, path=path, tag=tag, is_enabled=STATES[is_enabled])


def _server_shown(entity: Entity, response: Response) -> ServerOut:
    tell_version(response, entity.version)
    return ServerOut.of(entity)


def _agent_shown(entity: Entity, response: Response) -> AgentOut:
    tell_version(response, entity.version)
    return AgentOut.of(entity)
