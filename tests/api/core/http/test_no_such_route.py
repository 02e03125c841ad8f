"""What no route has, as it comes through the gateway's greedy routes: first who asks, then 404 or 405, all in JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.core.http.test_auth_gateway import through_gateway, vouched
from tests.api.one_app import app_over
from tests.api.routes import SCOPES, Route, filled
from tests.api.tokens import JWT, claims
from tests.builders import lent_system
from tests.conftest import fresh_database

NO_METHOD = "the path has no such method: the header Allow names those that it has"
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


def methods_of(path: str) -> set[str]:
    """Return the methods of all routes that take a path; `/skills/suggestions` is a skill's path as well."""
    asked = filled(path).partition("?")[0]
    found = {method for method, its in SCOPES if re.fullmatch(re.sub("{[a-z_]+}", "[^/]+", its), asked)}
    return found | ({"HEAD"} if "GET" in found else set())


def allowed(path: str) -> set[str]:
    """Return the methods that do something: a path that a route has to the letter is no id."""
    own = {method for method, its in SCOPES if its == path and "{" not in its}
    return (own or methods_of(path)) | ({"HEAD"} if "GET" in (own or methods_of(path)) else set())


OTHERS: list[Route] = [
    (method, path) for path in sorted({path for _, path in SCOPES}) for method in sorted(METHODS - methods_of(path))
]
"""Every path with every method that it does not have."""
UNKNOWN = [
    "/api/v1/search/",
    "/api/v1/search/nothing",
    "/api/v1/tools/1/nothing",
    "/api/v1/tools/1/skills/nothing",
    "/api/v1/skills/a/b/c",
    "/api/v1/mail/",
    "/api/v1/mail/nothing",
    "/api/v1/servers/1/enable/nothing",
    "/api/v2/tools",
    "/docs",
    "/openapi.json",
    "/",
]
INSUFFICIENT = vouched(claims("profile"))


@pytest.fixture(scope="module")
def app(postgres_server, migrated_template, edge_indexes) -> Iterator[FastAPI]:  # type: ignore[no-untyped-def]
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder(), **JWT) as system,
    ):
        yield app_over(system, with_pages=False)


def ask(app: FastAPI, route: Route, authorizer: Any) -> tuple[int, Any, dict[str, str]]:
    answer = through_gateway(app, route, filled(route[1]), authorizer)
    return answer["statusCode"], json.loads(answer["body"]) if answer["body"] else None, answer["headers"]


def test_who_is_not_known_learns_nothing_of_paths_and_methods(app: FastAPI) -> None:
    for route in [*OTHERS, *((method, path) for path in UNKNOWN for method in METHODS)]:
        for authorizer in (None, vouched(claims("admin", iss="https://elsewhere.test"))):
            status, _, headers = ask(app, route, authorizer)
            assert (route, status) == (route, 401)
            assert headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("authorizer", [vouched(claims("admin")), INSUFFICIENT], ids=["admin", "without a scope"])
def test_a_method_that_a_route_does_not_have_is_405_and_names_those_that_it_has(app: FastAPI, authorizer: Any) -> None:
    assert len(OTHERS) > 100
    for route in OTHERS:
        status, body, headers = ask(app, route, authorizer)
        assert (route, status) == (route, 405)
        assert route[0] == "HEAD" or (body["detail"], body["code"]) == (NO_METHOD, "method_not_allowed")
        assert set(headers["allow"].split(", ")) == allowed(route[1])


@pytest.mark.parametrize("path", UNKNOWN)
def test_a_path_that_nobody_has_is_404(app: FastAPI, path: str) -> None:
    for method in METHODS - {"HEAD"}:
        status, body, headers = ask(app, (method, path), vouched(claims("admin")))
        assert (method, status, body["code"]) == (method, 404, "route_not_found")
        assert body["detail"] == "there is no such path"
        assert headers["content-type"] == "application/json"
