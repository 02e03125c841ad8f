"""`POST /api/v1/search/batch` over HTTP, and what tool search answers beside the contract's fields."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.errors.statement import StatementRejected
from skillroute.search.batch.search import MAX_SEARCHES
from skillroute.search.search import ToolSearch

from tests.builders import System

ROUTE = "/api/v1/search/batch"
TOOL = {
    "server": "calendar",
    "name": "create_event",
    "description": "Schedule a meeting with people",
    "input_schema": {"type": "object", "properties": {"title": {"type": "string", "default": None}}},
    "annotations": {"readOnlyHint": False},
}
OTHER = {"server": "files/é, and more", "name": "create_event", "description": "Schedule a copy of a file"}


@pytest.fixture
def filled(client: TestClient) -> TestClient:
    client.put("/api/v1/tools", json=[TOOL, OTHER])
    client.put("/api/v1/servers", json=[{"name": "calendar", "description": "Meetings"}])
    return client


def asked(client: TestClient, *searches: Any) -> Any:
    response = client.post(ROUTE, json={"searches": searches})
    assert response.status_code == 200, response.text
    return response.json()


def test_each_search_has_its_answer_or_its_error_in_order(filled: TestClient) -> None:
    good = {"query": "schedule a meeting", "strategy": "direct", "limit": 1}
    body = asked(filled, good, {"query": " "}, {"queri": "x"}, 7, {**good, "mode": "shadow"}, good)
    answers = [result["answer"] and result["answer"]["tools"][0]["name"] for result in body["results"]]
    assert answers == ["create_event", None, None, None, None, "create_event"]
    errors = [result["error"] for result in body["results"]]
    assert [error and (error["status"], error["code"]) for error in errors] == [
        None,
        *[(422, "invalid_request")] * 4,
        None,
    ]
    places = [[tuple(problem["loc"]) for problem in error["detail"]] for error in errors if error]
    assert places == [
        [("body", "query")],
        [("body", "query"), ("body", "queri")],
        [("body",)],
        [("body", "mode")],
    ]
    assert (body["metadata"]["answered"], body["metadata"]["failed"]) == (2, 4)


@pytest.mark.parametrize("searches", [[], [{"query": "x"}] * (MAX_SEARCHES + 1), None, {"query": "x"}])
def test_the_number_of_searches_is_limited_and_the_limit_is_named(client: TestClient, searches: Any) -> None:
    response = client.post(ROUTE, json={"searches": searches})
    assert response.status_code == 422
    [problem] = response.json()["detail"]
    assert problem["loc"] == ["body", "searches"]
    if searches and len(searches) > MAX_SEARCHES:
        assert str(MAX_SEARCHES) in problem["msg"]


def test_the_headers_say_how_all_of_them_were_answered(filled: TestClient) -> None:
    searches = [{"query": "a meeting", "mode": "semantic"}, {"query": "a meeting", "mode": "lexical"}]
    response = filled.post(ROUTE, json={"searches": searches})
    assert response.headers["X-Search-Mode"] == "semantic, lexical"
    assert "X-Degraded" not in response.headers


def test_what_is_not_reached_is_503_shaped(filled: TestClient, system: System, monkeypatch: Any) -> None:
    monkeypatch.setattr(system.parts.batch_search, "_most_s", 0.0)
    [result] = asked(filled, {"query": "a meeting"})["results"]
    assert (result["answer"], result["error"]["status"], result["error"]["code"]) == (None, 503, "not_begun")
    assert "send it again" in result["error"]["detail"]


def test_what_postgresql_says_of_a_statement_is_in_the_log_alone(
    filled: TestClient, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise StatementRejected("permission denied for table tools", state="42501", constraint=None)

    monkeypatch.setattr(ToolSearch, "search", refused)
    [result] = asked(filled, {"query": "a meeting"})["results"]
    error = {"status": 500, "code": "internal_error", "detail": "Internal Server Error"}
    assert result == {"answer": None, "error": error}
    assert "permission denied" in caplog.text


def test_the_format_of_mcp_is_ready_for_a_model(filled: TestClient) -> None:
    request = {"query": "schedule a meeting", "strategy": "direct", "format": "mcp", "tool_threshold": 0.0}
    alone = filled.post("/api/v1/search", json=request).json()
    assert [tool["name"] for tool in alone["tools"]] == ["calendar__create_event", "files_and_more__create_event"]
    assert alone["tools"][0]["inputSchema"] == TOOL["input_schema"]
    assert alone["tools"][0]["annotations"] == TOOL["annotations"]
    assert not alone["tools"][1].keys() & {"outputSchema", "annotations"}
    [result] = asked(filled, request)["results"]
    assert result["answer"]["tools"] == alone["tools"]
    refused = filled.post("/api/v1/search", json={**request, "explain": True})
    assert refused.status_code == 422
    assert "leave explain or the format out" in refused.json()["detail"][0]["msg"]


def test_get_takes_servers_and_explains(filled: TestClient) -> None:
    def tools(**params: Any) -> Any:
        return filled.get("/api/v1/search/tools", params={"query": "schedule a meeting", "threshold": 0, **params})

    plain = tools(server="calendar, nowhere")
    [tool] = plain.json()
    assert (tool["server_path"], tool["server_is_enabled"]) == ("/calendar", True)
    assert (tool["tool_id"], tool["annotations"]) == (tool["db_id"], TOOL["annotations"])
    assert plain.headers["X-Unknown-Servers"] == "nowhere"
    assert "X-Unknown-Servers" not in tools(server="calendar").headers
    unknown = tools(server="天气/x")
    assert (unknown.json(), unknown.headers["X-Unknown-Servers"]) == ([], "%E5%A4%A9%E6%B0%94%2Fx")
    [explained] = tools(server="calendar", explain=True, mode="hybrid").json()
    assert explained["explain"]["score"] == explained["score"]
    assert explained["explain"]["features"]
    assert "explain" not in tool
    assert tools(server=",".join("abcdefghijklmnopqrstu")).status_code == 422
