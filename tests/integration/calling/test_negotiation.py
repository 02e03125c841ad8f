"""GIVEN servers that answer `server/discover` in their ways, WHEN a tool is called, THEN their revision is found."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest
from skillroute.calling.mcp_client.client import McpClient
from skillroute.calling.mcp_client.sessions import Sessions, key_of
from skillroute.calling.model import CallFailed, Endpoint, Failure, JsonObject, Limits
from skillroute.core.outbound.credentials import Credentials

from tests.integration.calling.servers import rules_for, serving

NONE = Credentials()
LIMITS = Limits(20.0, 100_000)
Answer = Callable[[JsonObject], tuple[int, Any] | None]
CHOSEN = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}


class Scripted:
    """A server whose answers to `server/discover` and `initialize` are given; it hangs where there is none."""

    def __init__(self, discover: Any, initialize: Any = (200, {"result": CHOSEN})) -> None:
        self.answers = {
            "server/discover": discover,
            "initialize": initialize,
            "tools/call": (200, {"result": {"content": []}}),
        }
        self.methods: list[str] = []
        self.left = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        message = json.loads((await receive())["body"])
        self.methods.append(message["method"])
        answer = self.answers.get(message["method"], (202, None))
        if answer is None:
            while (await receive())["type"] != "http.disconnect":
                pass
            self.left.set()
            return
        status, said = answer
        body = b"" if said is None else json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}).encode()
        headers = [(b"content-type", b"application/json"), (b"mcp-session-id", b"s-1")]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


def call(server: Scripted, limits: Limits = LIMITS) -> tuple[JsonObject, str]:
    """Call a tool, and return the answer and the revision that is remembered."""
    with serving(server, "off") as url:
        endpoint, sessions = Endpoint(url), Sessions()
        client = McpClient(rules_for(url), sessions=sessions)
        answer = asyncio.run(client.call(endpoint, "add", {}, credentials=NONE, limits=limits))
        spoken = sessions.get(key_of(endpoint, NONE))
        assert spoken is not None
        return answer, spoken.revision


def error(code: int, data: Any = None) -> JsonObject:
    return {"error": {"code": code, "message": "no", **({} if data is None else {"data": data})}}


def test_a_server_of_the_newest_revision_needs_no_handshake() -> None:
    server = Scripted((200, {"result": {"supportedVersions": ["2026-07-28"]}}))
    assert call(server) == ({"content": []}, "2026-07-28")
    assert server.methods == ["server/discover", "tools/call"]


@pytest.mark.parametrize(
    "discover",
    [
        (200, error(-32601)),
        (404, error(-32601)),
        (400, error(-32600)),
        (400, error(-32022, {"supported": ["2025-06-18"]})),
        (400, error(-32022)),
        (400, None),
        (404, None),
        (405, None),
        (500, None),
        (202, None),
        (200, {"result": {"supportedVersions": ["2025-06-18"]}}),
        (200, {"result": {}}),
    ],
)
def test_others_begin_with_a_handshake(discover: Any) -> None:
    server = Scripted(discover)
    assert call(server) == ({"content": []}, "2025-06-18")
    assert server.methods == ["server/discover", "initialize", "notifications/initialized", "tools/call"]


def test_a_server_that_hangs_on_what_it_does_not_know_is_left_for_the_handshake() -> None:
    server = Scripted(None)
    assert call(server, Limits(2.0, 100_000)) == ({"content": []}, "2025-06-18")


@pytest.mark.parametrize(
    ("server", "failure", "says"),
    [
        (Scripted((400, error(-32022, {"supported": ["2027-01-01"]}))), Failure.ERROR, "error -32022"),
        (Scripted((404, None), (200, {"result": {"protocolVersion": "2027-01-01"}})), Failure.PROTOCOL, "2027-01-01"),
        (Scripted((404, None), (200, {"result": {}})), Failure.PROTOCOL, "not spoken here"),
        (Scripted((404, None), (404, None)), Failure.ERROR, "status 404"),
        (Scripted((401, None)), Failure.UNAUTHORIZED, "does not accept the credentials"),
        (Scripted((302, None), (302, None)), Failure.PROTOCOL, "redirects"),
    ],
)
def test_a_server_that_cannot_be_spoken_with_is_named(server: Scripted, failure: Failure, says: str) -> None:
    with pytest.raises(CallFailed, match=says) as failed:
        call(server)
    assert failed.value.failure is failure


def test_a_handshake_that_hangs_ends_with_the_call() -> None:
    server = Scripted((404, None), None)
    with pytest.raises(CallFailed, match="did not answer within") as failed:
        call(server, Limits(0.5, 100_000))
    assert failed.value.failure is Failure.TIMEOUT
    assert server.left.wait(20)


def test_credentials_are_in_no_log_record_and_no_text(caplog: pytest.LogCaptureFixture) -> None:
    credentials = Credentials({"Authorization": "Bearer top-secret"}, "anna")
    assert "top-secret" not in repr(credentials)
    with caplog.at_level(logging.DEBUG), serving(Scripted((404, None), (400, None)), "off") as url:
        client = McpClient(rules_for(url))
        with pytest.raises(CallFailed) as failed:
            asyncio.run(client.call(Endpoint(url), "add", {}, credentials=credentials, limits=Limits(20.0, 100_000)))
    assert caplog.records
    assert not [record for record in caplog.records if "top-secret" in f"{record.getMessage()}{record.args}"]
    assert "top-secret" not in f"{failed.value!r}{failed.value}"
