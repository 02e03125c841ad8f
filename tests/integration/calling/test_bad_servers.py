"""GIVEN servers that hang, die, flood or lie, WHEN a tool is called, THEN the call ends within its limits.

Servers answer bytes as the cases have them, to each request alike.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from skillroute.calling.mcp_client.client import McpClient
from skillroute.calling.mcp_client.sessions import Sessions, Spoken, key_of
from skillroute.calling.model import CallFailed, Endpoint, Failure, JsonObject, Limits
from skillroute.core.outbound.credentials import Credentials

from tests.integration.calling.servers import plain, raw_server, rules_for, serving

LIMITS = Limits(0.5, 50_000)
NONE = Credentials()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n"
JSON, EVENTS = HEAD % b"application/json", HEAD % b"text/event-stream"

Talk = Callable[[socket.socket], None]


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def send(*parts: bytes) -> Talk:
    """Send parts, and then hang until the client goes."""

    def talk(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
        while connection.recv(65536):
            pass

    return talk


def die(*parts: bytes) -> Talk:
    """Send parts, and hang up."""

    def talk(connection: socket.socket) -> None:
        for part in parts:
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass

    return talk


def flood(head: bytes, part: bytes) -> Talk:
    """Send the same part until the client goes."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(part)

    return talk


def drip(head: bytes, part: bytes) -> Talk:
    """Send a part now and then, so that no read takes long."""

    def talk(connection: socket.socket) -> None:
        connection.sendall(head)
        connection.settimeout(0.02)
        while True:
            connection.sendall(part)
            try:
                if not connection.recv(65536):
                    return
            except TimeoutError:
                pass

    return talk


def event(message: Any) -> bytes:
    return chunk(b"data: " + json.dumps(message).encode() + b"\n\n")


NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
MANY = b"HTTP/1.1 200 OK\r\n" + b"X-Many: 1\r\n" * 100_000 + b"\r\n"

CASES: dict[str, tuple[Talk, Failure]] = {
    "nothing comes": (send(), Failure.TIMEOUT),
    "half a head": (send(b"HTTP/1.1 200 OK\r\nContent-"), Failure.TIMEOUT),
    "hangs in a body": (send(JSON, chunk(b"{")), Failure.TIMEOUT),
    "hangs in events": (send(EVENTS, event(NOTE)), Failure.TIMEOUT),
    "drips a body": (drip(JSON, chunk(b" ")), Failure.TIMEOUT),
    "drips events": (drip(EVENTS, event(PROGRESS)), Failure.TIMEOUT),
    "drips comments": (drip(EVENTS, chunk(b": \n\n")), Failure.TIMEOUT),
    "drips a head": (drip(b"HTTP/1.1 200 OK\r\nX-A: ", b"a"), Failure.TIMEOUT),
    "drips early hints": (drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"), Failure.TIMEOUT),
    "hangs up at once": (die(), Failure.PROTOCOL),
    "hangs up in a body": (die(JSON, chunk(b"{")), Failure.PROTOCOL),
    "hangs up in events": (die(EVENTS, event(NOTE)), Failure.PROTOCOL),
    "ends its events": (die(EVENTS, event(NOTE), b"0\r\n\r\n"), Failure.PROTOCOL),
    "floods a body": (flood(JSON, chunk(b" " * 1000)), Failure.TOO_LARGE),
    "floods events": (flood(EVENTS, event(NOTE)), Failure.TOO_LARGE),
    "floods one line": (flood(EVENTS, chunk(b"data: " + b"x" * 1000)), Failure.TOO_LARGE),
    "floods empty lines": (flood(EVENTS, chunk(b"\n" * 1000)), Failure.TOO_LARGE),
    "floods a head": (flood(b"HTTP/1.1 200 OK\r\nX-A: ", b"a" * 1000), Failure.PROTOCOL),
    "floods headers": (die(MANY), Failure.PROTOCOL),
    "announces too much": (send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n"),
                           Failure.TOO_LARGE),
    "answers compressed": (send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n"
                                b"Content-Length: 2\r\n\r\nxx"), Failure.PROTOCOL),
    "answers no HTTP": (die(b"SSH-2.0-OpenSSH_9.6\r\n"), Failure.PROTOCOL),
}  # fmt: skip


