"""Events of real requests through each door: who, what and how it ended, and nothing of what was said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.calling.model import CallFailed, Failure
from skillroute.core import observability
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.errors.model import DatabaseUnavailable

from tests.api.bad_tokens import KEYS, OURS, bearer
from tests.api.mcp_calls import call, headers, request
from tests.api.one_app import app_over
from tests.api.tokens import JWT, claims
from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes
from tests.worlds.calling import behind, callable_tool

SECRET = "hunter2-XYZZY"
TEXT = f"mail jo@example.org the password={SECRET}"
Lend = Callable[..., tuple[System, TestClient]]


@pytest.fixture
def lend(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[Lend]:
    """Return what lends a system that records events, and a client of it."""
    lent = []

    def make(**settings: Any) -> tuple[System, TestClient]:
        given = {"trace": "on", "receipts": "on", "calls": "both", **settings}
        context = lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), **given)
        system = context.__enter__()
        lent.append(context)
        behind(system)
        return system, TestClient(app_over(system), raise_server_exceptions=False)

    yield make
    for context in lent:
        context.__exit__(None, None, None)


def token(scope: str, org: str | None = "acme", **others: Any) -> list[tuple[str, str]]:
    return bearer(OURS.sign(claims(scope, org, **others)))


def events(system: System, *columns: str) -> list[Any]:
    assert system.parts.tracing.events is not None
    assert system.parts.tracing.events.flush()
    chosen = ", ".join(columns or ("kind", "outcome", "code", "door", "what"))
    return [tuple(row) for row in system.rows(f"SELECT {chosen} FROM mcp.trace ORDER BY at, id")]


def test_a_search_is_an_event_with_who_asked_how_long_it_took_and_its_ids(lend: Lend) -> None:
    system, client = lend(**JWT, jwt_keys=KEYS)
    answer = client.post("/api/v1/search", json={"query": TEXT}, headers=token("search"))
    [event] = events(system, "kind", "outcome", "door", "what", "org_id", "actor", "agent", "roles", "search_id::text",
                     "request_id", "bytes_in", "bytes_out", "took_ms > 0")  # fmt: skip
    assert event == (
        "search", "ok", "http", "POST /api/v1/search", "acme", "ann", "gardener", ["scope:search"],
        answer.json()["metadata"]["search_id"], answer.headers["X-Request-Id"], len(answer.request.content),
        len(answer.content), True,
    )  # fmt: skip


def test_searches_by_get_are_events_and_other_reads_are_none(lend: Lend) -> None:
    system, client = lend()
    found = client.get("/api/v1/search/tools?query=water")
    client.get("/api/v1/tools")
    client.get("/health")
    assert events(system, "what", "search_id::text") == [
        ("GET /api/v1/search/tools", found.headers["X-Search-Id"]),
    ]


def test_each_search_of_the_agents_door_is_an_event_and_nothing_else_that_reads(lend: Lend) -> None:
    system, client = lend()
    call(client, "search_tools", {"query": TEXT})
    call(client, "search_tools", {"quest": TEXT})
    call(client, "get_tool_details", {"id": 1})
    body = request("tools/list")
    client.post("/mcp", json=body, headers=headers(body))
    assert events(system) == [
        ("search", "ok", None, "mcp", "search_tools"),
        ("search", "failed", "tool_error", "mcp", "search_tools"),
    ]
    [with_id, without] = events(system, "search_id IS NOT NULL", "bytes_in > 0")
    assert (with_id, without) == ((True, True), (False, True))


def test_searches_of_a_batch_are_events_each(lend: Lend) -> None:
    system, client = lend()
    asked = [
        request("tools/call", {"name": name, "arguments": {"query": "water"}}, "2025-03-26")
        for name in ("search_tools", "search_skills", "get_tool_details")
    ]
    sent = headers(asked[0], "2025-03-26")
    assert client.post("/mcp", json=asked, headers=sent).status_code == 200
    assert events(system, "what", "bytes_in") == [("search_tools", None), ("search_skills", None)]


def test_a_change_is_an_event_with_its_target_before_its_answer_is_there(lend: Lend) -> None:
    system, client = lend()
    [tool] = system.put("send", description="Send.")
    client.patch(f"/api/v1/tools/{tool}", json={"is_active": False})
    client.delete("/api/v1/tools/987654")
    client.delete(f"/api/v1/tools/{'9' * 5000}")
    client.put("/api/v1/tools", json={"items": [{"name": "x", "description": TEXT}]})
    client.put("/api/v1/tools", json={"items": 7})
    assert events(system, "kind", "outcome", "code", "what", "targets") == [
        ("change", "ok", None, "PATCH /api/v1/tools/{item_id}", {"tool": tool}),
        ("change", "failed", "item_not_found", "DELETE /api/v1/tools/{item_id}", {"tool": 987654}),
        ("change", "failed", "invalid_request", "DELETE /api/v1/tools/{item_id}", {"tool": "9" * 200}),
        ("change", "ok", None, "PUT /api/v1/tools", {}),
        ("change", "failed", "invalid_request", "PUT /api/v1/tools", {}),
    ]


def test_a_change_that_is_only_tried_and_a_report_of_an_agent_are_no_events(lend: Lend) -> None:
    system, client = lend()
    body = {"items": [{"name": "x", "description": "X."}]}
    assert client.put("/api/v1/tools?dry_run=true", json=body).status_code == 200
    report = {"search_id": "6f2c1b0e-8f1d-4a51-9d59-0d6f4f2b7a10", "tool_id": 1, "outcome": "called"}
    assert client.post("/api/v1/feedback", json=report).status_code == 200
    assert events(system) == []


def test_a_refusal_is_an_event_of_reads_and_writes_alike(lend: Lend) -> None:
    system, client = lend(**JWT, jwt_keys=KEYS)
    [shared] = system.put("shared")
    assert client.get("/api/v1/export", headers=token("search")).status_code == 403
    assert client.delete(f"/api/v1/tools/{shared}", headers=token("catalog")).status_code == 403
    assert client.get("/api/v1/export").status_code == 401
    assert events(system, "kind", "outcome", "code", "what", "actor") == [
        ("refusal", "refused", "insufficient_scope", "GET /api/v1/export", "ann"),
        ("refusal", "refused", "global_item", "DELETE /api/v1/tools/{item_id}", "ann"),
    ]


def test_a_call_is_one_event_with_its_tool_and_server(lend: Lend) -> None:
    system, client = lend()
    servers, _ = behind(system)
    tool = callable_tool(system)
    call(client, "call_tool", {"id": tool, "arguments": {"text": TEXT}})
    servers.answers.append({"content": [{"type": "text", "text": TEXT}], "isError": True})
    call(client, "call_tool", {"id": tool})
    servers.answers.append(CallFailed(Failure.UNREACHABLE, "unreachable"))
    call(client, "call_tool_write", {"id": tool})
    call(client, "call_tool_read", {"id": tool})
    servers.answers.append(CallFailed(Failure.REFUSED_ADDRESS, "refused"))
    call(client, "call_tool", {"id": tool})
    call(client, "call_tool", {"id": tool + 1000})
    assert events(system) == [
        ("call", "ok", None, "mcp", "send"),
        ("call", "failed", "tool_error", "mcp", "send"),
        ("call", "failed", "unreachable", "mcp", "send"),
        ("refusal", "refused", "not_read_only", "mcp", "send"),
        ("refusal", "refused", "refused_address", "mcp", "send"),
        ("call", "failed", "not_found", "mcp", "call_tool"),
    ]
    first, *_ = events(system, "targets", "request_id IS NOT NULL", "bytes_in", "bytes_out > 20")
    assert first == ({"tool": tool, "server": "tools"}, True, len(json.dumps({"text": TEXT})), True)


def test_nothing_that_was_said_is_in_an_event(lend: Lend) -> None:
    system, client = lend(**JWT, jwt_keys=KEYS)
    tool = callable_tool(system, caller=of_org("acme"))
    admin = token("search catalog skills admin")
    secret_token = dict(admin)["authorization"].removeprefix("Bearer ")
    client.post("/api/v1/search", json={"query": TEXT}, headers=admin)
    client.get("/api/v1/search/tools", params={"query": TEXT}, headers=admin)
    client.put("/api/v1/tools", json={"items": [{"name": "x", "description": TEXT}]}, headers=admin)
    client.delete("/api/v1/learning/receipts", params={"caller": "jo@example.org"}, headers=admin)
    body = request("tools/call", {"name": "call_tool", "arguments": {"id": tool, "arguments": {"password": SECRET}}})
    client.post("/mcp", json=body, headers=[*headers(body).items(), *admin])
    rows = events(system, "trace::text")
    assert len(rows) == 5
    for [row] in rows:
        for word in (SECRET, "jo@example", "password", secret_token, secret_token.rpartition(".")[2]):
            assert word not in row


def test_arguments_are_there_where_a_setting_asks_for_them_without_secrets(lend: Lend) -> None:
    system, client = lend(trace_arguments=True)
    tool = callable_tool(system)
    call(client, "call_tool", {"id": tool, "arguments": {"city": "Rome", "password": SECRET}})
    call(client, "search_tools", {"query": f"water, password={SECRET}"})
    [of_call], [of_search] = events(system, "arguments")
    assert "Rome" in of_call and "water" in of_search
    assert SECRET not in of_call + of_search


def test_without_searches_changes_are_events_all_the_same_and_without_a_trace_none_is(lend: Lend) -> None:
    system, client = lend(trace="changes")
    client.post("/api/v1/search", json={"query": "water"})
    client.put("/api/v1/tools", json={"items": [{"name": "x", "description": "X."}]})
    assert events(system, "kind") == [("change",)]
    off, client = lend(trace="off")
    client.put("/api/v1/tools", json={"items": [{"name": "y", "description": "Y."}]})
    assert off.parts.tracing.events is None
    assert off.rows("SELECT count(*) FROM mcp.trace") == [[1]]


def test_an_event_that_cannot_be_written_is_counted_and_logged_and_the_answer_is_what_it_was(
    lend: Lend, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, client = lend()
    recorder = system.parts.tracing.events
    assert recorder is not None

    def refuse(_: object) -> None:
        raise DatabaseUnavailable("gone")

    monkeypatch.setattr(recorder, "_write", refuse)
    before = observability.counts().get("TraceLost", 0)
    answer = client.put("/api/v1/tools", json={"items": [{"name": "x", "description": "X."}]})
    assert (answer.status_code, "x" in answer.text) == (200, True)
    assert observability.counts()["TraceLost"] == before + 1
    [record] = [record for record in caplog.records if record.getMessage() == "trace lost"]
    assert (record.kind, record.what) == ("change", "PUT /api/v1/tools")  # type: ignore[attr-defined]


def test_an_unexpected_error_is_an_event_that_failed(lend: Lend, monkeypatch: pytest.MonkeyPatch) -> None:
    system, client = lend()
    monkeypatch.setattr(type(system.parts.catalogue.sync), "__call__", lambda *_, **__: 1 / 0)
    assert client.put("/api/v1/tools", json={"items": [{"name": "x", "description": "X."}]}).status_code == 500
    assert events(system, "outcome", "code") == [("failed", "internal_error")]


def test_the_trace_id_of_a_request_is_that_which_its_client_sent(lend: Lend) -> None:
    system, client = lend()
    ids = "0af7651916cd43dd8448eb211c80319c"
    for given in (f"00-{ids}-b7ad6b7169203331-01", "nonsense"):
        client.post("/api/v1/search", json={"query": "x"}, headers={"traceparent": given})
    assert events(system, "trace_id") == [(ids,), (None,)]
