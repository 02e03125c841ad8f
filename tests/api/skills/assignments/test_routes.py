"""A tool's skills: assigned and read (decision 13), put back as they were read, and changed by two people at once."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.routes import version_in
from tests.api.skills.calls import MOMENT, create
from tests.builders import System
from tests.doubles import proposing


@pytest.fixture
def path(client: TestClient, system: System) -> str:
    """Of a tool that a classifier gave a skill."""
    for skill_id in ("mail", "maps"):
        client.post("/api/v1/skills", json={"id": skill_id, "name": skill_id, "description": f"What {skill_id} does."})
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = proposing(mail=0.9)
    system.classify(tool_id)
    return f"/api/v1/tools/{tool_id}/skills"


def read(client: TestClient, path: str) -> tuple[list[dict[str, Any]], str]:
    response = client.get(path)
    return response.json(), response.headers["etag"]


def test_skills_put_back_as_they_were_read_are_nobodys_decision(client: TestClient, path: str) -> None:
    before, version = read(client, path)
    assert [skill["source"] for skill in before] == ["llm_auto"]
    answer = client.put(path, json=before)
    assert (answer.status_code, answer.json(), answer.headers["etag"]) == (200, before, version)
    assert read(client, path) == (before, version)


def test_of_a_tool_without_skills_too(client: TestClient, system: System) -> None:
    [tool_id] = system.put("without")
    path = f"/api/v1/tools/{tool_id}/skills"
    assert client.put(path, json=[]).json() == []
    [(by,)] = system.rows(f"SELECT count(*) FROM mcp.tool_classifications WHERE tool_id = {tool_id}")
    assert by == 0
    # AND who says that none fits, says so with a name
    assert client.put(path, json={"skills": []}).json() == []
    [(by,)] = system.rows(f"SELECT count(*) FROM mcp.tool_classifications WHERE tool_id = {tool_id}")
    assert by == 1


@pytest.mark.parametrize(
    "change", [{"confidence": 0.7}, {"skill_id": "maps"}, {"source": "human_manual"}, {"reasoning": "x"}]
)
def test_what_differs_from_what_was_read_is_a_persons_decision(
    client: TestClient, path: str, change: dict[str, Any]
) -> None:
    before, version = read(client, path)
    answer = client.put(path, json=[before[0] | change])
    assert [skill["source"] for skill in answer.json()] == ["human_override"]
    assert answer.headers["etag"] != version


def test_a_change_from_an_old_version_is_412_with_the_one_now(client: TestClient, path: str) -> None:
    before, version = read(client, path)
    first = client.put(path, json={"skills": [{"skill_id": "maps"}]}, headers={"If-Match": version})
    assert first.status_code == 200
    for body in (before, {"skills": [{"skill_id": "mail"}]}):
        second = client.put(path, json=body, headers={"If-Match": version})
        assert (second.status_code, second.json()["current"]) == (412, version_in(first.headers["etag"]))
    assert read(client, path) == (first.json(), first.headers["etag"])


def test_a_tools_skills_are_assigned_and_read(client: TestClient, system: System) -> None:
    create(client, "mail")
    create(client, "maps")
    [tool_id] = system.put("t")
    body = {"skills": [{"skill_id": "maps", "confidence": 0.8, "reasoning": "it says so"}, {"skill_id": "mail"}]}
    response = client.put(f"/api/v1/tools/{tool_id}/skills", json=body)
    assert response.status_code == 200
    first, second = response.json()
    assert MOMENT.match(second.pop("assigned_at"))
    assert (first["skill_id"], first["confidence"], first["is_primary"]) == ("mail", 1.0, True)
    assert second == {
        "skill_id": "maps",
        "skill_name": "maps",
        "is_active": True,
        "confidence": 0.8,
        "is_primary": False,
        "source": "human_manual",
        "reasoning": "it says so",
    }
    assert [each["skill_id"] for each in client.get(f"/api/v1/tools/{tool_id}/skills").json()] == ["mail", "maps"]
    # AND an empty set is a decision too
    assert client.put(f"/api/v1/tools/{tool_id}/skills", json={"skills": []}).json() == []
    assert client.get(f"/api/v1/tools/{tool_id}/skills").json() == []


@pytest.mark.parametrize(
    "skills",
    [
        [{"skill_id": f"s{number}"} for number in range(6)],
        [{"skill_id": "mail"}, {"skill_id": "mail"}],
        [{"skill_id": "mail", "confidence": 1.01}],
        [{"skill_id": "mail", "confidence": -0.01}],
        [{"skill_id": "mail", "confidence": "1"}],
        [{"skill_id": "Mail"}],
        [{"skill_id": "mail", "reasoning": "r" * 1001}],
        [{"skill_id": "mail", "reasoning": "a\x00b"}],
        [{"skill_id": "mail", "source": "llm_auto"}],
        [{}],
        None,
    ],
)
def test_assignments_that_may_not_be_are_422(client: TestClient, system: System, skills: Any) -> None:
    create(client)
    [tool_id] = system.put("t")
    response = client.put(f"/api/v1/tools/{tool_id}/skills", json={"skills": skills})
    assert response.status_code == 422
    assert client.get(f"/api/v1/tools/{tool_id}/skills").json() == []


def test_a_confidence_that_json_does_not_have_is_422(client: TestClient, system: System) -> None:
    create(client)
    [tool_id] = system.put("t")
    for number in ("NaN", "Infinity", "1e999"):
        content = f'{{"skills": [{{"skill_id": "mail", "confidence": {number}}}]}}'
        headers = {"content-type": "application/json"}
        response = client.put(f"/api/v1/tools/{tool_id}/skills", content=content, headers=headers)
        assert response.status_code == 422


def test_unknown_tools_and_skills_are_404(client: TestClient, system: System) -> None:
    create(client)
    [tool_id] = system.put("t")
    assert client.get("/api/v1/tools/99/skills").status_code == 404
    assert client.put("/api/v1/tools/99/skills", json={"skills": [{"skill_id": "mail"}]}).status_code == 404
    response = client.put(f"/api/v1/tools/{tool_id}/skills", json={"skills": [{"skill_id": "unknown"}]})
    assert (response.status_code, response.json()["detail"]) == (404, "no skill with id unknown")