def call(
    url: str, limits: Limits = LIMITS, spoken: Spoken | None = None, transport: str = "streamable-http"
) -> JsonObject:
    endpoint = Endpoint(f"{url}/mcp", transport)  # type: ignore[arg-type]
    sessions = Sessions()
    if spoken:
        sessions.put(key_of(endpoint, NONE), spoken)
    client = McpClient(rules_for(url), sessions=sessions)
    return asyncio.run(client.call(endpoint, "add", {}, credentials=NONE, limits=limits, progress=lambda *_: None))


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28", "unknown", "sse"])
@pytest.mark.parametrize("case", CASES)
def test_a_call_ends_within_its_limits(case: str, revision: str) -> None:
    talk, failure = CASES[case]
    began = time.monotonic()
    with raw_server(talk) as url, pytest.raises(CallFailed) as failed:
        spoken = None if revision in {"unknown", "sse"} else Spoken(revision)
        call(url, spoken=spoken, transport="sse" if revision == "sse" else "streamable-http")
    # One second is for the answer, and one for telling the server; the rest is a machine that is busy.
    assert time.monotonic() - began < 10
    if revision in {"2025-11-25", "2026-07-28"}:
        assert failed.value.failure is failure
    assert "127.0.0.1" in str(failed.value)
    assert len(str(failed.value)) < 400


