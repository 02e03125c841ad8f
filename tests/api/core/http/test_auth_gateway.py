"""Behind API Gateway: whom its authorizer vouches for, and that the app checks the claims once more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from mangum import Mangum
from skillroute.core.caller import Scope
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute_local.gateway import http_event, with_claims

from tests.api.bad_tokens import BAD_CLAIMS, OURS
from tests.api.one_app import app_over
from tests.api.routes import BODIES, SCOPES, Route, challenge_of, fill, filled, routes_of, with_token
from tests.api.tokens import JWT, as_gateway_says, claims
from tests.builders import lent_system
from tests.conftest import fresh_database

GATEWAY = "https://a1b2c3d4e5.execute-api.us-east-1.amazonaws.com"
"""Where the events say that the API is."""


def through_gateway(app: FastAPI, route: Route, path: str, authorizer: Any, headers: Any = None) -> dict[str, Any]:
    """Ask as API Gateway does, with what its authorizer found."""
    event = http_event(f"{route[0]} {path}", BODIES.get(route), authorizer)
    event["headers"] |= headers or {}
    return Mangum(app, lifespan="off")(event, None)  # type: ignore[arg-type, return-value]


def vouched(said: dict[str, Any]) -> dict[str, Any]:
    return with_claims(as_gateway_says(said))


@pytest.fixture(scope="module")
def behind_gateway(postgres_server, migrated_template, edge_indexes) -> Iterator[FastAPI]:  # type: ignore[no-untyped-def]
    """An app on Lambda: no keys of its own, so that only the gateway can vouch for a caller."""
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder(), **JWT) as system,
    ):
        fill(system)
        yield app_over(system)


@pytest.mark.parametrize(
    "authorizer",
    [
        None,
        {},
        {"iam": {"accountId": "1"}},
        {"lambda": {"claims": {}}},
        {"jwt": None},
        {"jwt": {"claims": None}},
        "jwt",
    ],
    ids=str,
)
def test_whom_the_gateway_did_not_check_no_route_lets_in(behind_gateway: FastAPI, authorizer: Any) -> None:
    token = {"authorization": f"Bearer {OURS.sign(claims('admin'))}"}
    for route in routes_of(behind_gateway):
        refused = through_gateway(behind_gateway, route, filled(route[1]), authorizer, token)
        assert (route, refused["statusCode"]) == (route, 401)
        assert refused["headers"]["www-authenticate"] == challenge_of(route, "Bearer", GATEWAY)


@pytest.mark.parametrize("kind", BAD_CLAIMS)
def test_what_the_gateway_vouched_for_is_checked_again(behind_gateway: FastAPI, kind: str) -> None:
    for route in routes_of(behind_gateway):
        refused = through_gateway(behind_gateway, route, filled(route[1]), vouched(BAD_CLAIMS[kind]()))
        assert (route, refused["statusCode"]) == (route, 401)
        challenge = challenge_of(route, 'Bearer error="invalid_token"', GATEWAY)
        assert refused["headers"]["www-authenticate"] == challenge


@pytest.mark.parametrize("said", [claims("search"), claims(None, scp=["search", "x"]), claims(aud=[JWT["jwt_issuer"]])])
def test_the_gateways_way_of_writing_claims_is_read(behind_gateway: FastAPI, said: dict[str, Any]) -> None:
    said = said | ({"aud": ["https://userinfo.test", "https://skillroute.test"]} if "aud" in said else {})
    for route, scope in SCOPES.items():
        if scope in {None, Scope.SEARCH}:
            answer = through_gateway(behind_gateway, route, filled(route[1]), vouched(said))
            # There is no login that could be begun or ended.
            expected = {200, 204, 404, 409} if "/login" in route[1] else {200}
            assert answer["statusCode"] in expected, route
        else:
            refused = through_gateway(behind_gateway, route, filled(route[1]), vouched(said))
            assert (route, refused["statusCode"]) == (route, 403)


def test_a_laptop_without_keys_verifies_nobody(behind_gateway: FastAPI) -> None:
    client = TestClient(behind_gateway)
    for route in routes_of(behind_gateway):
        assert with_token(client, route, filled(route[1]), OURS.sign(claims("admin"))).status_code == 401
