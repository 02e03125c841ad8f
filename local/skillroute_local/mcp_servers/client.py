"""Starting or reaching one MCP server, as far as the handshake."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.client.session import IncomingMessage
from skillroute import __version__

from skillroute_local.mcp_servers.connection import Connection
from skillroute_local.mcp_servers.errors import as_server_error, first_of
from skillroute_local.mcp_servers.model import Limits, McpServer, ServerError
from skillroute_local.mcp_servers.stderr import StderrTail
from skillroute_local.mcp_servers.transport import Tap, transport

_CHANGES = (
    types.ToolListChangedNotification,
    types.PromptListChangedNotification,
    types.ResourceListChangedNotification,
)


@asynccontextmanager
async def connected(
    server: McpServer,
    limits: Limits | None = None,
    *,
    on_change: Callable[[], None] = lambda: None,
    show: Callable[[str], None] | None = None,
) -> AsyncIterator[Connection]:
    """Start or reach a server, and stop it at the end: its input is closed, then it is terminated, then killed.

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
            raise as_server_error(server, cause, asked, limits.connect_s, stderr.last_of_ended()) from error
        if scope.cancelled_caught and not is_connected:
            raise as_server_error(server, TimeoutError(), "the handshake", limits.connect_s, stderr.last_of_ended())
