"""MCP servers that calls are measured against, good ones of the official SDK and some that misbehave, on one port.

    python -m benchmarks.standing.call_servers 3999

The path names the server: ``/mcp`` (revision 2026-07-28), ``/handshake/mcp`` (2025-11-25, with sessions), and `BAD`,
which greet as a server should and misbehave where a tool is called. Every tool is ``echo(nonce)``.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn
from mcp.server.mcpserver import MCPServer

BAD = ("hanging", "dying", "flooding", "dripping")
GOOD = ("good", "handshake")
PATHS = {"good": "/mcp", "handshake": "/handshake/mcp", **{name: f"/{name}/mcp" for name in BAD}}

_DRIP_S = 0.1
_FLOOD = b" " * 65_536

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]


def good_server() -> MCPServer[Any]:
    """Make a server whose tool answers with what it was sent."""
    server: MCPServer[Any] = MCPServer("echo", log_level="CRITICAL")

    @server.tool()
    def echo(nonce: str) -> str:
        """Repeat the nonce."""
        return nonce

    return server


async def misbehaviour(name: str, nonce: str) -> AsyncIterator[bytes]:
    """Yield the body of an answer, which begins with the nonce and has no end that can be read."""
    yield json.dumps({"nonce": nonce}).removesuffix("}").encode() + b', "more": ['
    if name == "dying":
        raise ConnectionAbortedError
    if name == "hanging":
        await asyncio.Event().wait()
    while True:
        if name == "dripping":
            await asyncio.sleep(_DRIP_S)
        yield b" " if name == "dripping" else _FLOOD


async def notices() -> AsyncIterator[bytes]:
    """Yield events without an end, none of which is the answer."""
    for number in itertools.count():
        params = {"progressToken": 1, "progress": number, "message": "x" * 10_000}
        notice = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        yield b"data: " + json.dumps(notice).encode() + b"\n\n"


def servers() -> App:
    """Return all of them as one app."""
    sdk = good_server().streamable_http_app()

    async def app(scope: Scope, receive: Any, send: Any) -> None:
        name = scope.get("path", "").split("/")[1] if scope["type"] == "http" else ""
        if name in BAD:
            await _bad(name, receive, send)
        elif name == "handshake":
            await _shaken(sdk, dict(scope, path="/mcp", raw_path=b"/mcp"), receive, send)
        else:
            await sdk(scope, receive, send)

    return app


async def _bad(name: str, receive: Any, send: Any) -> None:
    message = json.loads(await _body(receive) or b"{}")
    if message.get("method") == "tools/call":
        nonce = message["params"]["arguments"]["nonce"]
        as_events = name == "flooding" and int(nonce[-1], 16) % 2 == 0
        body = notices() if as_events else misbehaviour(name, nonce)
        await _until_gone(body, "text/event-stream" if as_events else "application/json", receive, send)
        return
    found = {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "serverInfo": {"name": name, "version": "1"},
        "resultType": "complete",
    }
    await _start(200, "application/json", send)
    answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": found}
    await send({"type": "http.response.body", "body": json.dumps(answer).encode()})


async def _until_gone(body: AsyncIterator[bytes], kind: str, receive: Any, send: Any) -> None:
    """Send a body until its reader goes."""

    async def sending() -> None:
        await _start(200, kind, send)
        async for part in body:
            await send({"type": "http.response.body", "body": part, "more_body": True})
            await asyncio.sleep(0)

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    tasks = [asyncio.create_task(sending()), asyncio.create_task(gone())]
    done, left = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in left:
        task.cancel()
    for task in done:
        task.result()


async def _shaken(sdk: App, scope: Scope, receive: Any, send: Any) -> None:
    """Answer as a server that knows no revision without a handshake."""
    if scope["method"] != "POST":
        await sdk(scope, receive, send)
        return
    body = await _body(receive)
    if json.loads(body).get("method") == "server/discover":
        await _start(400, "text/plain", send)
        await send({"type": "http.response.body", "body": b"Unsupported protocol version"})
        return
    given = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def replay() -> Any:
        return next(given, None) or await receive()

    await sdk(scope, replay, send)


async def _body(receive: Any) -> bytes:
    body, more = b"", True
    while more:
        event = await receive()
        body, more = body + event.get("body", b""), event.get("more_body", False)
    return body


async def _start(status: int, kind: str, send: Any) -> None:
    headers = [(b"content-type", kind.encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("port", type=int)
    logging.disable(logging.CRITICAL)  # a server that dies says so each time
    uvicorn.run(servers(), port=parser.parse_args().port, log_level="critical", access_log=False)


if __name__ == "__main__":
    main()
