"""MCP servers of the official SDK on ports of this machine, of one revision each, and servers that misbehave."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Annotated, Any

import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import TextContent
from pydantic import BaseModel, Field
from skillroute.core.outbound.hosts import HostRules
from skillroute.core.settings.calling import CallSettings

Scope = MutableMapping[str, Any]
App = Callable[..., Awaitable[None]]


class Sum(BaseModel):
    total: int


@dataclass
class Seen:
    """What a server saw: the requests' methods and headers, and calls that ended early."""

    requests: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    cancelled: threading.Event = field(default_factory=threading.Event)
    calls: int = 0

    def methods(self) -> list[str]:
        """Return the methods of JSON-RPC that were posted."""
        return [method for _, method, _ in self.requests if method]

    def headers(self, method: str) -> dict[str, str]:
        """Return the headers of the last request of a method."""
        return next(headers for _, found, headers in reversed(self.requests) if found == method)


def sdk_server(seen: Seen) -> MCPServer[Any]:
    """Make a server with tools for each kind of answer."""
    server: MCPServer[Any] = MCPServer("calculator", log_level="ERROR")

    @server.tool()
    def add(a: int, b: int) -> Sum:
        """Add two numbers."""
        seen.calls += 1
        return Sum(total=a + b)

    @server.tool()
    def measure(region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})]) -> str:
        """Measure a region."""
        seen.calls += 1
        return region

    @server.tool()
    def fail() -> str:
        """Fail."""
        raise ToolError("no such table")

    @server.tool()
    async def count(ctx: Context[Any, Any], to: int) -> list[TextContent]:
        """Count, and report each number."""
        for number in range(1, to + 1):
            await ctx.report_progress(number, to, f"number {number}")
        return [TextContent(type="text", text=str(to))]

    @server.tool()
    async def hang() -> str:
        """Never answer."""
        seen.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.cancelled.set()
            raise
        return ""

    @server.tool()
    async def ask_back(ctx: Context[Any, Any]) -> str:
        """Ask the user."""
        try:
            await ctx.elicit("Your name?", Sum)
        except MCPError as error:
            return f"declined: {type(error).__name__}"
        return "answered"

    return server


def of_revision(app: App, revision: str | None, seen: Seen) -> App:
    """Wrap a server so that it speaks one revision with a handshake, and None: all it can. Notes what comes."""

    async def wrapped(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        body, more = b"", scope["method"] == "POST"
        while more:
            event = await receive()
            body, more = body + event.get("body", b""), event.get("more_body", False)
        message = json.loads(body) if body else {}
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        seen.requests.append((scope["method"], message.get("method", ""), headers))
        if revision is not None and message.get("method") == "server/discover":
            await plain(400, b'{"detail":"Bad Request: Unsupported protocol version"}', "application/json")(
                scope, receive, send
            )
            return
        if revision is not None and message.get("method") == "initialize":
            message["params"]["protocolVersion"] = revision
            body = json.dumps(message).encode()
            scope["headers"] = [
                (name, str(len(body)).encode() if name == b"content-length" else value)
                for name, value in scope["headers"]
            ]
        given = iter([{"type": "http.request", "body": body, "more_body": False}] if scope["method"] == "POST" else [])

        async def replay() -> Any:
            return next(given, None) or await receive()

        await app(scope, replay, send)

    return wrapped


def plain(status: int, body: bytes, kind: str = "text/plain", headers: dict[str, str] | None = None) -> App:
    """Make an app that answers everything alike."""

    async def app(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        given = {"content-type": kind, "content-length": str(len(body)), **(headers or {})}
        start = {"type": "http.response.start", "status": status}
        await send({**start, "headers": [(name.encode(), value.encode()) for name, value in given.items()]})
        await send({"type": "http.response.body", "body": body})

    return app


@contextmanager
def serving(app: Any, lifespan: Any = "auto", host: str = "127.0.0.1") -> Iterator[str]:
    """Serve an app on a port, in a thread, and lend its address."""
    sock = socket.create_server((host, 0))
    config = uvicorn.Config(
        app, log_level="critical", access_log=False, lifespan=lifespan, timeout_graceful_shutdown=1, loop="asyncio"
    )
    server = uvicorn.Server(config)
    started = threading.Event()
    startup = server.startup

    async def noted(*args: Any, **named: Any) -> None:
        await startup(*args, **named)
        started.set()

    server.startup = noted  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
    thread.start()
    try:
        assert started.wait(30)
        yield f"http://{host}:{sock.getsockname()[1]}"
    finally:
        server.force_exit = server.should_exit = True
        thread.join()
        sock.close()


@contextmanager
def raw_server(talk: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve bytes: `talk` gets each connection, after the head of the request was read, in a thread of its own."""
    listening = socket.create_server(("127.0.0.1", 0))
    connections: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def one(connection: socket.socket) -> None:
        try:
            head = b""
            while b"\r\n\r\n" not in head:
                part = connection.recv(65536)
                if not part:
                    return
                head += part
            talk(connection)
        except OSError:
            pass
        finally:
            connection.close()

    def accept() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            connections.append(connection)
            threads.append(threading.Thread(target=one, args=(connection,)))
            threads[-1].start()

    thread = threading.Thread(target=accept)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        thread.join()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for each in threads:
            each.join()


def rules_for(url: str) -> HostRules:
    """Return rules that let a server of this machine be called."""
    host = url.removeprefix("http://").partition("/")[0]
    return HostRules.of(CallSettings(call_hosts="", call_private_hosts=f"http://{host}"))
