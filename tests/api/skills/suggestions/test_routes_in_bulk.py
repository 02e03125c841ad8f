"""Groups of suggestions, and many decisions in one call, over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System
from tests.doubles import proposing

GROUPS = "/api/v1/skills/suggestions/groups"
REVIEW = "/api/v1/skills/suggestions/review"


@pytest.fixture
def tools(system: System) -> list[int]:
    """Three tools for which Video is suggested, and one for which Gardening is."""
    system.parts.suggest_skills._approve_after = 0
    names = {"cut": "Video", "join": "video", "encode": "Video", "water": "Gardening"}
    ids = system.put(*names)
    system.classifier.answers |= {tool: proposing(name) for tool, name in names.items()}
    system.classify(*ids)
    return ids


def test_groups_come_with_counts_and_examples(client: TestClient, tools: list[int]) -> None:
    response = client.get(f"{GROUPS}?status=pending&limit=1")
    assert (response.status_code, response.headers["x-total-count"]) == (200, "2")
    assert response.headers["link"] == '<?status=pending&offset=1&limit=1>; rel="next"'
    [group] = response.json()
    assert (group["name"].lower(), group["count"], group["skill_id"]) == ("video", 3, "video")
    assert (group["kind"], group["org_id"], group["skill_exists"]) == ("new_skill", None, False)
    assert group["sources"] == ["llm_auto"]
    assert {example["source_tool_id"] for example in group["examples"]} == set(tools[:3])
    assert set(group["examples"][0]) == {"id", "suggested_name", "source_tool_id", "source_tool_name", "server"}
    listed = client.get("/api/v1/skills/suggestions?name=VIDEO").json()
    assert {one["source_tool_id"] for one in listed} == set(tools[:3])


def test_decisions_are_answered_one_by_one(client: TestClient, tools: list[int]) -> None:
    decisions = [
        {"action": "approve", "name": "Video", "skill": {"keywords": ["film"]}},
        {"action": "merge", "name": "Gardening", "skill_id": "nowhere"},
        {"action": "reject", "ids": [999]},
        {"action": "reject", "name": "Gardening", "reason": "one tool only"},
    ]
    response = client.post(REVIEW, json={"decisions": decisions})
    assert response.status_code == 200, response.text
    answer = response.json()
    assert {name: answer[name] for name in ("approved", "rejected", "merged", "failed")} == {
        "approved": 3,
        "rejected": 1,
        "merged": 0,
        "failed": 2,
    }
    approved, merged, unknown, rejected = answer["results"]
    assert (approved["status"], approved["decided"], approved["failed"]) == ("approved", 3, 0)
    assert (approved["skill"]["id"], approved["skill"]["tool_count"]) == ("video", 3)
    assert approved["skill"]["keywords"] == ["film"]
    assert [one["status"] for one in approved["suggestions"]] == ["approved"] * 3
    assert merged["error"] == {"code": "skill_not_found", "detail": "no skill with id nowhere"}
    assert (merged["status"], merged["skill"]) == ("failed", None)
    [missing] = unknown["suggestions"]
    assert missing["error"] == {"code": "suggestion_not_found", "detail": "no suggestion with id 999"}
    assert (unknown["status"], unknown["error"]) == ("failed", None)
    assert rejected["status"] == "rejected"
    assert client.get("/api/v1/skills/suggestions").json() == []
    assert len(client.get("/api/v1/skills/video/tools").json()) == 3


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (7, "decision: must be an object"),
        ({}, "action: is missing"),
        ({"action": "approve"}, "decision: needs either name, for all open suggestions of that name, or ids"),
        (
            {"action": "approve", "name": "a", "ids": [1]},
            "decision: needs either name, for all open suggestions of that name, or ids",
        ),
        ({"action": "merge", "name": "a"}, "decision: skill_id is required for merge and not allowed otherwise"),
        (
            {"action": "reject", "name": "a", "skill_id": "b"},
            "decision: skill_id is required for merge and not allowed otherwise",
        ),
        ({"action": "reject", "name": "a", "skill": {}}, "decision: skill is allowed for approve only"),
        ({"action": "approve", "name": "a", "reason": "b"}, "decision: reason is allowed for reject only"),
        (
            {"action": "delete", "name": 7, "ids": [0]},
            "action: must be 'approve', 'reject' or 'merge'; name: must be a string; ids.0: must be at least 1",
        ),
    ],
)
def test_a_decision_that_cannot_be_read_fails_alone(
    client: TestClient, tools: list[int], decision: Any, message: str
) -> None:
    response = client.post(REVIEW, json=[decision, {"action": "reject", "name": "Video"}])
    assert response.status_code == 200, response.text
    bad, good = response.json()["results"]
    assert (bad["index"], bad["action"], bad["status"]) == (0, None, "failed")
    assert bad["error"] == {"code": "invalid_request", "detail": message}
    assert (good["index"], good["status"], good["decided"]) == (1, "rejected", 3)
    assert (response.json()["failed"], response.json()["rejected"]) == (1, 3)


@pytest.mark.parametrize("decisions", [[], [{"action": "reject", "name": "a"}] * 101, [7] * 101, 7, {"decisions": 7}])
def test_a_call_has_one_to_a_hundred_decisions(shared_client: TestClient, decisions: list[Any]) -> None:
    assert shared_client.post(REVIEW, json=decisions).status_code == 422


def test_a_text_that_nothing_can_carry_fails_alone(client: TestClient, tools: list[int]) -> None:
    decisions = [{"action": "reject", "name": "Video", "reason": "a\x00b"}, {"action": "reject", "name": "Video"}]
    first, second = client.post(REVIEW, json=decisions).json()["results"]
    assert first["error"] == {"code": "invalid_request", "detail": "reason: NUL characters are not allowed"}
    assert second["decided"] == 3
