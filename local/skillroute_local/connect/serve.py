"""Speaking MCP to the agent: over standard input and output, or over HTTP on this machine."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from skillroute import __version__

from skillroute_local.browsers import Hosts, OwnPagesOnly
from skillroute_local.connect.front import ONE_AGENT, Front
from skillroute_local.connect.kept import Session
from skillroute_local.connect.signals import on_signal
from skillroute_local.connect.stdio import agent_streams
from skillroute_local.http_in_time import RequestsInTime

_CALL_PARAMS = types.CallToolRequestParams
_EVERY_SESSION: Session = None
_SESSION_HEADER = "mcp-session-id"
_IDLE_SESSION_S = 600.0
_MAX_SESSIONS = 200
"""Of agents of older revisions, over HTTP; newer ones have none. One takes 38 KB."""

_MAX_AGENTS = 32
"""That are told of changes, of those that speak HTTP at once."""

_COMPLETE = {"resultType": "complete"}
"""The fields that revision 2026-07-28 requires in every result; for earlier ones it is taken out on the way."""

Context = ServerRequestContext[Any, Any]


class AgentServer:
    """The MCP server that an agent connects to.

    Parameters
    ----------
    front : Front
        What it offers.
    """

    def __init__(self, front: Front) -> None:
        self._front = front
        self._changes = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._changes)
        # Of agents of older revisions, the last one of each, with its name at the front.
        self._sessions: dict[int, tuple[Session, ServerSession]] = {}
        self._changed = anyio.Event()
        self._changed_for: set[Session] = set()
        front.on_tools_changed = lambda: self._note_change(_EVERY_SESSION)
        front.on_found = self._note_change
        self.mcp: Server[Any] = _Server(
            "skillroute",
            version=__version__,
            title="Skillroute",
            instructions=front.instructions,
            on_subscriptions_listen=self._listening,
        )
        # As dictionaries, so that what servers answer is passed on and not made again.
        self.mcp.add_request_handler("tools/list", types.PaginatedRequestParams, self._list_tools)
        self.mcp.add_request_handler("tools/call", _CALL_PARAMS, self._call_tool)

    async def run(self) -> None:
        """Keep the servers behind it connected, and tell agents when the list of tools changes."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._front.run)
            tasks.start_soon(self._tell_changes)

    def end_streams(self) -> None:
        """End the streams that agents listen to changes on."""
        self._listening.close()

    async def _list_tools(self, context: Context, _: types.PaginatedRequestParams) -> dict[str, Any]:
        self._remember(context)
        return {
            "tools": await self._front.tools(_session_of(context)),
            "ttlMs": 0,
            "cacheScope": "private",
            **_COMPLETE,
        }

    async def _call_tool(self, context: Context, params: _CALL_PARAMS) -> dict[str, Any]:
        # Only where the agent asks for it: a server reports what nobody reads else.
        wanted = context.meta is not None and context.meta.get("progress_token") is not None
        progress = context.session.report_progress if wanted else None
        result = await self._front.call(params.name, params.arguments or {}, progress, _session_of(context))
        return {**_COMPLETE, **result}

    def _remember(self, context: Context) -> None:
        """Keep who has listed the tools: older revisions are told of changes, newer ones ask for them."""
        session = context.session
        if session.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            agent = id(session.client_params)  # one object for all requests of a connection
            self._sessions.pop(agent, None)
            self._sessions[agent] = _session_of(context), session
            while len(self._sessions) > _MAX_AGENTS:
                del self._sessions[next(iter(self._sessions))]

    def _note_change(self, session: Session) -> None:
        self._changed_for.add(session)
        self._changed.set()

    async def _tell_changes(self) -> None:
        while True:
            await self._changed.wait()
            changed_for, self._changed_for = self._changed_for, set()
            self._changed = anyio.Event()
            if changed_for & {_EVERY_SESSION, ONE_AGENT}:  # those that listen are all agents without a session, or one
                await self._changes.publish(ToolsListChanged())
            for name, session in list(self._sessions.values()):
                if changed_for & {_EVERY_SESSION, name}:
                    with suppress(Exception):  # an agent that is gone
                        await session.send_tool_list_changed()


class _Server(Server[Any]):
    """Says at each handshake that its tools may change: over HTTP the SDK makes the options itself."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *args: Any, **more: Any
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, *args, **more)


def _session_of(context: Context) -> Session:
    """Return the session of a request: over HTTP agents of older revisions have one each, newer ones none."""
    if context.request is None:
        return ONE_AGENT
    if context.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return None
    found: str | None = context.request.headers.get(_SESSION_HEADER)
    return found


async def serve_stdio(server: AgentServer) -> None:
    """Serve one agent until it closes its side, or SIGTERM or Ctrl-C ends it; then stop every server behind it."""
    options = server.mcp.create_initialization_options()
    async with agent_streams() as (reading, writing), anyio.create_task_group() as tasks:
        tasks.start_soon(on_signal, tasks.cancel_scope.cancel)
        tasks.start_soon(server.run)
        await server.mcp.run(reading, writing, options)
        tasks.cancel_scope.cancel()


async def serve_http(server: AgentServer, sock: socket.socket, *, idle_s: float = _IDLE_SESSION_S) -> None:
    """Serve agents on a listening socket, at ``/mcp``, until SIGTERM or Ctrl-C.

    Parameters
    ----------
    idle_s : float
        After which a session that nobody has used is forgotten; its agent begins a new one.
    """
    # The middleware knows all names of this machine, and refuses other sites' pages.
    app = server.mcp.streamable_http_app(
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        session_idle_timeout=idle_s,
        max_sessions=_MAX_SESSIONS,
    )
    config = uvicorn.Config(
        OwnPagesOnly(app, Hosts()), http=RequestsInTime,
        log_level="critical", access_log=False, timeout_graceful_shutdown=2,
    )  # fmt: skip
    http = _HttpServer(config)

    def end() -> None:
        server.end_streams()
        http.should_exit = True

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.run)
        tasks.start_soon(on_signal, end)
        await http.serve(sockets=[sock])
        tasks.cancel_scope.cancel()


class _HttpServer(uvicorn.Server):
    """Leaves signals alone: uvicorn raises them again as it ends, before the servers behind this one are stopped."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
