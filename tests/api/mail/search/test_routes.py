"""`POST /api/v1/search/messages` over HTTP: what it takes, what it answers, what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System

ROUTE = "/api/v1/search/messages"


def vector(system: System, text: str) -> Any:
    return system.embedder.embed([text], timeout_s=1.0)[0]


def test_a_page_of_messages(system: System, client: TestClient) -> None:
    ids = [
        system.store_message(
            "Water the plants", f"number {number}", vector(system, "water"), cc=["GreenHill"], thread_id="T-1",
            created_ts=1000 + number,
        )
        for number in range(3)
    ]  # fmt: skip

    response = client.post(ROUTE, json={"text": "  water ", "limit": 2})

    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    answer = response.json()
    assert set(answer) == {"results", "next_cursor", "mode", "engine"}
    assert (answer["mode"], answer["engine"]) == ("lexical", "tantivy")
    first = answer["results"][0]
    assert first == {
        "doc_kind": "message",
        "id": ids[0],
        "score": 1.0,
        "created_ts": 1000,
        "created_at": "1970-01-01T00:00:00.001000Z",
        "key": first["key"],
        "project_id": system.store_project(),
        "thread_id": "T-1",
        "subject": "Water the plants",
        "snippet": "number 0",
        "importance": "normal",
        "ack_required": False,
        "from": "BlueLake",
        "to": ["RedFox"],
        "cc": ["GreenHill"],
        "bcc": [],
    }
    answer = client.post(ROUTE, json={"text": "water", "limit": 2, "cursor": answer["next_cursor"]}).json()
    assert [result["id"] for result in answer["results"]] == ids[2:]
    assert "next_cursor" not in answer


def test_every_field_is_taken(system: System, client: TestClient) -> None:
    id_ = system.store_message(
        "Water", "the plants", vector(system, "water"), thread_id="T", created_ts=5, bcc=["GreyOwl"]
    )
    project = system.store_project()
    system.store_agent("BlueLake", project)
    request = {
        "text": "water",
        "doc_kind": "message",
        "mode": "hybrid_rerank",
        "ranking": "recency",
        "limit": 5000,
        "rerank_top_k": 1,
        "rrf_k": 0,
        "min_score": 0.1,
        "cursor": "none of ours",
        "explain": True,
        "project_id": project,
        "product_id": system.store_product("garden", project),
        "importance": ["normal", "high"],
        "direction": "outbox",
        "agent_name": "bluelake",
        "sender_name": "BLUELAKE",
        "recipient_name": "greyowl",
        "thread_id": "T",
        "ack_required": False,
        "time_range": {"min_ts": 5, "max_ts": 5},
        "scope": {"caller_scoped": {"caller_agent": "BlueLake"}},
        "redaction": {"redact_body": True, "redact_agent_names": True, "redact_thread_ids": True, "placeholder": "-"},
    }

    answer = client.post(ROUTE, json=request).json()

    assert [result["id"] for result in answer["results"]] == [id_]
    assert answer["results"][0]["subject"] == "Water"
    explain = answer["explain"]
    assert (explain["requested_mode"], explain["actual_mode"]) == ("hybrid_rerank", "hybrid")
    assert (explain["mode_downgraded"], explain["downgrade_reason"]) == (True, "feature_unavailable")
    assert explain["facets_applied"] == [
        "project_id", "importance", "direction", "agent_name", "sender_name", "recipient_name", "thread_id",
        "ack_required", "time_range",
    ]  # fmt: skip
    assert set(explain["timing"]) == {"total_us", "lexical_us", "vector_us", "fusion_us", "scope_us"}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"text": 1}, id="text is no text"),
        pytest.param({"text": "x" * 10_001}, id="too long"),
        pytest.param({"text": "x", "mode": "fuzzy"}, id="unknown mode"),
        pytest.param({"text": "x", "doc_kind": "product"}, id="products are not searched"),
        pytest.param({"text": "x", "ranking": "size"}, id="unknown ranking"),
        pytest.param({"text": "x", "limit": "5"}, id="a limit that is a text"),
        pytest.param({"text": "x", "limit": True}, id="a limit that is a bool"),
        pytest.param({"text": "x", "importance": ["hot"]}, id="unknown importance"),
        pytest.param({"text": "x", "direction": "up"}, id="unknown direction"),
        pytest.param({"text": "x", "time_range": {"min_ts": 2**63}}, id="no such time"),
        pytest.param({"text": "x", "project_id": 0}, id="no such id"),
        pytest.param({"text": "x", "scope": "all"}, id="unknown scope"),
        pytest.param({"text": "x", "scope": {"project_set": {}}}, id="no set"),
        pytest.param({"text": "x", "sender_name": ""}, id="a name of nothing"),
        pytest.param({"text": "x", "sender": "x"}, id="unknown field"),
        pytest.param([], id="no object"),
    ],
)
def test_what_is_wrong_is_refused(shared_client: TestClient, body: Any) -> None:
    assert shared_client.post(ROUTE, json=body).status_code == 422


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": "\x00 \t"}, {"text": "?!"}, {"limit": -3}])
def test_what_asks_for_nothing_gets_nothing(shared_client: TestClient, body: Any) -> None:
    response = shared_client.post(ROUTE, json=body)

    assert (response.status_code, response.json()) == (200, {"results": [], "mode": "lexical"})


def test_without_postgresql_it_is_503(system: System, client: TestClient) -> None:
    system.store_message("water")
    system.database.down = True

    response = client.post(ROUTE, json={"text": "water"})

    assert (response.status_code, response.json()["detail"]) == (503, "PostgreSQL cannot be reached")


def test_without_the_model_it_is_200_and_says_so(system: System, client: TestClient) -> None:
    system.store_message("water")
    system.embedder.away = True

    response = client.post(ROUTE, json={"text": "water", "mode": "hybrid", "explain": True})

    assert response.status_code == 200
    assert (response.json()["mode"], response.json()["explain"]["downgrade_reason"]) == (
        "lexical",
        "feature_unavailable",
    )
