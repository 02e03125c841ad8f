"""What every route does alike: parameters it does not have, methods, content types, and where what it made is."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.routes import BODIES, SCOPES, fill, filled
from tests.builders import System

STRICT = sorted(route for route in SCOPES if route[1].startswith("/api/v1/"))
"""Routes that refuse parameters that they do not have; `/mcp`, `/health` and `/ready` are asked by others' programs."""
READING = sorted(path for method, path in SCOPES if method == "GET")
WITH_BODY = sorted(route for route in BODIES if route != ("POST", "/mcp"))
MAIL = {"name": "Mail", "description": "Reading and writing mail."}


@pytest.mark.parametrize(("method", "path"), STRICT)
def test_a_parameter_that_a_route_does_not_have_is_422(shared_client: TestClient, method: str, path: str) -> None:
    asked = filled(path)
    target = f"{asked}{'&' if '?' in asked else '?'}nonsense=1"
    response = shared_client.request(method, target, json=BODIES.get((method, path)))
    assert response.status_code == 422
    [problem] = response.json()["detail"]
    assert (problem["loc"], problem["type"]) == (["query", "nonsense"], "extra_forbidden")


def test_a_parameter_that_a_route_does_not_have_names_those_that_it_has(shared_client: TestClient) -> None:
    [problem] = shared_client.get("/api/v1/mail/projects?org=acme").json()["detail"]
    assert problem["msg"] == "is not a parameter of this route; allowed are key, limit, offset"
    [problem] = shared_client.get("/api/v1/tools/1?verbose=1").json()["detail"]
    assert problem["msg"] == "is not a parameter of this route; it takes none"


def test_a_parameter_that_is_given_twice_is_422(shared_client: TestClient) -> None:
    [problem] = shared_client.get("/api/v1/tools?type=tool&type=prompt").json()["detail"]
    assert (problem["loc"], problem["msg"]) == (["query", "type"], "is given more than once")
    [problem] = shared_client.get("/api/v1/tools?type=tool&item_type=prompt").json()["detail"]
    assert (problem["loc"], problem["msg"]) == (["query", "type"], "is given twice: item_type means the same")


@pytest.mark.parametrize(
    ("path", "one", "other", "some"),
    [
        ("/api/v1/tools", "type=prompt", "item_type=prompt", False),
        ("/api/v1/tools", "skill_id=garden", "skill_ids=garden", True),
        ("/api/v1/tools", "skill_id=nothing,garden", "skill_ids=garden,%20nothing,", True),
        ("/api/v1/search/tools?query=water", "item_type=prompt", "type=prompt", False),
        ("/api/v1/search/tools?query=water", "skill_ids=garden", "skill_id=garden", True),
        ("/api/v1/mail/messages", "sender=gardener", "from=gardener", True),
        ("/api/v1/mail/messages", "sender=planner", "from=planner", False),
    ],
)
def test_either_name_of_a_parameter_filters(
    client: TestClient, system: System, path: str, one: str, other: str, some: bool
) -> None:
    fill(system)
    mark = "&" if "?" in path else "?"
    everything = client.get(path).json()
    by_one, by_other = (client.get(f"{path}{mark}{parameter}") for parameter in (one, other))
    assert by_one.json() == by_other.json()
    assert bool(by_one.json()) is some
    if not some:
        assert everything, "else the filter could not be seen to filter"


def test_a_page_after_the_first_keeps_a_filter_by_its_other_name(client: TestClient, system: System) -> None:
    system.put("a", "b", "c")
    response = client.get("/api/v1/tools?item_type=tool&limit=1")
    assert response.headers["link"] == '<?type=tool&offset=1&limit=1>; rel="next"'


def test_a_message_may_name_its_sender_by_either_name(client: TestClient, system: System) -> None:
    fill(system)
    message = {"key": "other", "project": "garden", "sender": "planner", "to": ["gardener"], "subject": "Rain"}
    [result] = client.put("/api/v1/mail/messages", json=[message]).json()["results"]
    assert client.get(f"/api/v1/mail/messages/{result['id']}").json()["from"] == "planner"


@pytest.mark.parametrize(("method", "path"), WITH_BODY)
@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_a_body_that_is_not_said_to_be_json_is_415(
    shared_client: TestClient, method: str, path: str, content_type: str | None
) -> None:
    headers = {} if content_type is None else {"content-type": content_type}
    response = shared_client.request(method, filled(path), content=b"{}", headers=headers)
    assert response.status_code == 415
    assert "Content-Type: application/json" in response.json()["detail"]


@pytest.mark.parametrize("content_type", ["application/json", "application/json; charset=utf-8", "application/ld+json"])
def test_json_by_its_other_names_is_read(shared_client: TestClient, content_type: str) -> None:
    response = shared_client.post("/api/v1/search", content=b'{"query": "x"}', headers={"content-type": content_type})
    assert response.status_code == 200


def test_a_body_that_may_be_missing_needs_no_content_type(client: TestClient, system: System) -> None:
    ids = fill(system)
    assert client.post(f"/api/v1/skills/suggestions/{ids['suggestion']}/reject").status_code == 200


