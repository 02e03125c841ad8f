"""Single suggestions over HTTP: listed, decided on and asked for, as in skill-contract (decision 13)."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.skills.calls import MOMENT, create, suggest
from tests.builders import System


def test_suggestions_are_listed_as_in_the_contract(client: TestClient, system: System) -> None:
    suggest(client, system, "send_email", "communication")
    response = client.get("/api/v1/skills/suggestions")
    assert (response.status_code, response.headers["X-Total-Count"]) == (200, "1")
    [suggestion] = response.json()
    assert MOMENT.match(suggestion.pop("created_at"))
    assert suggestion == {
        "id": 1,
        "kind": "new_skill",
        "suggested_name": "communication",
        "suggested_description": "Tools for communication.",
        "source_tool_id": 1,
        "source_tool_name": "send_email",
        "target_skill_id": None,
        "reasoning": "nothing fits",
        "source": "llm_auto",
        "status": "pending",
        "resolved_skill_id": None,
        "reviewed_by": None,
        "review_reason": None,
        "reviewed_at": None,
    }


def test_approving_creates_the_skill_and_assigns_the_tool(client: TestClient, system: System) -> None:
    id_ = suggest(client, system)
    response = client.post(f"/api/v1/skills/suggestions/{id_}/approve")
    assert response.status_code == 200
    answer = response.json()
    assert answer["message"] == "Skill created and tool assigned"
    assert answer["skill"] == client.get("/api/v1/skills/video").json()
    assert (answer["assignment"]["skill_id"], answer["assignment"]["confidence"]) == ("video", 1.0)
    assert (answer["suggestion"]["status"], answer["also_resolved"]) == ("approved", 0)
    assert MOMENT.match(answer["suggestion"]["reviewed_at"])
    assert client.get("/api/v1/skills/suggestions").json() == []
    assert [each["id"] for each in client.get("/api/v1/skills/suggestions?status=approved").json()] == [id_]


def test_approving_takes_edits(client: TestClient, system: System) -> None:
    id_ = suggest(client, system)
    edits = {"id": "media", "name": "Media", "description": "Sound and pictures.", "keywords": ["film"]}
    skill = client.post(f"/api/v1/skills/suggestions/{id_}/approve", json=edits).json()["skill"]
    assert {name: skill[name] for name in edits} == edits


@pytest.mark.parametrize("edits", [{"id": "A"}, {"description": "short"}, {"unknown": 1}, {"keywords": [1]}])
def test_approving_with_edits_that_may_not_be_is_422(client: TestClient, system: System, edits: dict[str, Any]) -> None:
    id_ = suggest(client, system)
    assert client.post(f"/api/v1/skills/suggestions/{id_}/approve", json=edits).status_code == 422
    assert len(client.get("/api/v1/skills/suggestions").json()) == 1


def test_approving_what_exists_is_409_and_it_can_be_merged(client: TestClient, system: System) -> None:
    id_ = suggest(client, system)
    create(client, "video")
    response = client.post(f"/api/v1/skills/suggestions/{id_}/approve")
    assert (response.status_code, response.json()["detail"]) == (409, "Skill already exists: video")
    response = client.post(f"/api/v1/skills/suggestions/{id_}/merge", json={"skill_id": "video"})
    assert (response.status_code, response.json()["suggestion"]["status"]) == (200, "merged")
    assert response.json()["skill"]["tool_count"] == 1


def test_merging_into_an_unknown_skill_is_404_and_into_no_skill_422(client: TestClient, system: System) -> None:
    id_ = suggest(client, system)
    path = f"/api/v1/skills/suggestions/{id_}/merge"
    assert client.post(path, json={"skill_id": "unknown"}).status_code == 404
    for body in ({}, {"skill_id": "A"}, {"skill_id": None}):
        assert client.post(path, json=body).status_code == 422


@pytest.mark.parametrize(("body", "reason"), [(None, None), ({}, None), ({"reason": "not ours"}, "not ours")])
def test_rejecting_takes_an_optional_reason(client: TestClient, system: System, body: Any, reason: str | None) -> None:
    id_ = suggest(client, system)
    response = client.post(f"/api/v1/skills/suggestions/{id_}/reject", json=body)
    assert (response.status_code, response.json()["status"], response.json()["review_reason"]) == (
        200,
        "rejected",
        reason,
    )


@pytest.mark.parametrize("reason", ["r" * 1001, "a\x00b", 7])
def test_rejecting_with_a_reason_that_may_not_be_is_422(client: TestClient, system: System, reason: Any) -> None:
    id_ = suggest(client, system)
    response = client.post(f"/api/v1/skills/suggestions/{id_}/reject", json={"reason": reason})
    assert response.status_code == 422


def test_a_second_decision_is_409(client: TestClient, system: System) -> None:
    id_ = suggest(client, system)
    create(client)
    client.post(f"/api/v1/skills/suggestions/{id_}/reject")
    for action, body in [("approve", None), ("reject", None), ("merge", {"skill_id": "mail"})]:
        response = client.post(f"/api/v1/skills/suggestions/{id_}/{action}", json=body)
        assert (response.status_code, response.json()["detail"]) == (409, f"suggestion {id_} is rejected already")


def test_an_unknown_suggestion_is_404(client: TestClient) -> None:
    create(client)
    for action, body in [("approve", None), ("reject", None), ("merge", {"skill_id": "mail"})]:
        assert client.post(f"/api/v1/skills/suggestions/99/{action}", json=body).status_code == 404


@pytest.mark.parametrize("status", ["all", "", "PENDING"])
def test_an_unknown_status_is_422(shared_client: TestClient, status: str) -> None:
    assert shared_client.get(f"/api/v1/skills/suggestions?status={status}").status_code == 422


def test_describing_answers_201_with_the_suggestion(client: TestClient, system: System) -> None:
    create(client)
    system.chat.reply = {"description": "Reading and sending letters."}
    response = client.post("/api/v1/skills/mail/describe")
    assert response.status_code == 201
    answer = response.json()
    assert (answer["kind"], answer["target_skill_id"], answer["status"]) == ("description", "mail", "pending")
    approved = client.post(f"/api/v1/skills/suggestions/{answer['id']}/approve").json()
    assert (approved["skill"]["description"], approved["assignment"]) == ("Reading and sending letters.", None)
