"""Calls and lists the tools of MCP servers.

Every call has connections of its own, so that neither credentials nor a server that hangs are shared between calls, and
no connection has to survive the pause of a function. What is kept is what a server speaks, with the session's id.
"""

from __future__ import annotations

import asyncio
import itertools
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx

from skillroute.calling.exchange import Budget, headers_of, translated, within
from skillroute.calling.mcp_client.hearing import Hearing
from skillroute.calling.mcp_client.http_sse import opened
from skillroute.calling.mcp_client.messages import (
    HEADER_MISMATCH,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    STATELESS,
    UNSUPPORTED_VERSION,
    notification,
    request,
)
from skillroute.calling.mcp_client.negotiation import negotiate
from skillroute.calling.mcp_client.param_headers import headers_for, paths_of
from skillroute.calling.mcp_client.sessions import Key, Sessions, Spoken, key_of
from skillroute.calling.mcp_client.streamable import SessionLost, Streamable
from skillroute.calling.model import CallFailed, Endpoint, Failure, JsonObject, Limits, Progress
from skillroute.core.outbound.credentials import Credentials
from skillroute.core.outbound.guarded import Resolve, make_client, make_context, parse_url, system_addresses
from skillroute.core.outbound.hosts import HostRules, shown

MAX_PAGES = 50
MAX_TOOLS = 5_000
_CANCEL_S = 1.0
# As servers answer that speak another revision since they were asked: it is found out anew for the next call.
_OF_ANOTHER_REVISION = frozenset({400, 404, 405, INVALID_REQUEST, METHOD_NOT_FOUND})
_MAX_PARAM_TOOLS = 200  # of one server, whose headers are remembered

Ask = Callable[[str, JsonObject, Progress | None], Awaitable[JsonObject]]
"""Sends a request and returns its result."""


@dataclass(frozen=True, slots=True)
class _Talk:
    """Parts that the requests of one call share."""

    client: httpx.AsyncClient
    url: httpx.URL
    host: str
    headers: Mapping[str, str]
    limits: Limits
    key: Key

    def wire(self) -> Streamable:
        return Streamable(self.client, str(self.url), self.host, self.headers)