@pytest.mark.parametrize(
    ("status", "kind", "body", "failure", "says"),
    [
        (200, "text/html", b"<html>", Failure.PROTOCOL, "answers with text/html"),
        (202, "application/json", b"", Failure.PROTOCOL, "answers with nothing"),
        (200, "application/json", b"{", Failure.PROTOCOL, "not JSON"),
        (200, "application/json", b"\xff", Failure.PROTOCOL, "not JSON"),
        (200, "application/json", b"NaN", Failure.PROTOCOL, "not JSON"),
        (200, "application/json", b"[" * 40_000, Failure.PROTOCOL, "not JSON"),
        (200, "application/json", b"[1]", Failure.PROTOCOL, "no message"),
        (200, "application/json", b'{"jsonrpc":"2.0","id":999,"result":{}}', Failure.PROTOCOL, "no answer"),
        (200, "application/json", b'{"jsonrpc":"2.0","id":1,"result":[]}', Failure.PROTOCOL, "neither a result"),
        (200, "application/json", b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required"}}',
         Failure.PROTOCOL, "asks for input"),
        (200, "application/json", b'{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"a\\nb"}}',
         Failure.ERROR, "error -32603: a b"),
        (400, "application/json", b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"bad"}}',
         Failure.ERROR, "error -32600: bad"),
        (500, "text/plain", b"x" * 5000, Failure.ERROR, "status 500: xxx"),
        (503, "text/plain", b"", Failure.ERROR, "status 503"),
        (304, "text/plain", b"", Failure.PROTOCOL, "redirects"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_what_is_no_answer_is_named(
    revision: str, status: int, kind: str, body: bytes, failure: Failure, says: str
) -> None:
    with serving(plain(status, body, kind), "off") as url, pytest.raises(CallFailed, match=says) as failed:
        call(url, Limits(20.0, 50_000), Spoken(revision))
    assert failed.value.failure is failure
    assert len(str(failed.value)) < 300


def test_a_server_that_is_not_there_cannot_be_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(CallFailed, match=r"^127\.0\.0\.1 cannot be reached$") as failed:
        call(f"http://127.0.0.1:{port}")
    assert failed.value.failure is Failure.UNREACHABLE


@contextmanager
def scripted(answer: Callable[[JsonObject, list[JsonObject]], bytes]) -> Iterator[tuple[str, list[JsonObject]]]:
    """Serve what `answer` makes of each message, the heads included; lends what came."""
    came: list[JsonObject] = []
    lock = threading.Lock()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        message = json.loads(body)
        with lock:
            came.append(message)
            said = answer(message, came)
        kind = b"text/event-stream" if said else b"application/json"
        status = 200 if said else 202
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": said})

    with serving(app, "off") as url:
        yield url, came


def test_a_ping_is_answered_and_a_request_of_the_user_is_refused() -> None:
    def answer(message: JsonObject, came: list[JsonObject]) -> bytes:
        if message.get("method") != "tools/call":
            return b""
        asked = {"jsonrpc": "2.0", "id": "s-1", "method": "sampling/createMessage", "params": {}}
        done = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}}
        return b"".join(b"data: %s\r\n\r\n" % json.dumps(each).encode() for each in (PING, asked, done))

    with scripted(answer) as (url, came):
        assert call(url, spoken=Spoken("2025-11-25", "s")) == {"content": []}
    assert came[1] == {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert came[2]["id"] == "s-1"
    assert came[2]["error"]["code"] == -32601


def test_a_server_that_asks_without_end_is_left() -> None:
    def answer(message: JsonObject, came: list[JsonObject]) -> bytes:
        if message.get("method") != "tools/call":
            return b""
        return b"".join(b"data: %s\n\n" % json.dumps({**PING, "id": number}).encode() for number in range(500))

    with scripted(answer) as (url, came), pytest.raises(CallFailed, match="too many messages") as failed:
        call(url, Limits(20.0, 50_000), spoken=Spoken("2025-11-25", "s"))
    assert failed.value.failure is Failure.TOO_LARGE
    assert len(came) == 102  # the call, 100 answers, and that the call is cancelled
    assert came[-1]["method"] == "notifications/cancelled"


def listed(pages: Callable[[JsonObject], JsonObject]) -> int:
    def answer(message: JsonObject, came: list[JsonObject]) -> bytes:
        result = {"jsonrpc": "2.0", "id": message.get("id"), "result": pages(message["params"])}
        return b"data: %s\n\n" % json.dumps(result).encode()

    with scripted(answer) as (url, _):
        endpoint = Endpoint(url)
        sessions = Sessions()
        sessions.put(key_of(endpoint, NONE), Spoken("2026-07-28"))
        client = McpClient(rules_for(url), sessions=sessions)
        return len(asyncio.run(client.list_tools(endpoint, credentials=NONE, limits=Limits(30.0, 5_000_000))))


def test_pages_are_followed_to_their_end() -> None:
    def pages(params: JsonObject) -> JsonObject:
        number = int(params.get("cursor", 0))
        return {"tools": [{"name": str(number)}]} | ({"nextCursor": str(number + 1)} if number < 9 else {})

    assert listed(pages) == 10


@pytest.mark.parametrize(
    ("pages", "says"),
    [
        (lambda params: {"tools": [], "nextCursor": "same"}, "again and again"),
        (lambda params: {"tools": [], "nextCursor": str(int(params.get("cursor", 0)) + 1)}, "more than 50 pages"),
        (lambda params: {"tools": [{}] * 5001}, "more than 5,000 tools"),
        (lambda params: {"tools": "none"}, "other than as a list"),
    ],
)
def test_a_list_without_end_is_left(pages: Callable[[JsonObject], JsonObject], says: str) -> None:
    with pytest.raises(CallFailed, match=says):
        listed(pages)


@pytest.mark.parametrize(
    "named", ["http://127.0.0.1:1/messages", "//localhost/messages", "https://a.example/", "http://u:p@127.0.0.1/"]
)
def test_an_endpoint_of_another_origin_is_not_called(named: str) -> None:
    stream = send(EVENTS, chunk(b"event: endpoint\ndata: %s\n\n" % named.encode()))
    with raw_server(stream) as url, pytest.raises(CallFailed, match="another origin"):
        call(url, transport="sse")
