"""The skill service over HTTP: status codes and bodies of skill-contract, API Contracts.

Also decisions 13, 14 and 28.
"""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.skills.calls import CALENDAR, MOMENT, create
from tests.builders import System

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


# Every route


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
