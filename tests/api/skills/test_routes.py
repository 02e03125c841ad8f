"""The skill service over HTTP: status codes and bodies of skill-contract, API Contracts, and who may do what.

Also decisions 13, 14, 27 and 28.
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fastapi.testclient import TestClient
from mangum import Mangum
from skillroute.core.errors.model import ClassifierAnswerInvalid, ClassifierUnavailable
from skillroute.core.http.app import create_app
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts
from skillroute_local.gateway import body_sent, http_event, with_claims

from tests.api.tokens import JWT, as_gateway_says
from tests.api.tokens import claims as good_claims
from tests.builders import System, of_org
from tests.doubles import proposing

CALENDAR = {
    "id": "calendar_management",
    "name": "Calendar Management",
    "description": "Tools for managing calendars and events...",
    "keywords": ["calendar", "event", "schedule"],
    "examples": ["create_event", "list_events"],
    "parent_domain": "productivity",
}
MOMENT = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")


def create(client: TestClient, skill_id: str = "mail", **fields: Any) -> dict[str, Any]:
    response = client.post(
        "/api/v1/skills", json={"id": skill_id, "name": skill_id, "description": f"All about {skill_id}.", **fields}
    )
    assert response.status_code == 201, response.text
    answer: dict[str, Any] = response.json()
    return answer


def suggest(client: TestClient, system: System, tool: str = "encode", name: str = "Video") -> int:
    [tool_id] = system.put(tool)
    system.classifier.answers[tool] = proposing(name)
    system.classify(tool_id)
    return int(client.get("/api/v1/skills/suggestions").json()[-1]["id"])


# POST /skills


def test_creating_a_skill_answers_201_with_the_skill(client: TestClient) -> None:
    response = client.post("/api/v1/skills", json=CALENDAR)
    assert response.status_code == 201
    answer = response.json()
    assert {name: answer[name] for name in CALENDAR} == CALENDAR
    assert (answer["tool_count"], answer["is_active"], answer["org_id"]) == (0, True, None)
    assert MOMENT.match(answer["created_at"])
    assert answer["created_at"] == answer["updated_at"]


def test_what_is_optional_has_defaults(client: TestClient) -> None:
    answer = create(client)
    assert (answer["keywords"], answer["examples"], answer["parent_domain"]) == ([], [], None)


def test_a_duplicate_id_is_409_with_the_contracts_words(client: TestClient) -> None:
    create(client, "calendar_management")
    response = client.post("/api/v1/skills", json=CALENDAR)
    assert (response.status_code, response.json()["detail"]) == (409, "Skill already exists: calendar_management")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"id": "Calendar"}, "id"),
        ({"id": "classify"}, "id"),
        ({"id": "a" * 65}, "id"),
        ({"id": None}, "id"),
        ({"name": "n" * 256}, "name"),
        ({"name": "a\x00b"}, "name"),
        ({"description": "too short"}, "description"),
        ({"description": "d" * 1001}, "description"),
        ({"keywords": ["Upper"]}, "keywords"),
        ({"keywords": ["k"] * 21}, "keywords"),
        ({"keywords": "calendar"}, "keywords"),
        ({"examples": ["e"] * 11}, "examples"),
        ({"org_id": "acme"}, "org_id"),
        ({"is_active": False}, "is_active"),
    ],
)
def test_a_skill_that_may_not_be_is_422_and_names_the_field(
    client: TestClient, changes: dict[str, Any], field: str
) -> None:
    response = client.post("/api/v1/skills", json=CALENDAR | changes)
    assert response.status_code == 422
    [problem, *_] = response.json()["detail"]
    assert problem["loc"][:2] == ["body", field]
    assert client.get("/api/v1/skills?is_active=all").json() == []


@pytest.mark.parametrize("field", ["id", "name", "description"])
def test_a_required_field_that_is_missing_is_422(client: TestClient, field: str) -> None:
    response = client.post("/api/v1/skills", json={name: value for name, value in CALENDAR.items() if name != field})
    assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["body", field])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/skills"),
        ("POST", "/api/v1/skills/classify"),
        ("PUT", "/api/v1/skills/mail"),
        ("PATCH", "/api/v1/skills/mail"),
        ("POST", "/api/v1/skills/suggestions/1/approve"),
        ("POST", "/api/v1/skills/suggestions/1/reject"),
        ("POST", "/api/v1/skills/suggestions/1/merge"),
        ("PUT", "/api/v1/tools/1/skills"),
    ],
)
@pytest.mark.parametrize("body", ["{", '{"a": ', "\xff", "[" * 50_000, "[7]", '"mail"', "7"])
def test_malformed_json_is_422_on_every_route(shared_client: TestClient, method: str, path: str, body: str) -> None:
    content = body.encode("latin-1")
    response = shared_client.request(method, path, content=content, headers={"content-type": "application/json"})
    assert response.status_code == 422
    assert isinstance(response.json()["detail"], list)


# GET /skills


def test_skills_are_listed_by_name_and_their_number_is_in_the_header(client: TestClient) -> None:
    for skill_id, name in [("a", "Zeta"), ("b", "Alpha"), ("c", "Mu")]:
        create(client, skill_id, name=name)
    response = client.get("/api/v1/skills", params={"limit": 2, "offset": 1})
    assert (response.status_code, response.headers["X-Total-Count"]) == (200, "3")
    assert [skill["id"] for skill in response.json()] == ["c", "a"]
    assert response.json()[0] == client.get("/api/v1/skills/c").json()


def test_by_default_a_list_has_100_active_skills(client: TestClient, system: System) -> None:
    system.sql(
        "INSERT INTO mcp.skill_categories (id, name, description) "
        "SELECT 's' || n, 'S', 'One of many skills.' FROM generate_series(1, 101) n"
    )
    response = client.get("/api/v1/skills")
    assert (len(response.json()), response.headers["X-Total-Count"]) == (100, "101")


@pytest.mark.parametrize(
    ("query", "found"),
    [("", ["on"]), ("is_active=true", ["on"]), ("is_active=false", ["off"]), ("is_active=all", ["off", "on"])],
)
def test_is_active_is_true_false_or_all(client: TestClient, query: str, found: list[str]) -> None:
    create(client, "on")
    create(client, "off")
    assert client.patch("/api/v1/skills/off", json={"is_active": False}).status_code == 200
    response = client.get(f"/api/v1/skills?{query}")
    assert [skill["id"] for skill in response.json()] == found
    assert response.headers["X-Total-Count"] == str(len(found))


def test_skills_are_filtered_by_parent_domain(client: TestClient) -> None:
    create(client, "a", parent_domain="work")
    create(client, "b")
    assert [skill["id"] for skill in client.get("/api/v1/skills?parent_domain=work").json()] == ["a"]


@pytest.mark.parametrize("limit", [1, 1000])
def test_the_limits_of_a_list_are_taken(shared_client: TestClient, limit: int) -> None:
    assert shared_client.get("/api/v1/skills", params={"limit": limit}).status_code == 200


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "limit=x", "offset=-1", "is_active=maybe", "is_active=", "parent_domain=%00"]
)
@pytest.mark.parametrize("path", ["/api/v1/skills"])
def test_a_query_beyond_its_limits_is_422(shared_client: TestClient, path: str, query: str) -> None:
    assert shared_client.get(f"{path}?{query}").status_code == 422


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "offset=-1"])
@pytest.mark.parametrize("path", ["/api/v1/skills/mail/tools", "/api/v1/skills/suggestions"])
def test_pages_of_tools_and_suggestions_have_the_same_limits(shared_client: TestClient, path: str, query: str) -> None:
    assert shared_client.get(f"{path}?{query}").status_code == 422


# GET /skills/{id}


def test_a_skill_is_read_as_it_was_created(client: TestClient) -> None:
    created = client.post("/api/v1/skills", json=CALENDAR).json()
    response = client.get("/api/v1/skills/calendar_management")
    assert (response.status_code, response.json()) == (200, created)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("GET", "/tools"),
        ("POST", "/describe"),
    ],
)
def test_an_unknown_skill_is_404_on_every_route_but_put(client: TestClient, method: str, path: str) -> None:
    body = {"name": "Mail"} if method == "PATCH" else None
    response = client.request(method, f"/api/v1/skills/unknown{path}", json=body)
    assert (response.status_code, response.json()["detail"]) == (404, "no skill with id unknown")


@pytest.mark.parametrize("bad", ["Mail", "1a", "a-b", "a" * 65, "a%20b", "a%0A", "%00", "caf%C3%A9"])
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", ""), ("PATCH", ""), ("PUT", ""), ("DELETE", ""), ("GET", "/tools"), ("POST", "/describe")],
)
def test_an_id_that_no_skill_can_have_is_422_before_any_lookup(
    shared_client: TestClient, shared_system: System, method: str, path: str, bad: str
) -> None:
    body = {"name": "Mail", "description": "All about mail."} if method in {"PATCH", "PUT"} else None
    before = shared_system.database.calls
    assert shared_client.request(method, f"/api/v1/skills/{bad}{path}", json=body).status_code == 422
    assert shared_system.database.calls == before


@pytest.mark.parametrize("bad", ["0", "-1", "x", "1.5", str(2**63), "%00"])
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/v1/skills/suggestions/{}/approve", None),
        ("POST", "/api/v1/skills/suggestions/{}/reject", None),
        ("POST", "/api/v1/skills/suggestions/{}/merge", {"skill_id": "mail"}),
        ("GET", "/api/v1/tools/{}/skills", None),
        ("PUT", "/api/v1/tools/{}/skills", {"skills": []}),
    ],
)
def test_a_number_that_nothing_can_have_is_422_before_any_lookup(
    shared_client: TestClient, shared_system: System, method: str, path: str, body: Any, bad: str
) -> None:
    before = shared_system.database.calls
    assert shared_client.request(method, path.format(bad), json=body).status_code == 422
    assert shared_system.database.calls == before


# PUT, PATCH, DELETE


def test_put_writes_a_skill_over_whole(client: TestClient) -> None:
    client.post("/api/v1/skills", json=CALENDAR)
    body = {"name": "Calendars", "description": "Managing calendars.", "keywords": ["date"]}
    response = client.put("/api/v1/skills/calendar_management", json=body)
    assert response.status_code == 200
    answer = response.json()
    assert {name: answer[name] for name in body} == body
    assert (answer["examples"], answer["parent_domain"], answer["is_active"]) == ([], None, True)
    assert answer["updated_at"] > answer["created_at"]
    assert client.get("/api/v1/skills/calendar_management").json() == answer


def test_put_keeps_the_state_and_the_tools_unless_told_otherwise(client: TestClient, system: System) -> None:
    create(client)
    system.assign(*system.put("t"), mail=1.0)
    client.patch("/api/v1/skills/mail", json={"is_active": False})
    body = {"name": "Letters", "description": "All about letters."}
    answer = client.put("/api/v1/skills/mail", json=body).json()
    assert (answer["is_active"], answer["tool_count"]) == (False, 1)
    assert client.put("/api/v1/skills/mail", json=body | {"is_active": True}).json()["is_active"] is True


def test_put_needs_name_and_description(client: TestClient) -> None:
    create(client)
    assert client.put("/api/v1/skills/mail", json={"name": "Mail"}).status_code == 422
    assert client.put("/api/v1/skills/mail", json={"description": "All about mail."}).status_code == 422


def test_patch_changes_only_what_it_names(client: TestClient) -> None:
    created = client.post("/api/v1/skills", json=CALENDAR).json()
    response = client.patch("/api/v1/skills/calendar_management", json={"keywords": ["date"]})
    changed = response.json()
    assert response.status_code == 200
    assert changed == created | {"keywords": ["date"], "updated_at": changed["updated_at"]}
    assert (
        client.patch("/api/v1/skills/calendar_management", json={"parent_domain": None}).json()["parent_domain"] is None
    )


@pytest.mark.parametrize(
    "body",
    [
        {"name": ""},
        {"name": None},
        {"description": "short"},
        {"keywords": ["Upper"]},
        {"is_active": None},
        {"is_active": "false"},
        {"is_active": 0},
        {"id": "other"},
        {"toolcount": 1},
        {"name": "a\x00b"},
    ],
)
def test_patch_with_what_may_not_be_is_422_and_changes_nothing(client: TestClient, body: dict[str, Any]) -> None:
    created = create(client)
    response = client.patch("/api/v1/skills/mail", json=body)
    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"][0] == "body"
    assert client.get("/api/v1/skills/mail").json() == created


def test_a_skill_is_deactivated_reactivated_and_deleted(client: TestClient) -> None:
    create(client)
    for is_active in (False, False, True):
        response = client.patch("/api/v1/skills/mail", json={"is_active": is_active})
        assert (response.status_code, response.json()["is_active"]) == (200, is_active)
    response = client.delete("/api/v1/skills/mail")
    assert (response.status_code, response.content) == (204, b"")
    assert client.get("/api/v1/skills/mail").status_code == 404
    assert client.delete("/api/v1/skills/mail").status_code == 404
    assert client.patch("/api/v1/skills/mail", json={"name": "Mail"}).status_code == 404
    for is_active in (False, True):
        response = client.patch("/api/v1/skills/mail", json={"is_active": is_active})
        assert response.status_code == 409
        assert isinstance(response.json()["detail"], str)
    assert create(client)["tool_count"] == 0


# GET /skills/{id}/tools


def test_a_skills_tools_are_listed_as_in_the_contract(client: TestClient, system: System) -> None:
    create(client, "calendar")
    create(client, "mail")
    a, b = system.put("create_event", "list_events", server="cal")
    system.assign(a, calendar=0.95)
    system.assign(b, calendar=0.99, mail=1.0)
    response = client.get("/api/v1/skills/calendar/tools")
    assert (response.status_code, response.headers["X-Total-Count"]) == (200, "2")
    first, second = response.json()
    assert MOMENT.match(second.pop("assigned_at"))
    assert (first["tool_id"], first["is_primary"]) == (b, False)
    assert second == {
        "tool_id": a,
        "tool_name": "create_event",
        "server": "cal",
        "type": "tool",
        "confidence": 0.95,
        "is_primary": True,
        "source": "human_manual",
    }
    page = client.get("/api/v1/skills/calendar/tools?limit=1&offset=1")
    assert ([each["tool_id"] for each in page.json()], page.headers["X-Total-Count"]) == ([a], "2")


def test_a_skill_without_tools_has_an_empty_list(client: TestClient) -> None:
    create(client)
    response = client.get("/api/v1/skills/mail/tools")
    assert (response.status_code, response.json(), response.headers["X-Total-Count"]) == (200, [], "0")


# POST /skills/classify


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


def test_with_postgresql_down_every_route_is_503(client: TestClient, system: System) -> None:
    system.database.down = True
    for method, path, body in [
        ("GET", "/api/v1/skills", None),
        ("POST", "/api/v1/skills", CALENDAR),
        ("PATCH", "/api/v1/skills/mail", {"name": "Mail"}),
        ("DELETE", "/api/v1/skills/mail", None),
        ("POST", "/api/v1/skills/classify", {"tool_id": 1}),
        ("GET", "/api/v1/skills/suggestions", None),
        ("PUT", "/api/v1/tools/1/skills", {"skills": []}),
    ]:
        response = client.request(method, path, json=body)
        assert (response.status_code, response.json()["detail"]) == (503, "PostgreSQL cannot be reached")


# Suggestions


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


# /tools/{id}/skills


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


# Who may do what


ROUTES = [
    ("POST", "/api/v1/skills", CALENDAR, "skills"),
    ("GET", "/api/v1/skills", None, "search"),
    ("POST", "/api/v1/skills/classify", {"tool_id": 1}, "skills"),
    ("GET", "/api/v1/skills/shared", None, "search"),
    ("PUT", "/api/v1/skills/shared", {"name": "Mine", "description": "All about me."}, "skills"),
    ("PATCH", "/api/v1/skills/shared", {"name": "Mine"}, "skills"),
    ("DELETE", "/api/v1/skills/shared", None, "skills"),
    ("GET", "/api/v1/skills/shared/tools", None, "search"),
    ("POST", "/api/v1/skills/shared/describe", None, "skills"),
    ("GET", "/api/v1/skills/suggestions", None, "skills"),
    ("POST", "/api/v1/skills/suggestions/1/approve", None, "skills"),
    ("POST", "/api/v1/skills/suggestions/1/reject", None, "skills"),
    ("POST", "/api/v1/skills/suggestions/1/merge", {"skill_id": "shared"}, "skills"),
    ("GET", "/api/v1/tools/1/skills", None, "search"),
    ("PUT", "/api/v1/tools/1/skills", {"skills": []}, "skills"),
]
OF_ACME = {"org_id": "acme", "sub": "ann"}


@pytest.fixture
def gateway_app(system: System, database_url: str) -> Any:
    """The app behind API Gateway, with a global skill, a global tool and a global suggestion."""
    settings = LocalSettings(database_url=database_url, **JWT)
    parts = Parts(
        settings,
        embedder=system.embedder,
        replica=system.replica,
        database=system.database,
        classifier=system.classifier,
        chat=system.chat,
        notifier=system.notifier,
    )
    system.create("shared")
    system.classify(*system.put("tool"))
    routers, use_cases = parts.served("skills", "search")
    return create_app(routers, use_cases=use_cases)


VOUCHED = as_gateway_says(good_claims(scope=None, sub=None))


def invoke(app: Any, method: str, path: str, claims: dict[str, str] | None, body: Any = None) -> tuple[int, Any]:
    event = http_event(f"{method} {path}", body, None if claims is None else with_claims(VOUCHED | claims))
    answer = Mangum(app, lifespan="off")(event, None)  # type: ignore[arg-type]
    return answer["statusCode"], json.loads(body_sent(answer)) if answer["body"] else None


def test_every_route_wants_an_identity_and_its_scope(gateway_app: Any) -> None:
    for method, path, body, scope in ROUTES:
        assert invoke(gateway_app, method, path, None, body)[0] == 401
        others = " ".join({"search", "catalog", "skills"} - {scope})
        status, refused = invoke(gateway_app, method, path, OF_ACME | {"scope": others}, body)
        assert (path, status, refused["detail"]) == (path, 403, f"the token lacks the scope {scope!r}")


def test_an_organisation_reads_what_is_global_and_changes_none_of_it(gateway_app: Any, system: System) -> None:
    claims = OF_ACME | {"scope": "search skills"}
    statuses = {
        f"{method} {path}": invoke(gateway_app, method, path, claims, body)[0] for method, path, body, _ in ROUTES
    }
    assert statuses == {
        "POST /api/v1/skills": 201,
        "GET /api/v1/skills": 200,
        "POST /api/v1/skills/classify": 403,
        "GET /api/v1/skills/shared": 200,
        "PUT /api/v1/skills/shared": 403,
        "PATCH /api/v1/skills/shared": 403,
        "DELETE /api/v1/skills/shared": 403,
        "GET /api/v1/skills/shared/tools": 200,
        "POST /api/v1/skills/shared/describe": 403,
        "GET /api/v1/skills/suggestions": 200,
        "POST /api/v1/skills/suggestions/1/approve": 403,
        "POST /api/v1/skills/suggestions/1/reject": 403,
        "POST /api/v1/skills/suggestions/1/merge": 403,
        "GET /api/v1/tools/1/skills": 200,
        "PUT /api/v1/tools/1/skills": 403,
    }
    assert system.chat.asked == []


def test_what_belongs_to_an_organisation_is_404_for_others(gateway_app: Any, system: System) -> None:
    system.create("own", of_org("acme"))
    [tool_id] = system.put("own", caller=of_org("acme"))
    system.classify(tool_id)
    [suggestion] = [each for each in system.suggestions(caller=of_org("acme")) if each.org_id == "acme"]
    for claims in ({"org_id": "umbrella", "scope": "admin"}, {"scope": "admin"}):
        for method, path, body, _ in ROUTES:
            path = (  # noqa: PLW2901
                path.replace("skills/shared", "skills/own")
                .replace("suggestions/1", f"suggestions/{suggestion.id}")
                .replace("tools/1", f"tools/{tool_id}")
            )
            if path in {"/api/v1/skills", "/api/v1/skills/suggestions"} or (method, path[-4:]) == ("PUT", "/own"):
                continue  # a PUT creates a skill of the caller's own
            body = body | {"tool_id": tool_id} if path.endswith("classify") else body  # noqa: PLW2901
            assert (path, invoke(gateway_app, method, path, claims, body)[0]) == (path, 404)
        assert [skill["id"] for skill in invoke(gateway_app, "GET", "/api/v1/skills", claims)[1]] == ["shared"]
        listed = invoke(gateway_app, "GET", "/api/v1/skills/suggestions", claims)[1]
        assert suggestion.id not in [each["id"] for each in listed]
    assert system.parts.skills.read.get("own", of_org("acme")).name == "own"


def test_the_organisation_and_the_reviewer_come_from_the_token(gateway_app: Any, system: System) -> None:
    claims = OF_ACME | {"scope": "search skills"}
    status, skill = invoke(gateway_app, "POST", "/api/v1/skills", claims, CALENDAR)
    assert (status, skill["org_id"]) == (201, "acme")
    system.classify(*system.put("own", caller=of_org("acme")))
    [suggestion] = [each for each in system.suggestions(caller=of_org("acme")) if each.org_id == "acme"]
    status, answer = invoke(gateway_app, "POST", f"/api/v1/skills/suggestions/{suggestion.id}/approve", claims)
    assert (status, answer["skill"]["org_id"], answer["suggestion"]["reviewed_by"]) == (200, "acme", "ann")


def test_the_check_of_everything_is_for_who_belongs_to_no_organisation(gateway_app: Any) -> None:
    status, refused = invoke(gateway_app, "GET", "/api/v1/verify", OF_ACME | {"scope": "admin"})
    assert (status, refused["detail"]) == (403, "the check sees every organisation: it needs a token of none")
    status, answer = invoke(gateway_app, "GET", "/api/v1/verify", {"sub": "ann", "scope": "admin"})
    assert (status, answer["ok"], answer["findings"]) == (200, True, [])
