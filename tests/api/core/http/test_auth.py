"""Who is let in: every route of the OpenAPI document, asked with every kind of token that must not pass.

The routes are read from the document, so that a new one cannot be forgotten; what each asks for stands in `SCOPES`.
The scopes are those of decision 27.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from skillroute.core.caller import Scope
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.observability import Metric, count

from tests.api.bad_tokens import BAD_HEADERS, KEYS, OURS, bearer
from tests.api.one_app import app_over
from tests.api.routes import BODIES, SCOPES, challenge_of, fill, filled, routes_of, stored, with_token
from tests.api.tokens import JWT, claims
from tests.builders import System, lent_system
from tests.conftest import fresh_database
from tests.soak import SOAK


@pytest.fixture(scope="module")
def refusing(postgres_server, migrated_template, edge_indexes) -> Iterator[System]:  # type: ignore[no-untyped-def]
    """One system for all requests that must be refused, with something of every kind in it."""
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder(), **JWT, jwt_keys=KEYS) as system,
    ):
        fill(system)
        yield system


@pytest.fixture(scope="module")
def app(refusing: System) -> FastAPI:
    return app_over(refusing)


@pytest.fixture(scope="module")
def stranger(app: FastAPI) -> TestClient:
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def system(database_url: str, edge_indexes: Any) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), **JWT, jwt_keys=KEYS) as system:
        yield system


def test_every_route_of_the_document_is_in_the_table_of_scopes(app: FastAPI) -> None:
    assert set(routes_of(app)) == set(SCOPES)


def test_the_document_names_the_scope_of_every_route(shared_client: TestClient) -> None:
    document = shared_client.get("/openapi.json").json()
    for (method, path), scope in SCOPES.items():
        operation = document["paths"][path][method.lower()]
        scopes = [] if scope is None else [scope.value]
        assert operation["security"] == [{"token": scopes}, {"signature": scopes}], (method, path)
        assert "401" in operation["responses"], (method, path)


SHARE = 1 if SOAK else 4
"""Each kind of token is tried on every fourth route: each route refuses some twenty kinds."""


@pytest.mark.parametrize("kind", BAD_HEADERS)
def test_no_route_lets_a_bad_token_in(app: FastAPI, stranger: TestClient, refusing: System, kind: str) -> None:
    before = stored(refusing)
    headers, challenge = BAD_HEADERS[kind]()
    for route in routes_of(app)[list(BAD_HEADERS).index(kind) % SHARE :: SHARE]:
        refused = stranger.request(route[0], filled(route[1]), headers=headers, json=BODIES.get(route))
        assert (route, refused.status_code) == (route, 401)
        assert refused.headers["www-authenticate"] == challenge_of(route, challenge), route
        assert refused.json().keys() == {"detail", "code", "request_id"}
        assert isinstance(refused.json()["detail"], str)
        for name, value in headers:
            secret = value.rpartition(" ")[2]
            assert len(secret) < 8 or secret not in refused.text + str(refused.headers), (route, name)
    assert stored(refusing) == before


@pytest.mark.parametrize("body", [b"{", b'{"a": ' * 5_000, b"\xff", b'{"n": ' + b"9" * 5_000 + b"}"])
def test_strangers_hear_nothing_of_what_is_wrong_with_their_bodies(
    app: FastAPI, stranger: TestClient, body: bytes
) -> None:
    for method, path in BODIES:
        headers = {"content-type": "application/json"}
        assert stranger.request(method, filled(path), headers=headers, content=body).status_code == 401, (method, path)


def test_strangers_hear_nothing_of_what_is_there(app: FastAPI, stranger: TestClient) -> None:
    for method, path in routes_of(app):
        answers = [
            stranger.request(
                method, filled(path, item=item, skill=skill, suggestion=item, server=item, agent=item)
            ).json()
            for item, skill in [(1, "garden"), (999, "nothing")]
        ]
        assert len({answer.pop("request_id") for answer in answers}) == 2  # each of its own
        assert answers[0] == answers[1], (method, path)


@pytest.mark.parametrize("org", [None, "acme"])
def test_a_token_without_the_scope_is_refused_whatever_else_it_may(
    app: FastAPI, stranger: TestClient, refusing: System, org: str | None
) -> None:
    before = stored(refusing)
    for route, scope in SCOPES.items():
        if scope is None:
            continue
        others = set(Scope) - {scope, Scope.ADMIN}
        for granted in (" ".join(others), None, "", scope.value.upper(), f"{scope.value}x", f"x:{scope.value}"):
            refused = with_token(stranger, route, filled(route[1]), OURS.sign(claims(granted, org)))
            assert (route, granted, refused.status_code) == (route, granted, 403)
            assert refused.json()["detail"] == f"the token lacks the scope {scope.value!r}"
            challenge = f'Bearer error="insufficient_scope", scope="{scope.value}"'
            assert refused.headers["www-authenticate"] == challenge_of(route, challenge)
    assert stored(refusing) == before


OF_THE_OPERATOR = {
    ("PUT", "/api/v1/learning/live"),
    ("GET", "/api/v1/learning/unserved"),
    ("GET", "/api/v1/learning/judged"),
    ("DELETE", "/api/v1/learning/tools/{item_id}"),
    ("PUT", "/api/v1/servers/{server_id}/identity"),
    ("DELETE", "/api/v1/servers/{server_id}/identity"),
}
"""Routes with scope skills or catalog, of callers without an organisation with scope admin."""


@pytest.mark.parametrize("how", ["its own scope", "admin", "an array in scp", "client_id", "no organisation: null"])
def test_every_route_lets_in_who_may(system: System, how: str) -> None:
    ids = fill(system)
    system.chat.reply = {"description": "Watering the plants of a garden."}
    app = app_over(system)
    client = TestClient(app, raise_server_exceptions=False)
    for route in routes_of(app):
        scope = (SCOPES[route] or Scope.SEARCH).value
        said = {
            "its own scope": claims(scope),
            "admin": claims("admin"),
            "an array in scp": claims(None, scp=["other", scope]),
            "client_id": claims(scope, aud=None, client_id=JWT["jwt_audience"].split(", ")[0]),
            "no organisation: null": claims(scope) | {"org_id": None},
        }[how]
        answer = with_token(client, route, filled(route[1], **ids), OURS.sign(said))
        # A suggestion is decided on once: the second and third decision are refused for that.
        # The use and the state of the global catalogue, which are those of these callers, are for the operator.
        is_operators = route in OF_THE_OPERATOR and how != "admin"
        assert answer.status_code in ({403} if is_operators else {200, 201, 204, 409}), (route, answer.text)


def test_health_needs_a_token_and_no_scope(stranger: TestClient) -> None:
    for path in ("/health", "/ready"):
        assert stranger.get(path, headers=bearer(OURS.sign(claims(None)))).status_code == 200


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_health_says_whose_token_it_was_asked_with(system: System, path: str) -> None:
    client = TestClient(app_over(system))
    for scope, org, scopes in (
        (None, "acme", []),
        ("search skills", "acme", ["search", "skills"]),
        ("admin", None, ["admin"]),
    ):
        answer = client.get(path, headers=bearer(OURS.sign(claims(scope, org)))).json()
        assert answer["caller"] == {"org_id": org, "scopes": scopes}


NUMBERS = (
    "index_lag",
    "index_items",
    "index_skills",
    "index_entities",
    "index_mail",
    "index_agent_skills",
    "index_rebuilding",
    "embedding_refused",
    "counts",
    "latency",
    "found_nothing",
)


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_only_an_operator_of_the_deployment_sees_numbers_of_all_organisations(system: System, path: str) -> None:
    """Decision 30: an administrator of one organisation sees only whether searches are answered, and why not."""
    fill(system, "globex")
    system.sql("UPDATE mcp.document_vectors SET embedding = NULL, refusal = 'no' WHERE collection = 'mcp_skills'")
    client = TestClient(app_over(system))
    count(Metric.MAIL_WRITTEN)
    for scope, org in ((None, None), ("search catalog skills", None), ("search", "acme"), ("admin", "acme")):
        answer = client.get(path, headers=bearer(OURS.sign(claims(scope, org)))).json()
        assert (answer["status"], answer["search_mode"]) == ("ok", "semantic")
        assert {name: part["ok"] for name, part in answer["dependencies"].items()} == dict.fromkeys(
            ("database", "index", "embedding_model"), True
        )
        assert {name: answer[name] for name in NUMBERS} == dict.fromkeys(NUMBERS)
    operator = client.get(path, headers=bearer(OURS.sign(claims("admin")))).json()
    assert (operator["index_items"], operator["index_skills"], operator["index_mail"]) == (3, 1, 4)
    assert (operator["index_rebuilding"], "MailWritten" in operator["counts"]) == (False, True)
    assert operator["embedding_refused"] == 1


def test_a_caller_who_is_no_operator_sees_which_part_is_away(system: System) -> None:
    system.feed.down = True
    answer = TestClient(app_over(system)).get("/ready", headers=bearer(OURS.sign(claims("search", "acme"))))
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
    assert answer.json()["dependencies"]["database"] == {"ok": False, "detail": "PostgreSQL cannot be reached"}
    assert {name: answer.json()[name] for name in NUMBERS} == dict.fromkeys(NUMBERS)


def test_a_prefix_of_scopes_is_asked_for_and_named(database_url: str, edge_indexes: Any) -> None:
    with lent_system(
        database_url, edge_indexes, embedder=HashingEmbedder(), **JWT, jwt_keys=KEYS, jwt_scope_prefix="skillroute/"
    ) as system:
        client = TestClient(app_over(system))
        good = client.get("/api/v1/tools", headers=bearer(OURS.sign(claims("openid skillroute/search"))))
        bare = client.get("/api/v1/tools", headers=bearer(OURS.sign(claims("search admin"))))
    assert good.status_code == 200
    assert bare.status_code == 403
    assert bare.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="skillroute/search"'
