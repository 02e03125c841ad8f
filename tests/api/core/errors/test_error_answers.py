"""Errors for programs: a code beside the sentence, the request's id, and all that is wrong in one shape."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from fastapi.testclient import TestClient
from mangum import Mangum
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import ClassifierUnavailable
from skillroute_local.gateway import http_event

from tests.api.one_app import app_over
from tests.api.routes import fill
from tests.builders import System, of_org
from tests.doubles import LogRecords

MAIL = {"id": "mail", "name": "Mail", "description": "Reading and writing mail."}


def refused(response: Any, status: int, code: str) -> Any:
    """Check the shape of an error and return its detail."""
    answer = response.json()
    assert (response.status_code, answer["code"]) == (status, code)
    assert ErrorCode[code.upper()].status == status
    assert answer["request_id"] == response.headers["x-request-id"]
    assert answer.keys() == {"detail", "code", "request_id"}
    return answer["detail"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/api/v1/skills/nothing", "skill_not_found"),
        ("/api/v1/skills/suggestions/9", "suggestion_not_found"),
        ("/api/v1/tools/9", "item_not_found"),
        ("/api/v1/servers/9", "server_not_found"),
        ("/api/v1/agents/9", "agent_not_found"),
        ("/api/v1/mail/projects/9", "project_not_found"),
        ("/api/v1/mail/products/9", "product_not_found"),
        ("/api/v1/mail/agents/9", "agent_not_found"),
        ("/api/v1/mail/messages/9", "message_not_found"),
        ("/api/v1/nothing", "route_not_found"),
    ],
)
def test_what_is_not_there_says_what_it_would_be(shared_client: TestClient, path: str, code: str) -> None:
    assert isinstance(refused(shared_client.get(path), 404, code), str)


def test_conflicts_say_which_one_it_is(client: TestClient, system: System) -> None:
    ids = fill(system)
    path = f"/api/v1/skills/suggestions/{ids['suggestion']}/reject"
    refused(client.post("/api/v1/skills", json={**MAIL, "id": "garden"}), 409, "skill_exists")
    assert client.post(path).status_code == 200
    refused(client.post(path), 409, "already_decided")
    assert client.delete("/api/v1/skills/garden").status_code == 204
    refused(client.patch("/api/v1/skills/garden", json={"is_active": True}), 409, "skill_deleted")
    refused(client.delete(f"/api/v1/mail/projects/{ids['project']}"), 409, "still_referred_to")


def test_an_outage_says_what_is_away(client: TestClient, system: System) -> None:
    [tool_id] = system.put("t")
    system.classifier.answers["t"] = ClassifierUnavailable("timed out")
    refused(client.post("/api/v1/skills/classify", json={"tool_id": tool_id}), 503, "classifier_unavailable")
    system.database.down = True
    refused(client.get("/api/v1/skills"), 503, "database_unavailable")


def test_what_is_refused_before_any_use_case_has_a_code_too(shared_client: TestClient) -> None:
    refused(shared_client.request("PATCH", "/api/v1/search"), 405, "method_not_allowed")
    refused(shared_client.post("/api/v1/search", content=b"{}"), 415, "unsupported_media_type")
    headers = {"content-type": "application/json"}
    refused(shared_client.post("/api/v1/search", content=b"x" * 1_100_000, headers=headers), 413, "body_too_large")
    refused(shared_client.post("/api/v1/search", content=b"x" * 7_000_000, headers=headers), 413, "body_too_large")
    endless = headers | {"content-length": "9" * 5000}
    refused(shared_client.post("/api/v1/search", content=b"{}", headers=endless), 413, "body_too_large")
    refused(shared_client.post("/api/v1/search", json={"query": ""}), 422, "invalid_request")
    refused(shared_client.get("/api/v1/tools?nonsense=1"), 422, "invalid_request")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b'{"query": }', "is not JSON: Expecting value (line 1, column 11)"),
        (b'{"query": "x"\n"limit": 1}', "is not JSON: Expecting ',' delimiter (line 2, column 1)"),
        (b"{'query': 1}", "is not JSON: Expecting property name enclosed in double quotes (line 1, column 2)"),
        (b"[" * 10_000, "the JSON is nested too deeply"),
        (b'"\xff"', "the body is not valid UTF-8"),
    ],
    ids=lambda value: str(value)[:20],
)
@pytest.mark.parametrize(("method", "path"), [("POST", "/api/v1/search"), ("PUT", "/api/v1/tools")])
def test_a_body_that_is_no_json_says_where(
    shared_client: TestClient, method: str, path: str, body: bytes, reason: str
) -> None:
    response = shared_client.request(method, path, content=body, headers={"content-type": "application/json"})
    [problem] = refused(response, 422, "invalid_json")
    assert (problem["msg"], problem["type"], problem["loc"][0]) == (reason, "json_invalid", "body")


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("POST", "/api/v1/skills", {**MAIL, "id": "Mail!"}, "must begin with a small letter, then take small letters"),
        ("POST", "/api/v1/skills", {**MAIL, "id": "mail\n"}, "must begin with a small letter, then take small letters"),
        ("GET", "/api/v1/skills/Mail", None, "must begin with a small letter, then take small letters"),
        ("PUT", "/api/v1/tools/1/skills", {"skills": [{"skill_id": "A"}]}, "must begin with a small letter"),
        ("POST", "/api/v1/skills", {**MAIL, "keywords": ["Upper"]}, "must be lower case"),
        ("POST", "/api/v1/skills", [], "must be an object"),
        ("POST", "/api/v1/search", "query", "must be an object"),
        ("POST", "/api/v1/skills", {**MAIL, "colour": "red"}, "is not a known field"),
        ("POST", "/api/v1/skills", {**MAIL, "id": "classify"}, "'classify' is reserved"),
    ],
)
def test_messages_are_sentences(shared_client: TestClient, method: str, path: str, body: Any, message: str) -> None:
    [problem] = refused(shared_client.request(method, path, json=body), 422, "invalid_request")
    assert problem["msg"].startswith(message)
    assert "^" not in problem["msg"]


BAD: dict[str, tuple[Any, list[str]]] = {
    "tools": ({"name": "", "tags": [""], "description": 3}, ["name", "description", "tags.0"]),
    "servers": (
        {"name": "a", "tools": [{"name": ""}, {"name": "b"}, {"name": "c", "type": 1, "tags": 2}]},
        ["tools.0.name", "tools.2.type", "tools.2.tags"],
    ),
    "agents": ({"name": "", "skills": [{}]}, ["name", "skills.0.name"]),
    "mail/projects": ({"key": "a b", "name": ""}, ["key", "name"]),
    "mail/products": ({"key": "a b", "name": "", "projects": ["x y"]}, ["key", "name", "projects.0"]),
    "mail/agents": ({"name": "\u200b", "contact": 1}, ["name", "contact"]),
    "mail/messages": ({"key": "m", "from": "x"}, ["project", "to", "subject"]),
}


@pytest.mark.parametrize("kind", BAD)
def test_an_item_names_all_that_is_wrong_with_it_in_one_shape(shared_client: TestClient, kind: str) -> None:
    bad, fields = BAD[kind]
    [result] = shared_client.put(f"/api/v1/{kind}", json=[bad]).json()["results"]
    assert [problem["field"] for problem in result["errors"]] == fields
    assert all(problem.keys() == {"field", "message", "type"} for problem in result["errors"])
    assert all(problem["message"] and problem["type"] for problem in result["errors"])
    first = result["errors"][0]
    assert result["error"] == {"field": first["field"], "message": first["message"]}


def test_an_item_that_was_written_has_no_errors(shared_client: TestClient) -> None:
    [result] = shared_client.put("/api/v1/mail/projects", json=[{"key": "fine", "name": "Fine"}]).json()["results"]
    assert (result["error"], result["errors"]) == (None, [])


def test_a_field_that_is_wrong_by_itself_and_another_are_both_named(client: TestClient, system: System) -> None:
    system.create("mail")
    response = client.patch("/api/v1/skills/mail", json={"name": "", "description": "short"})
    assert [problem["loc"][1] for problem in refused(response, 422, "invalid_request")] == ["name", "description"]


# The id of a request


def test_every_answer_has_an_id_of_its_own(shared_client: TestClient) -> None:
    ids = {shared_client.get("/api/v1/skills", headers={"X-Request-Id": "mine"}).headers["x-request-id"] for _ in "abc"}
    assert len(ids) == 3
    assert all(re.fullmatch("[0-9a-f]{32}", id_) for id_ in ids)


def test_behind_the_gateway_it_is_the_gateways_id(system: System) -> None:
    event = http_event("GET /api/v1/skills/nothing")
    answer = Mangum(app_over(system), lifespan="off")(event, None)  # type: ignore[arg-type]
    assert answer["headers"]["x-request-id"] == event["requestContext"]["requestId"]
    assert json.loads(answer["body"])["request_id"] == event["requestContext"]["requestId"]


def test_what_nobody_foresaw_is_found_in_the_log_by_its_id(
    client: TestClient, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> object:
        raise RuntimeError("planted")

    monkeypatch.setattr(type(system.parts.skills.read), "get", broken)
    with LogRecords().attached() as log:
        response = client.get("/api/v1/skills/mail")
    assert refused(response, 500, "internal_error") == "Internal Server Error"
    [record] = log.having("unexpected error")
    assert record.request_id == response.headers["x-request-id"]  # type: ignore[attr-defined]


def test_who_may_not_is_told_why_by_code(system: System) -> None:
    system.create("shared")
    caller = of_org("acme")
    assert caller.org_id == "acme"
    with pytest.raises(Exception, match="global") as refusal:
        system.parts.skills.change("shared", {"name": "Ours"}, caller)
    assert refusal.value.code is ErrorCode.GLOBAL_ITEM  # type: ignore[attr-defined]


UNKNOWN = "is not a known field"


@pytest.mark.parametrize(
    ("method", "path", "body", "says"),
    [
        ("POST", "/api/v1/search", {"query": "x", "limt": 3}, f"{UNKNOWN}: did you mean limit?"),
        ("POST", "/api/v1/skills", {"naem": "x"}, f"{UNKNOWN}: did you mean name?"),
        ("PATCH", "/api/v1/tools/1", {"x": 1}, f"{UNKNOWN}; known are is_active"),
        ("POST", "/api/v1/search/messages", {"time_range": {"min": 1}}, f"{UNKNOWN}; known are max_ts, min_ts"),
        ("POST", "/api/v1/skills/suggestions/1/merge", {"skil_id": "x"}, f"{UNKNOWN}: did you mean skill_id?"),
    ],
)  # fmt: skip
def test_an_unknown_field_of_a_body_is_named_with_those_that_there_are(
    shared_client: TestClient, method: str, path: str, body: Any, says: str
) -> None:
    detail = shared_client.request(method, path, json=body).json()["detail"]
    assert says in [found["msg"] for found in detail]


def test_a_thousand_unknown_fields_are_answered_at_once(shared_client: TestClient) -> None:
    body = {"query": "x", **{f"limit_{number}": 1 for number in range(900)}}
    detail = shared_client.post("/api/v1/search", json=body).json()["detail"]
    assert (len(detail), detail[-1]["msg"]) == (101, "800 more problems are not named")
