"""The streams to an MCP server: of its program, or of its address by streamable HTTP or the older SSE."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, TextIO

import anyio
import anyio.to_thread
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError

from skillroute_local.mcp_servers.errors import HttpStatus, told_status
from skillroute_local.mcp_servers.incoming import Tap
from skillroute_local.mcp_servers.model import (
    HttpServer,
    Limits,
    ListedKind,
    LoginNeededError,
    McpServer,
    StdioServer,
)
from skillroute_local.mcp_servers.outgoing import Outgoing
from skillroute_local.mcp_servers.program import program_streams

_HTTP_CONNECT_S = 10.0
_HTTP_READ_S = 300.0
WITHIN_CONNECT = "SKILLROUTE_WITHIN_CONNECT"
"""The variable that servers behind `skillroute connect` have in their environment, so that it does not start itself."""

Streams = tuple[Tap, Any]


@asynccontextmanager
async def transport(
    server: McpServer, errlog: TextIO, opened: Callable[[Tap], None], limits: Limits
) -> AsyncIterator[Streams]:
    """Start or reach a server, and yield its streams.

    Parameters
    ----------
    errlog : text file
        Where a program's standard error goes; it needs a descriptor.
    opened : callable
        Called with the stream of what the server sends, before it is read.
    limits : Limits
        How long it may leave a message unread, and how much of it is read.
    """
    ended = anyio.Event()
    asked: dict[str, ListedKind] = {}
    failures: dict[str, ErrorData] = {}
    async with _streams(server, errlog, ended, limits, failures) as (reading, writing):
        has_streams = isinstance(server, HttpServer) and server.transport != "sse"
        tap = Tap(reading, ended, asked, limits.items, failures, has_streams=has_streams)
        opened(tap)
        yield tap, Outgoing(writing, ended, limits.write_s, asked)


def _streams(
    server: McpServer, errlog: TextIO, ended: anyio.Event, limits: Limits, failures: MutableMapping[str, ErrorData]
) -> Any:
    match server:
        case StdioServer():
            return program_streams(server, program_environment(server), errlog, limits)
        case HttpServer(transport="sse"):
            return _sse(server, limits.message_bytes)
        case HttpServer():
            return _http(server, ended, limits.message_bytes, failures)


@asynccontextmanager
async def _http(
    server: HttpServer, ended: anyio.Event, most_bytes: int, failures: MutableMapping[str, ErrorData]
) -> AsyncIterator[Any]:
    import httpx2  # noqa: PLC0415 (a fifth of a second, where only programs are started)

    from skillroute_local.mcp_servers.http_answers import Bounded, failure, request_id  # noqa: PLC0415
    from skillroute_local.server_logins.auth import LoginAuth  # noqa: PLC0415

    login = LoginAuth.of(server)

    async def look(response: httpx2.Response) -> None:
        """Bound what is read, and note what a status says: the SDK tells none."""
        Bounded.limit(response, most_bytes)
        if response.status_code < httpx2.codes.BAD_REQUEST or (login is not None and await login.mends(response)):
            return
        failed = await failure(response, login)
        if (asked := request_id(response.request)) is not None:
            failures[str(asked)] = failed
        elif isinstance(failed.data, HttpStatus) and failed.data.is_session_lost:
            ended.set()

    timeout = httpx2.Timeout(_HTTP_CONNECT_S, read=_HTTP_READ_S)
    async with (
        httpx2.AsyncClient(
            headers=dict(server.headers), timeout=timeout, auth=login, event_hooks={"response": [look]}
        ) as http,
        streamable_http_client(server.url, http_client=http) as streams,
    ):
        yield streams


@asynccontextmanager
async def _sse(server: HttpServer, most_bytes: int) -> AsyncIterator[Any]:
    """Reach a server by the older SSE. The SDK only logs that a message was refused: here its sender is told."""
    import httpx2  # noqa: PLC0415

    from skillroute_local.mcp_servers.http_answers import Bounded, failure, request_id  # noqa: PLC0415
    from skillroute_local.server_logins.auth import LoginAuth  # noqa: PLC0415

    login = LoginAuth.of(server)
    told, reading = anyio.create_memory_object_stream[SessionMessage | Exception]()

    async def look(response: httpx2.Response) -> None:
        Bounded.limit(response, most_bytes)
        if response.status_code < httpx2.codes.BAD_REQUEST or (login is not None and await login.mends(response)):
            return
        if (asked := request_id(response.request)) is not None:
            failed = JSONRPCError(jsonrpc="2.0", id=asked, error=await failure(response, login))
            await told.send(SessionMessage(failed))
            response.status_code = httpx2.codes.ACCEPTED  # the SDK would send nothing after it
        elif login is not None and (remedy := await login.remedy(response)):
            raise LoginNeededError(f"{server.name}: it was answered with {told_status(response.status_code, remedy)}")

    def client(
        headers: dict[str, str] | None = None, timeout: httpx2.Timeout | None = None, auth: httpx2.Auth | None = None
    ) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(headers=headers, timeout=timeout, auth=login, event_hooks={"response": [look]})

    async def pass_on(sent: Any) -> None:
        async with told:
            async for message in sent:
                await told.send(message)

    async with (
        told,
        reading,
        sse_client(server.url, dict(server.headers), timeout=_HTTP_CONNECT_S, httpx_client_factory=client) as (
            sent,
            writing,
        ),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(pass_on, sent)
        yield reading, writing
        tasks.cancel_scope.cancel()


def program_environment(server: StdioServer) -> dict[str, str]:
    """Return what a program gets: the few variables that the SDKs of MCP pass on, or all where its entry asks for them.

    Never what is Skillroute's own: the database's URL holds a password.
    """
    given = os.environ if server.inherits else get_default_environment()
    own = {name: value for name, value in given.items() if not name.startswith("SKILLROUTE_")}
    within = {name: os.environ[name] for name in (WITHIN_CONNECT,) if name in os.environ}
    return own | dict(server.env) | within