class McpClient:
    """Calls tools of MCP servers, whichever revision these speak. Safe to share between tasks and event loops.

    Parameters
    ----------
    rules : HostRules
    sessions : Sessions, optional
    context : ssl.SSLContext, optional
        Of TLS; made at the first call where it is missing.
    resolve : callable
        Looks up names.
    """

    def __init__(
        self,
        rules: HostRules,
        *,
        sessions: Sessions | None = None,
        context: ssl.SSLContext | None = None,
        resolve: Resolve = system_addresses,
    ) -> None:
        self._rules = rules
        self._sessions = Sessions() if sessions is None else sessions
        self._given_context = context
        self._resolve = resolve
        self._ids = itertools.count(1)

    async def call(
        self,
        endpoint: Endpoint,
        name: str,
        arguments: JsonObject,
        *,
        credentials: Credentials,
        limits: Limits,
        progress: Progress | None = None,
    ) -> JsonObject:
        """Return the result of ``tools/call`` as it came. Raises `CallFailed`."""
        async with self._talking(endpoint, credentials, limits) as ask:
            return await ask("tools/call", {"name": name, "arguments": arguments}, progress)

    async def list_tools(self, endpoint: Endpoint, *, credentials: Credentials, limits: Limits) -> Sequence[JsonObject]:
        """Return all pages of ``tools/list``, as they came. Raises `CallFailed`."""
        async with self._talking(endpoint, credentials, limits) as ask:
            return await _all_tools(ask, _host_of(endpoint))

    @cached_property
    def _context(self) -> ssl.SSLContext:
        return self._given_context or make_context()

    @asynccontextmanager
    async def _talking(self, endpoint: Endpoint, credentials: Credentials, limits: Limits) -> AsyncIterator[Ask]:
        """Connect to a server within the limits, and lend what asks it."""
        host = _host_of(endpoint)
        async with within(limits, host, credentials):
            url = parse_url(self._rules, endpoint.url)
            headers = headers_of(credentials)
            async with make_client(self._rules, context=self._context, resolve=self._resolve) as client:
                talk = _Talk(client, url, host, headers, limits, key_of(endpoint, credentials))
                if endpoint.transport == "sse":
                    async with opened(client, url, host, headers, Budget(limits.answer_bytes, host)) as stream:
                        yield lambda method, params, progress: self._cancellable(
                            host, method, params, progress, stream.ask, stream.tell
                        )
                else:
                    budget = Budget(limits.answer_bytes, host)
                    yield lambda method, params, progress: self._streamable(talk, budget, method, params, progress)

    async def _streamable(
        self, talk: _Talk, budget: Budget, method: str, params: JsonObject, progress: Progress | None
    ) -> JsonObject:
        """Ask in the session that is remembered, or a new one; once more in a new one where that is lost.

        A server that does not know the session, or the revision, has not begun what it was asked for.
        """
        for is_last in (False, True):
            spoken = self._sessions.get(talk.key)
            if spoken is None:
                spoken = await negotiate(talk.wire(), talk.host, talk.limits)
                self._sessions.put(talk.key, spoken)
            try:
                return await self._in_session(talk, spoken, budget, method, params, progress)
            except CallFailed as error:
                is_lost = isinstance(error, SessionLost) or error.code == UNSUPPORTED_VERSION
                if is_lost or error.failure is Failure.UNAUTHORIZED or error.code in _OF_ANOTHER_REVISION:
                    self._sessions.drop(talk.key, spoken)
                if is_last or not is_lost:
                    raise
        raise AssertionError

    async def _in_session(
        self, talk: _Talk, spoken: Spoken, budget: Budget, method: str, params: JsonObject, progress: Progress | None
    ) -> JsonObject:
        wire = talk.wire()
        if spoken.revision != STATELESS:
            return await self._cancellable(
                talk.host,
                method,
                params,
                progress,
                lambda message, hearing: wire.ask(message, spoken, budget, hearing),
                lambda message: wire.tell(message, spoken),
            )

        async def ask(method: str, params: JsonObject, progress: Progress | None) -> JsonObject:
            # Closing the stream of the answer is what cancels a request of this revision.
            id_, sent = self._request(method, params, progress)
            extra = headers_for(spoken.param_headers.get(params.get("name", ""), {}), params.get("arguments", {}))
            return await wire.ask(sent, spoken, budget, Hearing(talk.host, id_, progress), extra)

        try:
            return await ask(method, params, progress)
        except CallFailed as error:
            if error.code != HEADER_MISMATCH or method != "tools/call" or params["name"] in spoken.param_headers:
                raise
        # Refused before it was begun: the schema says which arguments have to be repeated in headers.
        tools = await _all_tools(ask, talk.host)
        schema = next((tool.get("inputSchema") for tool in tools if tool.get("name") == params["name"]), None)
        if len(spoken.param_headers) < _MAX_PARAM_TOOLS:
            spoken.param_headers[params["name"]] = paths_of(schema)
        return await ask(method, params, progress)

    async def _cancellable(
        self,
        host: str,
        method: str,
        params: JsonObject,
        progress: Progress | None,
        ask: Callable[[JsonObject, Hearing], Awaitable[JsonObject]],
        tell: Callable[[JsonObject], Awaitable[None]],
    ) -> JsonObject:
        """Ask, and tell the server where the answer is not awaited any more."""
        id_, sent = self._request(method, params, progress)
        try:
            return await ask(sent, Hearing(host, id_, progress))
        except (asyncio.CancelledError, CallFailed) as error:
            if isinstance(error, asyncio.CancelledError) or error.failure is Failure.TOO_LARGE:
                reason = {"requestId": id_, "reason": "the caller does not wait any more"}
                with suppress(CallFailed, TimeoutError):
                    async with asyncio.timeout(_CANCEL_S):
                        with translated(host):
                            await tell(notification("notifications/cancelled", reason))
            raise

    def _request(self, method: str, params: JsonObject, progress: Progress | None) -> tuple[int, JsonObject]:
        id_ = next(self._ids)
        meta: dict[str, Any] = {} if progress is None else {"_meta": {"progressToken": id_}}
        return id_, request(id_, method, params | meta)


async def _all_tools(ask: Ask, host: str) -> list[JsonObject]:
    tools: list[JsonObject] = []
    params: JsonObject = {}
    for _ in range(MAX_PAGES):
        page = await ask("tools/list", params, None)
        found = page.get("tools")
        if not isinstance(found, list) or not all(isinstance(tool, dict) for tool in found):
            raise CallFailed(Failure.PROTOCOL, f"{host} lists its tools other than as a list of objects")
        tools += found
        if len(tools) > MAX_TOOLS:
            raise CallFailed(Failure.TOO_LARGE, f"{host} lists more than {MAX_TOOLS:,} tools")
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return tools
        if params.get("cursor") == cursor:
            raise CallFailed(Failure.PROTOCOL, f"{host} lists the same page of tools again and again")
        params = {"cursor": cursor}
    raise CallFailed(Failure.TOO_LARGE, f"{host} lists its tools on more than {MAX_PAGES} pages")


def _host_of(endpoint: Endpoint) -> str:
    """Return what messages call a server."""
    try:
        return shown(httpx.URL(endpoint.url).host)
    except (httpx.InvalidURL, ValueError):
        return "the server"
