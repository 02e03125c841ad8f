"""Tools, and the servers and agents of the registry."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Unpack

import httpx
from pydantic import TypeAdapter

from skillroute_client.calls import (
    Body,
    Call,
    Calls,
    answer_of,
    conditional,
    given,
    nothing,
    one,
    path_of,
    plain,
    plain_list,
)
from skillroute_client.engines import M
from skillroute_client.models.catalogue import Agent, Deleted, Server, Tool
from skillroute_client.models.identity import Login, LoginStarted, ServerIdentity
from skillroute_client.models.skills import ToolSkill, ToolSkills
from skillroute_client.models.written import Written
from skillroute_client.operations import Resource, operation, paged
from skillroute_client.pages import Listing
from skillroute_client.resources.options import (
    IdentitySettings,
    ItemType,
    ListEntities,
    ListServers,
    ListTools,
    PageOptions,
)
from skillroute_client.retrying import Repeat

_TOOL_SKILLS = TypeAdapter(list[ToolSkill])


class Tools(Resource[M]):
    """Tools, prompts and resources."""

    @operation
    def put(self, tools: Iterable[Body], *, dry_run: bool | None = None, approve: bool | None = None) -> Call[Written]:
        """Create or change up to 500 tools, each judged on its own: look at `failures` of what comes back.

        A tool is the same one when server, type and name are. A dry run only says what would become of each. With
        `approve` their definitions are approved as they are written.
        """
        return _put_many("tools", "items", tools, dry_run, approve)

    @paged
    def list(self, **where: Unpack[ListTools]) -> Listing[Tool]:
        """List tools; all conditions must hold."""
        return Listing(path_of("tools"), Tool, where)

    @operation
    def get(self, tool_id: int) -> Call[Tool]:
        """Return a tool."""
        return Call(method="GET", path=path_of("tools", tool_id), read=one(Tool))

    @operation
    def put_one(
        self, tool_id: int, tool: Body, *, if_match: str | None = None, approve: bool | None = None
    ) -> Call[Tool]:
        """Write a tool over, and approve its definition if asked to. What `get` returned can be put back."""
        path, params, given_ = path_of("tools", tool_id), given({"approve": approve}), conditional(if_match)
        return Call(method="PUT", path=path, params=params, body=plain(tool), read=one(Tool), **given_)

    @operation
    def set_requests(self, tool_id: int, requests: Iterable[str | Body]) -> Calls[Tool]:
        """Write the requests that a tool serves, eight at most, instead of those that it has; none take them away.

        A text alone is written as a person's. The rest of the tool stays: where somebody writes it between the two
        calls of this one, that is `VersionConflict`.
        """
        path = path_of("tools", tool_id)
        tool = yield from answer_of(Call(method="GET", path=path, read=one(Tool)))
        given_ = [{"text": of, "source": "person"} if isinstance(of, str) else plain(of) for of in requests]
        body = {**plain(tool), "requests": given_}
        return (
            yield from answer_of(Call(method="PUT", path=path, body=body, read=one(Tool), **conditional(tool.etag)))
        )

    @operation
    def patch(self, tool_id: int, *, is_active: bool | None = None, if_match: str | None = None) -> Call[Tool]:
        """Switch a tool off or on: one that is off is listed, and no search finds it."""
        path, body = path_of("tools", tool_id), given({"is_active": is_active})
        return Call(method="PATCH", path=path, body=body, read=one(Tool), **conditional(if_match))

    @operation
    def delete(self, tool_id: int, *, if_match: str | None = None) -> Call[None]:
        """Delete a tool."""
        return Call(method="DELETE", path=path_of("tools", tool_id), read=nothing, **conditional(if_match))

    @operation
    def delete_many(self, tool_ids: Iterable[int], *, dry_run: bool | None = None) -> Call[Deleted]:
        """Delete up to 500 tools, each with a result of its own. A dry run only tries."""
        return _delete({"ids": builtins.list(tool_ids)}, dry_run)

    @operation
    def delete_of_server(
        self,
        server: str,
        *,
        type: ItemType | None = None,  # noqa: A002 (the field)
        dry_run: bool | None = None,
    ) -> Calls[Deleted]:
        """Delete all tools that name a server, however many, or those of a type; the server itself stays.

        They go by the thousand. Where a call fails, those before it are done: the same again deletes the rest. A dry
        run only tries, the first thousand.
        """
        deleted = Deleted(more=True)
        while deleted.more:
            answer = yield from answer_of(_delete({"server": server, **given({"type": type})}, dry_run))
            deleted.add(answer)
            if dry_run or not answer.deleted:
                break  # what is left cannot be deleted; `more` says that there is
        return deleted

    @operation
    def skills(self, tool_id: int) -> Call[ToolSkills]:
        """Return the skills of a tool, the primary one first."""
        return Call(method="GET", path=path_of("tools", tool_id, "skills"), read=_tool_skills)

    @operation
    def assign(self, tool_id: int, skills: Iterable[Body], *, if_match: str | None = None) -> Call[ToolSkills]:
        """Assign a tool by hand to skills, best first, instead of those that it has."""
        path, body = path_of("tools", tool_id, "skills"), {"skills": plain_list(skills)}
        return Call(method="PUT", path=path, body=body, read=_tool_skills, **conditional(if_match))


class Servers(Resource[M]):
    """MCP servers."""

    @operation
    def put(self, servers: Iterable[Body], *, dry_run: bool | None = None) -> Call[Written]:
        """Create or change up to 100 servers with their tools, each judged on its own."""
        return _put_many("servers", "servers", servers, dry_run)

    @paged
    def list(self, **where: Unpack[ListServers]) -> Listing[Server]:
        """List servers; all conditions must hold."""
        return Listing(path_of("servers"), Server, where)

    @operation
    def get(self, server_id: int) -> Call[Server]:
        """Return a server."""
        return Call(method="GET", path=path_of("servers", server_id), read=one(Server))

    @operation
    def put_one(self, server_id: int, server: Body, *, if_match: str | None = None) -> Call[Server]:
        """Write a server over. What `get` returned can be put back."""
        path = path_of("servers", server_id)
        return Call(method="PUT", path=path, body=plain(server), read=one(Server), **conditional(if_match))

    @operation
    def delete(self, server_id: int, *, if_match: str | None = None) -> Call[None]:
        """Delete a server and its tools."""
        return Call(method="DELETE", path=path_of("servers", server_id), read=nothing, **conditional(if_match))

    @operation
    def enable(self, server_id: int, *, if_match: str | None = None) -> Call[Server]:
        """Let searches find a server and its tools."""
        path = path_of("servers", server_id, "enable")
        return Call(method="POST", path=path, read=one(Server), **conditional(if_match))

    @operation
    def disable(self, server_id: int, *, if_match: str | None = None) -> Call[Server]:
        """Keep a server and its tools from being found."""
        path = path_of("servers", server_id, "disable")
        return Call(method="POST", path=path, read=one(Server), **conditional(if_match))

    @operation
    def identity(self, server_id: int) -> Call[ServerIdentity]:
        """Return how a server lets requests in."""
        return Call(method="GET", path=path_of("servers", server_id, "identity"), read=one(ServerIdentity))

    @operation
    def set_identity(self, server_id: int, kind: str, **settings: Unpack[IdentitySettings]) -> Call[ServerIdentity]:
        """Set how a server lets requests in. Secrets are named by their place; what persons logged in with ends."""
        path, body = path_of("servers", server_id, "identity"), {"kind": kind, **given(settings)}
        return Call(method="PUT", path=path, body=body, read=one(ServerIdentity))

    @operation
    def delete_identity(self, server_id: int) -> Call[None]:
        """Let requests to a server go without an identity."""
        return Call(method="DELETE", path=path_of("servers", server_id, "identity"), read=nothing)

    @operation
    def log_in(self, server_id: int, *, scopes: builtins.list[str] | None = None) -> Call[LoginStarted]:
        """Begin to log in at a server: open `authorization_url` in a browser, within 10 minutes and once."""
        path, body = path_of("servers", server_id, "login"), given({"scopes": scopes})
        return Call(method="POST", path=path, body=body, read=one(LoginStarted))

    @paged
    def logins(self, **page: Unpack[PageOptions]) -> Listing[Login]:
        """List the servers where the caller is logged in."""
        return Listing(path_of("logins"), Login, page)

    @operation
    def log_out(self, server_id: int) -> Call[None]:
        """Delete what the caller logged in with at a server."""
        return Call(method="DELETE", path=path_of("logins", server_id), read=nothing)


class Agents(Resource[M]):
    """A2A agents."""

    @operation
    def put(self, agents: Iterable[Body], *, dry_run: bool | None = None) -> Call[Written]:
        """Create or change up to 100 agents, each judged on its own."""
        return _put_many("agents", "agents", agents, dry_run)

    @paged
    def list(self, **where: Unpack[ListEntities]) -> Listing[Agent]:
        """List agents; all conditions must hold."""
        return Listing(path_of("agents"), Agent, where)

    @operation
    def get(self, agent_id: int) -> Call[Agent]:
        """Return an agent."""
        return Call(method="GET", path=path_of("agents", agent_id), read=one(Agent))

    @operation
    def put_one(self, agent_id: int, agent: Body, *, if_match: str | None = None) -> Call[Agent]:
        """Write an agent over. What `get` returned can be put back."""
        path = path_of("agents", agent_id)
        return Call(method="PUT", path=path, body=plain(agent), read=one(Agent), **conditional(if_match))

    @operation
    def delete(self, agent_id: int, *, if_match: str | None = None) -> Call[None]:
        """Delete an agent."""
        return Call(method="DELETE", path=path_of("agents", agent_id), read=nothing, **conditional(if_match))

    @operation
    def enable(self, agent_id: int, *, if_match: str | None = None) -> Call[Agent]:
        """Let searches find an agent."""
        path = path_of("agents", agent_id, "enable")
        return Call(method="POST", path=path, read=one(Agent), **conditional(if_match))

    @operation
    def disable(self, agent_id: int, *, if_match: str | None = None) -> Call[Agent]:
        """Keep an agent from being found."""
        path = path_of("agents", agent_id, "disable")
        return Call(method="POST", path=path, read=one(Agent), **conditional(if_match))


def _put_many(
    kind: str, field: str, values: Iterable[Body], dry_run: bool | None, approve: bool | None = None
) -> Call[Written]:
    body, params = {field: plain_list(values)}, given({"dry_run": dry_run, "approve": approve})
    return Call(method="PUT", path=path_of(kind), params=params, body=body, read=one(Written))


def _delete(which: dict[str, object], dry_run: bool | None) -> Call[Deleted]:
    # A second attempt would report what the first one deleted as missing.
    path, params = path_of("tools", "delete"), given({"dry_run": dry_run})
    return Call(method="POST", path=path, params=params, body=which, read=one(Deleted), repeat=Repeat.IF_REFUSED)


def _tool_skills(response: httpx.Response) -> ToolSkills:
    return ToolSkills(_TOOL_SKILLS.validate_json(response.content), response.headers.get("etag"))
