"""Lists many MCP servers side by side: one that hangs or dies does not stop the others."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace

import anyio

from skillroute_local.mcp_servers.client import connected
from skillroute_local.mcp_servers.model import Limits, Listing, McpServer, ServerError
from skillroute_local.mcp_servers.skills import Room, read_skills

logger = logging.getLogger(__name__)

AT_ONCE = 16
"""Servers that are started at the same time."""


def list_servers(
    servers: Sequence[McpServer], limits: Limits | None = None, new_room: Callable[[], Room] | None = None
) -> list[Listing | ServerError]:
    """Start or reach servers, and return what each lists, or what is wrong with it, in the order of `servers`.

    Parameters
    ----------
    new_room : callable or None
        Makes what says which files of an Agent Skill are read; without it none of their skills is.
    """
    return anyio.run(_list_servers, servers, limits, new_room)


async def list_server(
    server: McpServer, limits: Limits | None = None, new_room: Callable[[], Room] | None = None
) -> Listing | ServerError:
    """Return what one server lists, or what is wrong with it."""
    try:
        async with connected(server, limits) as connection:
            listing = await connection.list_all()
            if new_room is None:
                return listing
            skills = await read_skills(connection, limits or Limits(), new_room)
            return replace(listing, skills=skills.found, problems=(*listing.problems, *skills.problems))
    except ServerError as error:
        return error
    except Exception as error:  # any error: the other servers are listed
        logger.exception("%s: lost", server.name)
        return ServerError(f"{server.name}: lost ({type(error).__name__})")


async def _list_servers(
    servers: Sequence[McpServer], limits: Limits | None, new_room: Callable[[], Room] | None
) -> list[Listing | ServerError]:
    results: dict[int, Listing | ServerError] = {}
    room = anyio.CapacityLimiter(AT_ONCE)

    async def one(index: int, server: McpServer) -> None:
        async with room:
            results[index] = await list_server(server, limits, new_room)

    async with anyio.create_task_group() as tasks:
        for index, server in enumerate(servers):
            tasks.start_soon(one, index, server)
    return [results[index] for index in range(len(servers))]
