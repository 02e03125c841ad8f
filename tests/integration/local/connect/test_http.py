"""Serving agents over HTTP: requests that do not come whole are not waited for, and idle sessions are forgotten."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest
from skillroute.core.embedding.port import Embedder
from skillroute_local.connect import serve
from skillroute_local.connect.front import Front
from skillroute_local.connect.serve import AgentServer, serve_http
from skillroute_local.http_in_time import RequestsInTime
from skillroute_local.loopback import listen

from tests.integration.local.mcp_servers.conftest import Stub

pytestmark = pytest.mark.anyio

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip
HEADERS = {"accept": "application/json, text/event-stream"}


@asynccontextmanager
async def serving(model: Embedder, stub: Stub, **options: Any) -> AsyncIterator[tuple[AgentServer, int]]:
    server = AgentServer(Front([stub("good")], model, len))
    with listen(0) as sock:
        async with anyio.create_task_group() as tasks:

            async def run() -> None:
                await serve_http(server, sock, **options)

            tasks.start_soon(run)
            yield server, sock.getsockname()[1]
            tasks.cancel_scope.cancel()


async def until(condition: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not condition():
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"POST /mcp HTT",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
        b"GET /nothing HTTP/1.1\r\nhost: localhost\r\n\r\nGET /noth",
    ],
)
async def test_a_request_that_does_not_come_whole_is_not_waited_for(
    model: Embedder, stub: Stub, monkeypatch: pytest.MonkeyPatch, half: bytes
) -> None:
    monkeypatch.setattr(RequestsInTime, "request_s", 0.3)
    async with serving(model, stub) as (_, port):
        stream = await anyio.connect_tcp("127.0.0.1", port)
        async with stream:
            if half:
                await stream.send(half)
            with anyio.fail_after(20), pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                while True:
                    await stream.receive()


async def test_an_answer_may_take_longer_than_a_request(
    model: Embedder, stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RequestsInTime, "request_s", 0.05)
    async with serving(model, stub) as (server, port), httpx.AsyncClient(headers=HEADERS) as client:

        async def tools() -> list[Any]:
            ends = anyio.current_time() + 4 * RequestsInTime.request_s
            await until(lambda: anyio.current_time() > ends)
            return []

        monkeypatch.setattr(server._front, "tools", tools)
        url = f"http://127.0.0.1:{port}/mcp"
        opened = await client.post(url, json=INITIALIZE)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        listed = await client.post(url, json=listing, headers=session, timeout=20)
        assert listed.status_code == 200


async def test_sessions_that_nobody_uses_are_forgotten(model: Embedder, stub: Stub) -> None:
    async with serving(model, stub, idle_s=0.2) as (server, port), httpx.AsyncClient(headers=HEADERS) as client:
        url = f"http://127.0.0.1:{port}/mcp"
        for _ in range(20):
            assert (await client.post(url, json=INITIALIZE)).status_code == 200
        sessions = server.mcp.session_manager._server_instances
        await until(lambda: not sessions)


async def test_there_are_only_so_many_sessions(model: Embedder, stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "_MAX_SESSIONS", 3)
    async with serving(model, stub) as (_, port), httpx.AsyncClient(headers=HEADERS) as client:
        url = f"http://127.0.0.1:{port}/mcp"
        statuses = [(await client.post(url, json=INITIALIZE)).status_code for _ in range(5)]
        assert statuses == [200, 200, 200, 503, 503]
