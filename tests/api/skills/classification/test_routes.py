"""Classifying a tool over HTTP: status codes and bodies of skill-contract, API Contracts."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.errors.model import ClassifierAnswerInvalid, ClassifierUnavailable

from tests.api.skills.calls import MOMENT, create
from tests.builders import System
from tests.doubles import proposing


def test_classifying_answers_as_in_the_contract(client: TestClient, system: System) -> None:
    create(client, "calendar_management")
    [tool_id] = system.put("create_event")
    system.classifier.answers["create_event"] = proposing(calendar_management=0.95)
    body = {
        "tool_id": tool_id,
        "tool_name": "create_event",
        "tool_description": "Create calendar event",
        "force_reclassify": False,
    }
    response = client.post("/api/v1/skills/classify", json=body)
    assert response.status_code == 200
    answer = response.json()
    assert MOMENT.match(answer.pop("classification_timestamp"))
    assert answer == {
        "tool_id": tool_id,
        "tool_name": "create_event",
        "decision": "classified",
        "assignments": [
            {"skill_id": "calendar_management", "confidence": 0.95, "reasoning": "because of calendar_management"}
        ],
        "primary_skill_id": "calendar_management",
        "suggested_new_skill": None,
    }
    # AND the id alone will do
    again = client.post("/api/v1/skills/classify", json={"tool_id": tool_id})
    assert (again.json()["decision"], again.json()["primary_skill_id"]) == ("unchanged", "calendar_management")


def test_classifying_a_tool_that_fits_nowhere_answers_with_what_it_suggests(client: TestClient, system: System) -> None:
    [tool_id] = system.put("encode")
    system.classifier.answers["encode"] = proposing("Video")
    answer = client.post("/api/v1/skills/classify", json={"tool_id": tool_id}).json()
    assert (answer["decision"], answer["assignments"], answer["primary_skill_id"]) == ("suggested", [], None)
    assert answer["suggested_new_skill"] == {
        "name": "Video",
        "description": "Tools for Video.",
        "reasoning": "nothing fits",
    }


def test_classifying_leaves_a_persons_decision_unless_forced(client: TestClient, system: System) -> None:
    create(client, "mail")
    create(client, "maps")
    [tool_id] = system.put("t")
    system.assign(tool_id, mail=1.0)
    system.classifier.answers["t"] = proposing(maps=0.9)
    answer = client.post("/api/v1/skills/classify", json={"tool_id": tool_id}).json()
    assert (answer["decision"], answer["primary_skill_id"]) == ("human", "mail")
    answer = client.post("/api/v1/skills/classify", json={"tool_id": tool_id, "force_reclassify": True}).json()
    assert (answer["decision"], answer["primary_skill_id"]) == ("classified", "maps")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"tool_id": 0},
        {"tool_id": "1"},
        {"tool_id": 2**63},
        {"tool_id": None},
        {"tool_id": 1, "tool_name": "other"},
        {"tool_id": 1, "force_reclassify": "yes"},
        {"tool_id": 1, "unknown": 1},
    ],
)
def test_classifying_with_what_may_not_be_is_422(client: TestClient, system: System, body: dict[str, Any]) -> None:
    system.put("t")
    assert client.post("/api/v1/skills/classify", json=body).status_code == 422
    assert system.classifier.asked == []


def test_classifying_an_unknown_tool_is_404(client: TestClient) -> None:
    response = client.post("/api/v1/skills/classify", json={"tool_id": 99})
    assert (response.status_code, response.json()["detail"]) == (404, "no item with id 99")


@pytest.mark.parametrize("error", [ClassifierUnavailable("timed out"), ClassifierAnswerInvalid("no JSON")])
def test_a_classifier_that_fails_is_503(client: TestClient, system: System, error: ClassifierUnavailable) -> None:
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = error
    response = client.post("/api/v1/skills/classify", json={"tool_id": tool_id})
    assert (response.status_code, response.json()["detail"]) == (503, error.public_message)
    assert system.waiting("classify") == [str(tool_id)]
