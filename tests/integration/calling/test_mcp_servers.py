"""GIVEN servers of the official SDK, of each revision and transport, WHEN their tools are called, THEN answers come."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from skillroute.calling.mcp_client.client import McpClient
from skillroute.calling.mcp_client.sessions import Sessions, Spoken, key_of
from skillroute.calling.model import CallFailed, Endpoint, Failure, JsonObject, Limits
from skillroute.core.outbound.credentials import Credentials

from tests.integration.calling.servers import Seen, of_revision, plain, rules_for, sdk_server, serving

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", None]
LIMITS = Limits(20.0, 1_000_000)
NONE = Credentials()


class Served:
    """A server and a client of it."""

    def __init__(self, url: str, transport: str, seen: Seen) -> None:
        self.endpoint = Endpoint(url, transport)  # type: ignore[arg-type]
        self.seen = seen
        self.sessions = Sessions()
        self.client = McpClient(rules_for(url), sessions=self.sessions)

    def call(self, name: str, arguments: JsonObject, limits: Limits = LIMITS, **more: Any) -> JsonObject:
        credentials = more.pop("credentials", NONE)
        return asyncio.run(
            self.client.call(self.endpoint, name, arguments, credentials=credentials, limits=limits, **more)
        )


@contextmanager
def served(revision: str | None, *, json_response: bool = False, stateless: bool = False) -> Iterator[Served]:
    seen = Seen()
    app = sdk_server(seen).streamable_http_app(json_response=json_response, stateless_http=stateless)
    with serving(of_revision(app, revision, seen)) as url:
        yield Served(f"{url}/mcp", "streamable-http", seen)


@contextmanager
def served_over_sse(revision: str | None = None) -> Iterator[Served]:
    seen = Seen()
    with serving(of_revision(sdk_server(seen).sse_app(), revision, seen)) as url:
        yield Served(f"{url}/sse", "sse", seen)


@pytest.mark.parametrize("json_response", [False, True], ids=["events", "json"])
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_tool_answers_in_each_revision(revision: str | None, json_response: bool) -> None:
    with served(revision, json_response=json_response) as server:
        answer = server.call("add", {"a": 2, "b": 3})
        assert answer["structuredContent"] == {"total": 5}
        assert answer["content"][0]["type"] == "text"
        assert not answer.get("isError")
        again = server.call("add", {"a": 20, "b": 3})
        assert again["structuredContent"] == {"total": 23}
        shaken = ["initialize", "notifications/initialized"] if revision else []
        assert server.seen.methods() == ["server/discover", *shaken, "tools/call", "tools/call"]
        headers = server.seen.headers("tools/call")
        assert headers.get("mcp-protocol-version") == (
            None if revision in {"2024-11-05", "2025-03-26"} else revision or "2026-07-28"
        )
        assert headers.get("mcp-name") == (None if revision else "add")
        assert ("mcp-session-id" in headers) is bool(revision)


@pytest.mark.parametrize("revision", [*REVISIONS[:-1]])
def test_a_tool_answers_over_the_old_transport(revision: str) -> None:
    with served_over_sse(revision) as server:
        assert server.call("add", {"a": 2, "b": 3})["structuredContent"] == {"total": 5}


@pytest.mark.parametrize("revision", ["2025-11-25", None])
def test_a_server_without_sessions_answers(revision: str | None) -> None:
    with served(revision, stateless=True) as server:
        assert server.call("add", {"a": 2, "b": 3})["structuredContent"] == {"total": 5}


@pytest.mark.parametrize("revision", [*REVISIONS, "sse"])
def test_an_error_of_a_tool_is_an_answer_and_one_of_the_protocol_is_not(revision: str | None) -> None:
    with served_over_sse() if revision == "sse" else served(revision) as server:
        answer = server.call("fail", {})
        assert answer["isError"] is True
        assert "no such table" in answer["content"][0]["text"]
        with pytest.raises(CallFailed) as failed:
            asyncio.run(server.client.call(server.endpoint, "add", [], credentials=NONE, limits=LIMITS))  # type: ignore[arg-type]
        assert failed.value.failure is Failure.ERROR
        assert failed.value.code == -32602
        assert str(failed.value).startswith("127.0.0.1 answers with error -32602: ")


@pytest.mark.parametrize("revision", [*REVISIONS, "sse"])
def test_progress_is_passed_on(revision: str | None) -> None:
    heard: list[tuple[float, float | None, str | None]] = []
    with served_over_sse() if revision == "sse" else served(revision) as server:
        answer = server.call("count", {"to": 3}, progress=lambda *steps: heard.append(steps))
        assert answer["content"] == [{"type": "text", "text": "3"}]
    assert [steps[:2] for steps in heard] == [(1.0, 3.0), (2.0, 3.0), (3.0, 3.0)]
    assert heard[0][2] == "number 1"


@pytest.mark.parametrize("revision", ["2025-03-26", "2025-11-25", "sse"])
def test_a_server_that_asks_back_is_answered(revision: str) -> None:
    with served_over_sse() if revision == "sse" else served(revision) as server:
        answer = server.call("ask_back", {})
        assert answer["content"][0]["text"].startswith("declined: ")


@pytest.mark.parametrize("revision", [*REVISIONS, "sse"])
def test_the_tools_are_listed(revision: str | None) -> None:
    with served_over_sse() if revision == "sse" else served(revision) as server:
        tools = asyncio.run(server.client.list_tools(server.endpoint, credentials=NONE, limits=LIMITS))
        assert [tool["name"] for tool in tools] == ["add", "measure", "fail", "count", "hang", "ask_back"]
        assert tools[0]["inputSchema"]["required"] == ["a", "b"]


@pytest.mark.parametrize("revision", [*REVISIONS, "sse"])
def test_a_server_sees_that_a_call_is_cancelled(revision: str | None) -> None:
    with served_over_sse() if revision == "sse" else served(revision) as server:

        async def run() -> None:
            call = server.client.call(server.endpoint, "hang", {}, credentials=NONE, limits=LIMITS)
            task = asyncio.ensure_future(call)
            await asyncio.to_thread(server.seen.begun.wait, 20)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(run())
        assert server.seen.cancelled.wait(20)


@pytest.mark.parametrize("revision", ["2025-11-25", None, "sse"])
def test_a_server_sees_that_the_time_of_a_call_is_up(revision: str | None) -> None:
    with served_over_sse() if revision == "sse" else served(revision) as server:
        server.call("add", {"a": 1, "b": 1})
        with pytest.raises(CallFailed, match=r"^127\.0\.0\.1 did not answer within 1 s$") as failed:
            server.call("hang", {}, Limits(1.0, 1_000_000))
        assert failed.value.failure is Failure.TIMEOUT
        assert server.seen.cancelled.wait(20)


def test_a_lost_session_begins_anew() -> None:
    with served("2025-11-25") as server:
        server.call("add", {"a": 1, "b": 1})
        key = key_of(server.endpoint, NONE)
        server.sessions.put(key, Spoken("2025-11-25", "of-a-server-that-was-restarted"))
        assert server.call("add", {"a": 1, "b": 1})["structuredContent"] == {"total": 2}
        assert server.seen.methods().count("initialize") == 2
        assert server.seen.calls == 2


def test_arguments_are_repeated_in_headers_where_the_tool_wants_it() -> None:
    with served(None) as server:
        for region in ("eu", "\u00fcber all"):
            assert server.call("measure", {"region": region})["content"][0]["text"] == region
        assert server.seen.headers("tools/call")["mcp-param-region"] == "=?base64?w7xiZXIgYWxs?="
        assert server.seen.calls == 2
        # It was refused once, and then its schema was read.
        assert server.seen.methods() == ["server/discover", *("tools/call", "tools/list", "tools/call"), "tools/call"]


def test_a_server_that_speaks_an_older_revision_since_is_asked_anew() -> None:
    with served("2025-06-18") as server:
        key = key_of(server.endpoint, NONE)
        server.sessions.put(key, Spoken("2025-06-18"))
        with pytest.raises(CallFailed) as failed:
            server.call("add", {"a": 1, "b": 1})
        assert failed.value.failure is Failure.ERROR
        assert server.call("add", {"a": 1, "b": 1})["structuredContent"] == {"total": 2}


def test_callers_share_no_session() -> None:
    with served("2025-11-25") as server:
        for key, token in (("anna", "a"), ("ben", "b"), ("anna", "a")):
            credentials = Credentials({"Authorization": f"Bearer {token}"}, key)
            server.call("add", {"a": 1, "b": 1}, credentials=credentials)
        sent = [headers for _, method, headers in server.seen.requests if method == "tools/call"]
        assert [each["authorization"] for each in sent] == ["Bearer a", "Bearer b", "Bearer a"]
        first, other, again = [each["mcp-session-id"] for each in sent]
        assert first == again != other


def test_calls_side_by_side_get_their_own_answers() -> None:
    with served("2025-11-25") as server:

        async def run() -> list[int]:
            calls = [
                server.client.call(server.endpoint, "add", {"a": number, "b": 1}, credentials=NONE, limits=LIMITS)
                for number in range(10)
            ]
            return [answer["structuredContent"]["total"] for answer in await asyncio.gather(*calls)]

        assert asyncio.run(run()) == list(range(1, 11))


@pytest.mark.parametrize("transport", ["streamable-http", "sse"])
@pytest.mark.parametrize(("status", "failure"), [(401, Failure.UNAUTHORIZED), (403, Failure.FORBIDDEN)])
def test_refused_credentials_come_with_the_challenge(status: int, failure: Failure, transport: str) -> None:
    challenge = 'Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource"'
    with serving(plain(status, b"no", headers={"www-authenticate": challenge}), "off") as url:
        with pytest.raises(CallFailed) as failed:
            Served(url, transport, Seen()).call("add", {})
        assert (failed.value.failure, failed.value.challenge, failed.value.code) == (failure, challenge, status)


@pytest.mark.parametrize("transport", ["streamable-http", "sse"])
def test_a_redirect_is_named_and_not_followed(transport: str) -> None:
    seen = Seen()
    app = of_revision(plain(307, b"", headers={"location": "/other?token=x"}), None, seen)
    with serving(app, "off") as url:
        with pytest.raises(CallFailed, match=r"redirects to /other, which is not followed") as failed:
            Served(url, transport, Seen()).call("add", {})
        assert failed.value.failure is Failure.PROTOCOL


def test_an_address_that_is_not_allowed_is_refused() -> None:
    client = McpClient(rules_for("http://127.0.0.1:1"))
    for url in ("http://127.0.0.1:2/mcp", "https://localhost/mcp", "https://169.254.169.254/", "nonsense"):
        with pytest.raises(CallFailed) as failed:
            asyncio.run(client.call(Endpoint(url), "add", {}, credentials=NONE, limits=LIMITS))
        assert failed.value.failure is Failure.REFUSED_ADDRESS


@pytest.mark.parametrize("name", ["Host", "Mcp-Session-Id", "Content-Length", "Transfer-Encoding", "X-A\r\nB"])
def test_credentials_cannot_set_the_headers_of_the_request(name: str) -> None:
    client = McpClient(rules_for("http://127.0.0.1:1"))
    credentials = Credentials({name: "secret"})
    with pytest.raises(CallFailed, match="header that cannot be sent") as failed:
        asyncio.run(client.call(Endpoint("http://127.0.0.1:1/"), "add", {}, credentials=credentials, limits=LIMITS))
    assert "secret" not in str(failed.value)
