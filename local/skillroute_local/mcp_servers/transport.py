"""The streams to an MCP server: its program or its address, a sign when they end, and listings entry by entry."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, TextIO

import anyio
import anyio.to_thread
from anyio.abc import ObjectReceiveStream
from mcp.client.sse import sse_client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types.methods import validate_server_result
from mcp_types import JSONRPCError, JSONRPCResponse
from pydantic import ValidationError

from skillroute_local.mcp_servers.model import LISTS, HttpServer, Limits, ListedKind, McpServer, StdioServer
from skillroute_local.mcp_servers.outgoing import Outgoing
from skillroute_local.mcp_servers.program import program_streams

_HTTP_CONNECT_S = 10.0
_HTTP_READ_S = 300.0
_FEW = 200
"""Entries that are checked before a thread would have begun."""

WITHIN_CONNECT = "SKILLROUTE_WITHIN_CONNECT"
"""The variable that servers behind `skillroute connect` have in their environment, so that it does not start itself."""

Streams = tuple["Tap", Any]


class Tap(ObjectReceiveStream[SessionMessage | Exception]):
    """The stream of what a server sends, with listings sifted on the way.

    The client refuses a page in which one tool is wrong, and drops fields that it does not know. So entries that are
    wrong are taken out before it sees them, and the others are kept as they came.

    Parameters
    ----------
    asked : mutable mapping
        By the id of a request for a list: the kind that it asks for. Other answers stay as they come.
    most : int
        The most entries of a page that are looked at, the wrong ones among them.

    Attributes
    ----------
    ended : anyio.Event
        Set when the server has closed its side, as a program that died has, or no longer reads or knows the session.
    version : str
        The revision that both speak, by which entries are checked; empty until the handshake is over.
    entries : list
        Those of the last page.
    refused : list of str
        What was wrong with others of that page.
    """

    def __init__(self, stream: Any, ended: anyio.Event, asked: MutableMapping[str, ListedKind], most: int) -> None:
        self._stream = stream
        self._asked = asked
        self._most = most
        self.ended = ended
        self.version = ""
        self.entries: list[dict[str, Any]] = []
        self.refused: list[str] = []

    @property
    def last_context(self) -> object:
        """Return the context of the last message's sender, where the stream has one."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        try:
            message: SessionMessage | Exception = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.ended.set()
            raise
        if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCResponse | JSONRPCError):
            kind = self._asked.pop(str(message.message.id), None)
            if kind is not None and self.version and isinstance(message.message, JSONRPCResponse):
                await self._sift(kind, message.message.result)
        return message

    async def aclose(self) -> None:
        """Close the stream."""
        self.ended.set()
        await self._stream.aclose()

    async def _sift(self, kind: ListedKind, result: dict[str, Any]) -> None:
        _, field = LISTS[kind]
        self.entries, self.refused = [], []
        if not isinstance(listed := result.get(field), list):
            return
        if len(listed) > self._most:
            self.refused.append(f"{kind}s after the first {self._most} of a page are left out")
            del listed[self._most :]
        if len(listed) <= _FEW:
            self._check(kind, listed)
        else:
            await anyio.to_thread.run_sync(self._check, kind, listed)
        result[field] = list(self.entries)

    def _check(self, kind: ListedKind, listed: list[Any]) -> None:
        method, field = LISTS[kind]
        for index, entry in enumerate(listed):
            if problem := self._problem(method, field, entry):
                name = entry.get("name") if isinstance(entry, dict) else None
                self.refused.append(f"{kind} {name if isinstance(name, str) else f'[{index}]'}: {problem}")
            else:
                self.entries.append(entry)

    def _problem(self, method: str, field: str, entry: object) -> str:
        """Return what is wrong with an entry by the revision that is spoken, empty where nothing is."""
        page = {field: [entry], "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
        try:
            validate_server_result(method, self.version, page)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(step) for step in first["loc"] if step not in {field, 0}) or "it"
            return f"{place}: {first['msg'][:200]}"
        except KeyError:  # a method that this revision does not have
            return ""
        return ""


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
    async with _streams(server, errlog, ended, limits) as (reading, writing):
        asked: dict[str, ListedKind] = {}
        tap = Tap(reading, ended, asked, limits.items)
        opened(tap)
        yield tap, Outgoing(writing, ended, limits.write_s, asked)


def _streams(server: McpServer, errlog: TextIO, ended: anyio.Event, limits: Limits) -> Any:
    match server:
        case StdioServer():
            return program_streams(server, program_environment(server), errlog, limits)
        case HttpServer(transport="sse"):
            return sse_client(server.url, dict(server.headers), timeout=_HTTP_CONNECT_S)
        case HttpServer():
            return _http(server, ended, limits.message_bytes)


@asynccontextmanager
async def _http(server: HttpServer, ended: anyio.Event, most_bytes: int) -> AsyncIterator[Any]:
    import httpx2  # noqa: PLC0415 (a fifth of a second, where only programs are started)

    from skillroute_local.mcp_servers.http_answers import Bounded  # noqa: PLC0415

    async def look(response: httpx2.Response) -> None:
        """Bound what is read, and note that the server no longer knows the session: MCP wants a new handshake then."""
        if response.status_code == httpx2.codes.NOT_FOUND and "mcp-session-id" in response.request.headers:
            ended.set()
        is_of_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        response.stream = Bounded(response.stream, most_bytes, by_line=is_of_events)

    timeout = httpx2.Timeout(_HTTP_CONNECT_S, read=_HTTP_READ_S)
    async with (
        httpx2.AsyncClient(headers=dict(server.headers), timeout=timeout, event_hooks={"response": [look]}) as http,
        streamable_http_client(server.url, http_client=http) as streams,
    ):
        yield streams


def program_environment(server: StdioServer) -> dict[str, str]:
    """Return what a program gets: the few variables that the SDKs of MCP pass on, or all where its entry asks for them.

    Never what is Skillroute's own: the database's URL holds a password.
    """
    given = os.environ if server.inherits else get_default_environment()
    own = {name: value for name, value in given.items() if not name.startswith("SKILLROUTE_")}
    within = {name: os.environ[name] for name in (WITHIN_CONNECT,) if name in os.environ}
    return own | dict(server.env) | within
