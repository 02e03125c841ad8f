"""Agent mail over HTTP: writing, listing, reading, acknowledging and deleting."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.builders import System, of_org

KINDS = ("projects", "products", "agents", "messages")
EVERY = pytest.mark.parametrize("kind", KINDS)
MESSAGE = {
    "key": "m1",
    "project": "atlas",
    "from": "BlueLake",
    "to": ["GreenHill"],
    "cc": ["RedStone"],
    "subject": "Status of POL-358",
    "body": "The totals are right now.",
    "thread_id": "POL-358",
    "importance": "high",
    "ack_required": True,
    "created_ts": 1_767_604_320_000_000,
}


@pytest.fixture(autouse=True)
def atlas(client: TestClient) -> int:
    """The id of a project that is there."""
    id_: int = put(client, "projects", {"key": "atlas", "name": "Atlas"})["results"][0]["id"]
    return id_


def put(client: TestClient, kind: str, *things: Any) -> dict[str, Any]:
    response = client.put(f"/api/v1/mail/{kind}", json={kind: list(things)})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def thing(kind: str, name: str = "new") -> dict[str, Any]:
    if kind == "messages":
        return MESSAGE | {"key": name}
    return {"name": name} if kind == "agents" else {"key": name, "name": name}


def listed(client: TestClient, kind: str, **where: Any) -> list[str]:
    response = client.get(f"/api/v1/mail/{kind}", params=where)
    assert response.status_code == 200, response.text
    return [each["name" if kind == "agents" else "key"] for each in response.json()]


# PUT


@EVERY
def test_the_answer_says_what_became_of_each(client: TestClient, kind: str) -> None:
    answer = put(client, kind, thing(kind, "a"), {"what": 1}, thing(kind, "b"))
    assert {name: answer[name] for name in ("created", "updated", "unchanged", "failed", "degraded")} == {
        "created": 2, "updated": 0, "unchanged": 0, "failed": 1, "degraded": [],
    }  # fmt: skip
    first, wrong, _ = answer["results"]
    nothing = {"error": None, "errors": [], "warnings": [], "refusal": None}
    assert first == {"index": 0, "status": "created", "id": first["id"], "key": "a", **nothing}
    assert (wrong["index"], wrong["status"], wrong["id"], wrong["key"]) == (1, "failed", None, None)
    assert set(wrong["error"]) == {"field", "message"}
    again = put(client, kind, thing(kind, "a"))
    assert (again["unchanged"], again["results"][0]["id"]) == (1, first["id"])


def test_what_is_wrong_is_named_by_its_place(client: TestClient) -> None:
    answer = put(client, "messages", MESSAGE | {"to": ["A", ""]}, MESSAGE | {"project": "unknown"})
    assert [each["error"]["field"] for each in answer["results"]] == ["to.1", "project"]
    answer = put(client, "agents", {"name": "BlueLake", "projects": ["atlas", "unknown"]})
    assert answer["results"][0]["error"] == {"field": "projects.1", "message": "there is no project unknown"}


@EVERY
def test_they_come_in_an_object_or_as_a_bare_list(client: TestClient, kind: str) -> None:
    assert client.put(f"/api/v1/mail/{kind}", json=[thing(kind)]).json()["created"] == 1
    for body in ({"items": []}, {kind: {}}, {kind: [], "more": 1}, 7, {}):
        assert client.put(f"/api/v1/mail/{kind}", json=body).status_code == 422


@EVERY
def test_more_than_a_call_takes_are_refused(client: TestClient, kind: str) -> None:
    most = 500 if kind == "messages" else 100
    assert client.put(f"/api/v1/mail/{kind}", json=[{}] * most).status_code == 200
    assert client.put(f"/api/v1/mail/{kind}", json=[{}] * (most + 1)).status_code == 422


@pytest.mark.parametrize("kind", ["projects", "agents", "messages"])
def test_without_the_model_the_answer_says_so(client: TestClient, system: System, kind: str) -> None:
    system.embedder.away = True
    assert put(client, kind, thing(kind))["degraded"] == ["embedding_unavailable"]


# GET


def test_a_project_is_given_back(client: TestClient, atlas: int) -> None:
    found = client.get(f"/api/v1/mail/projects/{atlas}").json()
    assert found.pop("created_at").endswith("Z")
    assert found.pop("updated_at").endswith("Z")
    assert found == {"id": atlas, "org_id": None, "key": "atlas", "name": "Atlas", "description": ""}


@pytest.mark.parametrize("kind", ["products", "agents"])
def test_a_product_and_an_agent_are_given_back_with_their_projects(client: TestClient, kind: str, atlas: int) -> None:
    [result] = put(client, kind, thing(kind, "x") | {"description": "d", "projects": ["atlas"]})["results"]
    found = client.get(f"/api/v1/mail/{kind}/{result['id']}").json()
    assert (found["name"], found["description"], found["projects"], found["project_ids"], found["project_count"]) == (
        "x", "d", ["atlas"], [atlas], 1,
    )  # fmt: skip
    assert set(found) == {
        "id", "org_id", "name", "description", "projects", "project_ids", "project_count", "created_at", "updated_at",
        "contact" if kind == "agents" else "key",
    }  # fmt: skip


def test_a_message_is_given_back_as_it_was_written(client: TestClient, atlas: int) -> None:
    [result] = put(client, "messages", MESSAGE)["results"]
    found = client.get(f"/api/v1/mail/messages/{result['id']}").json()
    assert found.pop("updated_at").endswith("Z")
    assert found == MESSAGE | {
        "id": result["id"],
        "org_id": None,
        "project_id": atlas,
        "created_at": "2026-01-05T09:12:00Z",
        "bcc": [],
        "acknowledged": {},
        "is_embedded": True,
    }
    [again] = client.get("/api/v1/mail/messages").json()
    again.pop("updated_at")
    assert again == found


@EVERY
def test_a_list_pages_and_says_the_total(client: TestClient, kind: str) -> None:
    put(client, kind, *(thing(kind, name) for name in ("x1", "x2", "x3")))
    total = len(listed(client, kind))
    page = client.get(f"/api/v1/mail/{kind}", params={"limit": 2, "offset": 1})
    assert (len(page.json()), page.headers["X-Total-Count"]) == (2, str(total))
    for where in ({"limit": 0}, {"limit": 1001}, {"offset": -1}):
        assert client.get(f"/api/v1/mail/{kind}", params=where).status_code == 422


@pytest.mark.parametrize("kind", ["projects", "products", "messages"])
def test_they_are_found_by_their_key(client: TestClient, kind: str) -> None:
    put(client, kind, thing(kind, "x1"), thing(kind, "x2"))
    assert listed(client, kind, key="x2") == ["x2"]
    assert listed(client, kind, key="x") == []


def test_messages_are_filtered(client: TestClient, atlas: int) -> None:
    put(client, "messages", MESSAGE, thing("messages", "m2") | {"from": "RedStone", "cc": [], "importance": "low"})
    put(client, "messages", thing("messages", "m3") | {"thread_id": None, "ack_required": False, "created_ts": 1})
    for where, keys in (
        ({"project_id": atlas}, ["m1", "m2", "m3"]),
        ({"project_id": atlas + 1}, []),
        ({"thread_id": "POL-358"}, ["m1", "m2"]),
        ({"sender": "redstone"}, ["m2"]),
        ({"recipient": "RedStone"}, ["m1", "m3"]),
        ({"importance": "low"}, ["m2"]),
        ({"ack_required": "false"}, ["m3"]),
        ({"sender": "BlueLake", "ack_required": "true"}, ["m1"]),
    ):
        assert listed(client, "messages", **where) == keys, where
    for wrong in ({"importance": "High"}, {"project_id": 0}, {"ack_required": "maybe"}, {"sender": "x" * 257}):
        assert client.get("/api/v1/mail/messages", params=wrong).status_code == 422, wrong


def test_agents_are_filtered(client: TestClient, atlas: int) -> None:
    put(client, "agents", {"name": "BlueLake", "projects": ["atlas"]}, {"name": "RedStone"})
    assert listed(client, "agents", name="bluelake") == ["BlueLake"]
    assert listed(client, "agents", project_id=atlas) == ["BlueLake"]


@EVERY
@pytest.mark.parametrize(("id_", "status"), [("999", 404), ("0", 422), ("x", 422), ("9223372036854775808", 422)])
def test_an_id_that_is_not_there_or_is_none(client: TestClient, kind: str, id_: str, status: int) -> None:
    for method in ("GET", "DELETE"):
        answer = client.request(method, f"/api/v1/mail/{kind}/{id_}")
        assert answer.status_code == status
        if status == 404:
            assert answer.json()["detail"] == f"no {kind.removesuffix('s')} with id {id_}"


# Acknowledging and deleting


def test_a_message_is_acknowledged(client: TestClient) -> None:
    [result] = put(client, "messages", MESSAGE)["results"]
    route = f"/api/v1/mail/messages/{result['id']}/acknowledge"
    answer = client.post(route, json={"agent": "greenhill"})
    assert answer.status_code == 200
    assert list(answer.json()["acknowledged"]) == ["GreenHill"]
    assert answer.json()["acknowledged"]["GreenHill"].endswith("Z")
    assert client.post(route, json={"agent": "GreenHill"}).json() == answer.json()
    refused = client.post(route, json={"agent": "Nobody"})
    assert (refused.status_code, refused.json()["detail"][0]["loc"]) == (422, ["body", "agent"])
    for wrong in ({}, {"agent": ""}, {"agent": 7}, {"agent": "a", "at": 1}):
        assert client.post(route, json=wrong).status_code == 422
    lone = client.post(route, content=b'{"agent": "a\\ud800"}', headers={"content-type": "application/json"})
    assert lone.status_code == 422
    assert client.post("/api/v1/mail/messages/999/acknowledge", json={"agent": "a"}).status_code == 404


def test_what_messages_refer_to_is_a_conflict_until_they_are_deleted(client: TestClient, atlas: int) -> None:
    [result] = put(client, "messages", MESSAGE)["results"]
    agents = {each["name"]: each["id"] for each in client.get("/api/v1/mail/agents").json()}
    for path in (f"projects/{atlas}", f"agents/{agents['BlueLake']}", f"agents/{agents['RedStone']}"):
        answer = client.delete(f"/api/v1/mail/{path}")
        assert (answer.status_code, "delete them first" in answer.json()["detail"]) == (409, True)
    assert client.delete(f"/api/v1/mail/messages/{result['id']}").status_code == 204
    for path in (f"projects/{atlas}", f"agents/{agents['BlueLake']}", f"agents/{agents['RedStone']}"):
        assert client.delete(f"/api/v1/mail/{path}").status_code == 204
        assert client.get(f"/api/v1/mail/{path}").status_code == 404


# Whose they are


def test_the_body_never_says_whose_it_is(client: TestClient, system: System) -> None:
    [result] = put(client, "projects", {"key": "x", "name": "X", "org_id": "acme"})["results"]
    assert result["status"] == "created"
    found, _ = system.parts.mail.read.projects(of_org("acme"), limit=10, offset=0)
    assert {project.org_id for project in found} == {None}


def test_health_and_the_check_count_mail(client: TestClient, system: System) -> None:
    put(client, "messages", MESSAGE)
    assert client.get("/health").json()["index_mail"] == 5  # a project, a message, three agents
    report = client.get("/api/v1/verify").json()
    assert (report["ok"], report["mail"]) == (True, 5)
    assert system.parts.reindex().embedded.total() == 0