@pytest.mark.parametrize("path", READING)
def test_head_answers_as_get_does_without_a_body(client: TestClient, system: System, path: str) -> None:
    fill(system)
    given, asked = client.get(filled(path)), client.head(filled(path))
    assert (given.status_code, asked.status_code, asked.content) == (200, 200, b"")
    if path not in {"/health", "/api/v1/search/skills"}:  # what they say has another length each time
        kept = {name: value for name, value in given.headers.items() if name != "x-request-id"}
        assert {name: value for name, value in asked.headers.items() if name != "x-request-id"} == kept


def test_head_of_what_is_not_there_is_404_without_a_body(shared_client: TestClient) -> None:
    response = shared_client.head("/api/v1/tools/999")
    assert (response.status_code, response.content) == (404, b"")


def test_a_method_that_a_path_does_not_have_names_all_that_it_has(shared_client: TestClient) -> None:
    for path, allowed in {
        "/api/v1/skills/mail": "DELETE, GET, HEAD, PATCH, PUT",
        "/api/v1/tools": "GET, HEAD, PUT",
        "/api/v1/search": "POST",
    }.items():
        response = shared_client.request("OPTIONS", path)
        assert (response.status_code, response.headers["allow"]) == (405, allowed)


# What was made, and what is the same


def test_a_method_that_a_page_of_the_document_does_not_have_names_those_that_it_has(shared_client: TestClient) -> None:
    response = shared_client.post("/openapi.json")
    assert (response.status_code, response.headers["allow"]) == (405, "GET, HEAD")


def test_the_parameters_of_a_signed_url_are_the_gateways(shared_client: TestClient) -> None:
    signed = {"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Signature": "1", "limit": "1"}
    assert shared_client.get("/api/v1/tools", params=signed).status_code == 200


def test_what_was_created_is_where_location_says(client: TestClient, system: System) -> None:
    created = client.post("/api/v1/skills", json={"id": "mail", **MAIL})
    assert (created.status_code, created.headers["location"]) == (201, "/api/v1/skills/mail")
    assert client.get(created.headers["location"]).json() == created.json()
    system.chat.reply = {"description": "Reading and sending letters."}
    described = client.post("/api/v1/skills/mail/describe")
    assert described.status_code == 201
    assert client.get(described.headers["location"]).json() == described.json()


def test_put_creates_a_skill_that_is_not_there(client: TestClient) -> None:
    created = client.put("/api/v1/skills/mail", json={**MAIL, "is_active": False})
    assert (created.status_code, created.headers["location"]) == (201, "/api/v1/skills/mail")
    assert created.json()["is_active"] is False
    assert client.get("/api/v1/skills/mail").json() == created.json()
    # AND what was deleted, as POST does
    client.delete("/api/v1/skills/mail")
    assert client.put("/api/v1/skills/mail", json={**MAIL, "is_active": True}).status_code == 201
    again = client.put("/api/v1/skills/mail", json=MAIL)
    assert (again.status_code, "location" in again.headers) == (200, False)


@pytest.mark.parametrize("skill_id", ["classify", "suggestions"])
def test_put_creates_no_skill_of_a_reserved_id(client: TestClient, skill_id: str) -> None:
    response = client.put(f"/api/v1/skills/{skill_id}", json=MAIL)
    assert (response.status_code, response.json()["detail"][0]["loc"]) == (422, ["body", "id"])
    assert client.get("/api/v1/skills?is_active=all").json() == []


@pytest.mark.parametrize("body", [{}, {"name": "Mail"}, {"is_active": True}, {"keywords": []}])
def test_patch_with_what_a_skill_says_already_changes_nothing(client: TestClient, body: dict[str, Any]) -> None:
    created = client.post("/api/v1/skills", json={"id": "mail", **MAIL}).json()
    response = client.patch("/api/v1/skills/mail", json=body)
    assert (response.status_code, response.json()) == (200, created)
    assert client.get("/api/v1/skills/mail").json() == created


# Headers of searches and of mail

SEARCHES = ("/api/v1/search", "/api/v1/search/registry", "/api/v1/search/messages")


@pytest.mark.parametrize("path", SEARCHES)
def test_a_search_says_how_it_was_answered_in_headers_too(client: TestClient, system: System, path: str) -> None:
    fill(system)
    body = BODIES["POST", path]
    response = client.post(path, json=body)
    assert (response.status_code, "x-degraded" in response.headers) == (200, False)
    answer = response.json()
    assert response.headers["x-search-mode"] == answer.get("search_mode", answer.get("mode", "semantic"))
    # AND without the model
    system.embedder.away = True
    asked = {"text": "rain", "mode": "semantic"} if path.endswith("messages") else {"query": "rain"}
    response = client.post(path, json=asked)
    assert response.status_code == 200
    assert response.headers["x-search-mode"].startswith("lexical")
    assert response.headers["x-degraded"]


@pytest.mark.parametrize(
    ("method", "path"), sorted(route for route in SCOPES if "mail" in route[1] or "messages" in route[1])
)
def test_no_answer_with_mail_may_be_kept_on_the_way(client: TestClient, system: System, method: str, path: str) -> None:
    fill(system)
    response = client.request(method, filled(path), json=BODIES.get((method, path)))
    assert response.status_code in {200, 204, 409}, response.text
    if response.status_code != 409:
        assert response.headers["cache-control"] == "private, no-store"
