"""`needs` over HTTP: the search, the batch, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

SEARCH = "/api/v1/search"
TOOLS = [
    {"server": "calendar", "name": "create_event", "description": "Schedule a meeting in a calendar"},
    {"server": "mail", "name": "send", "description": "Send an email to somebody"},
    {"server": "files", "name": "copy", "description": "Copy a file"},
]
NEEDS = ["schedule a meeting in a calendar", "send an email"]


@pytest.fixture
def filled(client: TestClient) -> TestClient:
    client.put("/api/v1/tools", json=TOOLS)
    return client


def asked(client: TestClient, **body: Any) -> dict[str, Any]:
    response = client.post(SEARCH, json={"mode": "lexical", **body})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def test_each_result_says_which_needs_it_serves(filled: TestClient) -> None:
    answer = asked(filled, needs=[" send an email ", NEEDS[0]], limit=2)
    assert {tool["name"]: tool["needs"] for tool in answer["tools"]} == {"create_event": [1], "send": [0]}
    assert answer["query"] is None
    assert answer["metadata"]["needs"] == [
        {
            "need": need,
            "confidence": None,
            "confidence_first_five": None,
            "no_match": False,
            "fit": None,
            "explain": None,
        }
        for need in ("send an email", NEEDS[0])
    ]


@pytest.mark.parametrize("given", [{}, {"needs": None}])
def test_an_answer_without_needs_says_nothing_of_them(filled: TestClient, given: dict[str, Any]) -> None:
    answer = asked(filled, query=NEEDS[0], **given)
    assert "needs" not in answer["metadata"]
    assert all("needs" not in tool for tool in answer["tools"])


def test_a_null_query_is_none_where_there_are_needs(filled: TestClient) -> None:
    assert asked(filled, query=None, needs=NEEDS)["query"] is None


def test_format_mcp_and_a_batch_have_the_needs_too(filled: TestClient) -> None:
    search = {"needs": NEEDS, "format": "mcp", "limit": 2, "mode": "lexical"}
    response = filled.post(f"{SEARCH}/batch", json={"searches": [search, {"needs": []}, {"needs": NEEDS}]})
    first, second, third = response.json()["results"]
    assert [tool["_meta"]["skillroute/needs"] for tool in first["answer"]["tools"]] == [[0], [1]]
    assert (second["error"]["status"], second["error"]["detail"][0]["loc"]) == (422, ["body", "needs"])
    assert len(third["answer"]["metadata"]["needs"]) == 2


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, ["query"]),
        ({"query": None}, ["query"]),
        ({"query": None, "needs": None}, ["query"]),
        ({"query": " ", "needs": NEEDS}, ["query"]),
        ({"needs": []}, ["needs"]),
        ({"needs": ["x"] * 11}, ["needs"]),
        ({"needs": "send an email"}, ["needs"]),
        ({"needs": [" "]}, ["needs", 0]),
        ({"needs": ["x" * 1001]}, ["needs", 0]),
        ({"needs": ["a\0b"]}, ["needs", 0]),
        ({"needs": ["x", None]}, ["needs", 1]),
        ({"needs": [5]}, ["needs", 0]),
        ({"need": ["x"], "query": "x"}, ["need"]),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(client: TestClient, body: dict[str, Any], places: list[Any]) -> None:
    response = client.post(SEARCH, json=body)
    assert response.status_code == 422
    [problem] = response.json()["detail"]
    assert problem["loc"] == ["body", *places]


def test_a_search_for_nothing_is_told_both_ways_to_say_what_is_needed(client: TestClient) -> None:
    [problem] = client.post(SEARCH, json={}).json()["detail"]
    assert "query" in problem["msg"]
    assert "needs" in problem["msg"]
