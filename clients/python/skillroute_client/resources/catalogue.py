"""Tools, and the servers and agents of the registry."""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from typing import Unpack

from skillroute_client.calls import Body, Call, conditional, many, nothing, one, path_of, plain, plain_list
from skillroute_client.engines import M
from skillroute_client.models.catalogue import Agent, Server, Tool, Written
from skillroute_client.models.skills import ToolSkill
from skillroute_client.operations import Resource, operation, paged
from skillroute_client.pages import Listing
from skillroute_client.resources.options import ListEntities, ListTools


class Tools(Resource[M]):
    """Tools, prompts and resources."""

    @operation
    def put(self, tools: Iterable[Body]) -> Call[Written]:
        """Create or change up to 500 tools, each judged on its own: look at `failures` of what comes back.

        A tool is the same one when server, type and name are.
        """
        return Call(method="PUT", path=path_of("tools"), body={"items": plain_list(tools)}, read=one(Written))

    @paged
    def list(self, **where: Unpack[ListTools]) -> Listing[Tool]:
        """List tools; all conditions must hold."""
        return Listing(path_of("tools"), Tool, where)

    @operation
    def get(self, tool_id: int) -> Call[Tool]:
        """Return a tool."""
        return Call(method="GET", path=path_of("tools", tool_id), read=one(Tool))

    @operation
    def put_one(self, tool_id: int, tool: Body, *, if_match: str | None = None) -> Call[Tool]:
        """Write a tool over. What `get` returned can be put back."""
        path = path_of("tools", tool_id)
        return Call(method="PUT", path=path, body=plain(tool), read=one(Tool), **conditional(if_match))

    @operation
    def delete(self, tool_id: int, *, if_match: str | None = None) -> Call[None]:
        """Delete a tool."""
        return Call(method="DELETE", path=path_of("tools", tool_id), read=nothing, **conditional(if_match))

    @operation
    def skills(self, tool_id: int) -> Call[builtins.list[ToolSkill]]:
        """Return the skills of a tool, the primary one first."""
        return Call(method="GET", path=path_of("tools", tool_id, "skills"), read=many(ToolSkill))

    @operation
    def assign(self, tool_id: int, skills: Iterable[Body]) -> Call[builtins.list[ToolSkill]]:
        """Assign a tool by hand to skills, best first, instead of those that it has."""
        path = path_of("tools", tool_id, "skills")
        return Call(method="PUT", path=path, body={"skills": plain_list(skills)}, read=many(ToolSkill))


class Servers(Resource[M]):
    """MCP servers."""

    @operation
    def put(self, servers: Iterable[Body]) -> Call[Written]:
        """Create or change up to 100 servers with their tools, each judged on its own."""
        return Call(method="PUT", path=path_of("servers"), body={"servers": plain_list(servers)}, read=one(Written))

    @paged
    def list(self, **where: Unpack[ListEntities]) -> Listing[Server]:
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


class Agents(Resource[M]):
    """A2A agents."""

    @operation
    def put(self, agents: Iterable[Body]) -> Call[Written]:
        """Create or change up to 100 agents, each judged on its own."""
        return Call(method="PUT", path=path_of("agents"), body={"agents": plain_list(agents)}, read=one(Written))

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
