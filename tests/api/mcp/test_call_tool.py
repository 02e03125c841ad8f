"""Calling tools of other servers through the agents' door, in every revision."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.calling.model import JsonObject, Progress
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.mcp_calls import HANDSHAKE, REVISIONS, STATELESS, ask, call, headers, request, result
from tests.api.one_app import app_over
from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes
from tests.worlds.calling import DONE, ScriptedServers, behind, callable_tool

GREETING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}


@pytest.fixture(params=["both"])
def calling(request: pytest.FixtureRequest, database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), calls=request.param) as system:
        yield system


@pytest.fixture
def servers(calling: System) -> ScriptedServers:
    return behind(calling)[0]


@pytest.fixture
def door(calling: System) -> TestClient:
    return TestClient(app_over(calling), raise_server_exceptions=False)


def listed(client: TestClient, revision: str = STATELESS) -> dict[str, Any]:
    return {tool["name"]: tool for tool in result(client, "tools/list", None, revision)["tools"]}


@pytest.mark.parametrize(
    ("calling", "names"),
    [
        ("off", []),
        ("one", ["call_tool"]),
        ("split", ["call_tool_read", "call_tool_write"]),
        ("both", ["call_tool", "call_tool_read", "call_tool_write"]),
    ],
    indirect=["calling"],
)
def test_the_setting_says_in_which_forms_calls_are_offered(door: TestClient, names: list[str]) -> None:
    found = listed(door)
    assert [name for name in found if name.startswith("call_tool")] == names
    for name in names:
        assert found[name]["annotations"]["readOnlyHint"] is (name == "call_tool_read")
        assert "outputSchema" not in found[name]


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_tool_is_called_and_its_answer_passed_on(
    calling: System, servers: ScriptedServers, door: TestClient, revision: str
) -> None:
    id_ = callable_tool(calling)
    found = call(door, "call_tool", {"id": id_, "arguments": {"to": "ann"}}, revision)
    assert found["content"] == DONE["content"]
    assert found.get("structuredContent") == (None if revision == "2025-03-26" else {"done": True})
    assert servers.asked[0].arguments == {"to": "ann"}


def test_the_answer_of_a_search_says_how_what_is_found_is_called(calling: System, door: TestClient) -> None:
    callable_tool(calling, description="Send a mail.")
    found = call(door, "search_tools", {"query": "send a mail"})["structuredContent"]
    assert found["how_to_call"] == "By call_tool or call_tool_read or call_tool_write with the id."


def test_a_model_that_calls_a_found_tool_by_its_name_is_shown_how(calling: System, door: TestClient) -> None:
    id_ = callable_tool(calling)
    [content] = call(door, "send", {"to": "ann"})["content"]
    assert f"with its id ({id_})" in content["text"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "id is required"),
        ({"id": 0}, "id must be"),
        ({"id": "send"}, "id must be"),
        ({"id": 1, "arguments": "to=ann"}, "arguments"),
        ({"id": 1, "argument": {}}, "id stands next to arguments"),
        ({"id": 1, "argument": {}, "arguments": {}}, "did you mean arguments?"),
        ({"arguments": {"id": 1, "minutes": 3}}, "id stands next to arguments"),
        ({"id": 1, "minutes": 3}, "id stands next to arguments"),
    ],
)
def test_what_is_wrong_with_a_call_is_said(
    calling: System, servers: ScriptedServers, door: TestClient, arguments: JsonObject, reason: str
) -> None:
    found = call(door, "call_tool", arguments)
    assert found["isError"] is True
    assert reason in found["content"][0]["text"]
    assert servers.asked == []


def test_arguments_that_are_the_text_of_an_object_are_taken_for_it(
    calling: System, servers: ScriptedServers, door: TestClient
) -> None:
    call(door, "call_tool", {"id": callable_tool(calling), "arguments": '{"minutes": 3}'})
    assert servers.asked[0].arguments == {"minutes": 3}


def test_content_that_a_revision_does_not_know_is_text_for_it(
    calling: System, servers: ScriptedServers, door: TestClient
) -> None:
    id_ = callable_tool(calling)
    link = {"type": "resource_link", "uri": "file:///a.txt", "name": "a"}
    for revision in ("2025-03-26", "2025-06-18"):
        servers.answers.append({"content": [link]})
        [content] = call(door, "call_tool", {"id": id_}, revision)["content"]
        assert content == (
            link if revision == "2025-06-18" else {"type": "text", "text": json.dumps(link, separators=(",", ":"))}
        )


@pytest.mark.parametrize("revision", REVISIONS)
def test_who_must_log_in_is_given_a_link_by_the_name_that_this_server_was_asked_by(
    calling: System, door: TestClient, revision: str
) -> None:
    behind(calling)[1].tokens[None] = []
    found = call(door, "call_tool", {"id": callable_tool(calling)}, revision)
    assert found["isError"] is True
    assert f": {door.base_url}/log-in/" in found["content"][0]["text"]


def test_an_answer_that_is_too_large_to_be_sent_is_none(
    calling: System, servers: ScriptedServers, door: TestClient
) -> None:
    servers.answers.append({"content": [{"type": "text", "text": '"' * 3_200_000}]})
    found = call(door, "call_tool", {"id": callable_tool(calling)})
    assert found["isError"] is True
    assert "too large" in found["content"][0]["text"]


async def _slowly(progress: Progress | None) -> JsonObject:
    if progress is not None:
        progress(1, 2, "half")
        progress(2, None, None)
    return DONE


@pytest.mark.parametrize("revision", REVISIONS)
def test_progress_is_passed_on_before_the_answer(
    calling: System, servers: ScriptedServers, door: TestClient, revision: str
) -> None:
    servers.answers.append(_slowly)
    body = request("tools/call", {"name": "call_tool", "arguments": {"id": callable_tool(calling)}}, revision)
    body["params"]["_meta"] = {**body["params"].get("_meta", {}), "progressToken": "p"}
    response = door.post("/mcp", json=body, headers=headers(body, revision))
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    first, second, last = [json.loads(event.partition("data: ")[2]) for event in response.text.split("\n\n") if event]
    assert first["method"] == second["method"] == "notifications/progress"
    assert first["params"] == {"progressToken": "p", "progress": 1, "total": 2, "message": "half"}
    assert second["params"] == {"progressToken": "p", "progress": 2}
    assert last["id"] == body["id"]
    assert last["result"]["content"] == DONE["content"]


@pytest.mark.parametrize("accept", ["application/json", "application/json, text/event-stream"])
def test_without_a_token_or_a_stream_the_answer_is_plain(
    calling: System, servers: ScriptedServers, door: TestClient, accept: str
) -> None:
    servers.answers.append(_slowly)
    body = request("tools/call", {"name": "call_tool", "arguments": {"id": callable_tool(calling)}})
    if "stream" not in accept:
        body["params"]["_meta"] = {**body["params"]["_meta"], "progressToken": 7}
    response = door.post("/mcp", json=body, headers=headers(body) | {"accept": accept})
    assert response.json()["result"]["content"] == DONE["content"]


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_client_takes_its_call_back_within_its_session(
    calling: System, servers: ScriptedServers, door: TestClient, revision: str
) -> None:
    greeted = ask(door, "initialize", {**GREETING, "protocolVersion": revision}, revision)
    session, other = greeted.headers["mcp-session-id"], "of-another-client"
    id_ = callable_tool(calling)
    body = request("tools/call", {"name": "call_tool", "arguments": {"id": id_}}, revision)

    def cancel(within: str) -> None:
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": body["id"]}}
        sent = headers({"method": "notifications/cancelled"}, revision) | {"mcp-session-id": within}
        assert door.post("/mcp", json=notice, headers=sent).status_code == 202

    async def cancelled(_: Progress | None) -> JsonObject:
        import asyncio

        await asyncio.to_thread(cancel, other)
        assert calling.rows("SELECT count(*) FROM mcp.calls_in_flight WHERE is_cancelled") == [[0]]
        await asyncio.to_thread(cancel, session)
        await asyncio.Event().wait()
        return DONE

    servers.answers.append(cancelled)
    answer = door.post("/mcp", json=body, headers=headers(body, revision) | {"mcp-session-id": session}).json()
    assert answer["result"]["content"][0]["text"] == "the call was cancelled"
    assert servers.given_up == 1


@pytest.mark.parametrize("calling", ["off"], indirect=True)
def test_where_nothing_is_called_there_are_no_sessions(door: TestClient, calling: System) -> None:
    assert "mcp-session-id" not in ask(door, "initialize", GREETING, "2025-11-25").headers
