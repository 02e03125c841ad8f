"""Starting or reaching one MCP server, as far as the handshake."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.client.session import IncomingMessage
from mcp.shared.exceptions import MCPError
from skillroute import __version__

from skillroute_local.mcp_servers.connection import Connection
from skillroute_local.mcp_servers.errors import as_server_error, ends_connection, first_of, status_of
from skillroute_local.mcp_servers.incoming import Tap
from skillroute_local.mcp_servers.model import (
    HttpServer,
    Limits,
    LoginNeededError,
    McpServer,
    ServerError,
    StdioServer,
)
from skillroute_local.mcp_servers.stderr import StderrTail
from skillroute_local.mcp_servers.transport import transport

_CHANGES = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)


_NO_STREAMABLE_HTTP = frozenset({400, 404, 405, 406, 410, 415, 422, 501})
"""Statuses of servers that know the older SSE alone, or know nothing of this address."""


class NoHandshakeError(ServerError):
    """A server was started or reached, and the handshake failed."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How a server is spoken to.

    Attributes
    ----------
    greets : bool
        Whether the handshake begins with `initialize` at once, without a look whether it knows the newest revision.
    """

    server: McpServer
    greets: bool = False


class _AnotherWayError(Exception):
    """The handshake failed in a way that another one may mend."""

    def __init__(self, way: _Way, why: ServerError) -> None:
        super().__init__(str(why))
        self.way = way
        self.why = why


@asynccontextmanager
async def connected(
    server: McpServer,
    limits: Limits | None = None,
    *,
    on_change: Callable[[], None] = lambda: None,
    show: Callable[[str], None] | None = None,
) -> AsyncIterator[Connection]:
    """Start or reach a server, and stop it at the end: its input is closed, then it is terminated, then killed.

    A program that ends at the question for the newest revision is started again and greeted the old way; an address
    that knows no streamable HTTP is tried with SSE, where its entry does not say which it is.

    Parameters
    ----------
    on_change : callable
        Called when the server says that one of its lists has changed.
    show : callable or None
        Called with each line that its program writes to its standard error.

    Raises
    ------
    ServerError
        It cannot be started or reached, does not finish the handshake in time, or is lost later.
    """
    limits = limits or Limits()
    try:
        async with _connected(_Way(server), limits, on_change, show) as connection:
            yield connection
        return
    except _AnotherWayError as other:
        first = other
    try:
        async with _connected(first.way, limits, on_change, show) as connection:
            yield connection
    except _AnotherWayError as error:
        raise error.why from None
    except NoHandshakeError as error:
        # Where SSE is not served either, what the address said of itself first is what helps.
        raise (first.why if isinstance(server, HttpServer) else error) from None


@asynccontextmanager
async def _connected(
    way: _Way, limits: Limits, on_change: Callable[[], None], show: Callable[[str], None] | None
) -> AsyncIterator[Connection]:
    """Connect in one way. Raises `ServerError`, and `_AnotherWayError` where another way is left."""
    server = way.server
    taps: list[Tap] = []

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, _CHANGES):
            on_change()

    with StderrTail(show) as stderr:
        scope = anyio.CancelScope(deadline=anyio.current_time() + limits.connect_s)
        is_connected = False
        callers: BaseException | None = None
        try:
            with scope:
                client = Client(
                    transport(server, stderr.file, taps.append, limits),
                    message_handler=heard,
                    cache=None,
                    client_info=types.Implementation(name="skillroute", version=__version__),
                    mode="legacy" if way.greets else "auto",
                )
                async with client:
                    taps[0].version = client.protocol_version
                    scope.deadline = math.inf
                    is_connected = True
                    try:
                        yield Connection(server, client, taps[0], stderr, limits, on_change)
                    except Exception as error:
                        callers = first_of(error)
                        raise
        except Exception as error:
            cause = callers or first_of(error)
            if callers is not None or isinstance(cause, ServerError):
                raise cause from None  # out of the groups of the tasks beneath
            asked = "what it was asked" if is_connected else "the handshake"
            why = as_server_error(server, cause, asked, limits.connect_s, stderr.last_of_ended())
            if is_connected or isinstance(why, LoginNeededError):
                raise why from error
            if (other := _other_way(way, cause, has_answered=any(tap.has_answered for tap in taps))) is not None:
                raise _AnotherWayError(other, why) from error
            raise NoHandshakeError(why.brief, why.last_line) from error
        if scope.cancelled_caught and not is_connected:
            raise as_server_error(server, TimeoutError(), "the handshake", limits.connect_s, stderr.last_of_ended())


def _other_way(way: _Way, cause: BaseException, *, has_answered: bool) -> _Way | None:
    """Return what is worth trying after a handshake that failed, None where nothing is."""
    match way.server:
        case StdioServer() if not (way.greets or has_answered) and isinstance(cause, MCPError):
            return _Way(way.server, greets=True) if ends_connection(cause) else None
        case HttpServer(transport="auto") if status_of(cause) in _NO_STREAMABLE_HTTP:
            return _Way(replace(way.server, transport="sse"))
    return None
