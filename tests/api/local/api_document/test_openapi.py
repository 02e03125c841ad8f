"""The OpenAPI document, and that the routes do as it says, whatever schemathesis thinks of."""

from __future__ import annotations

import re
from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.one_app import app_over
from tests.api.routes import SCOPES
from tests.builders import System

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def api_schema(shared_system: System) -> Any:
    # What most questions are about is there: a skill, a tool in it, and suggestions that wait.
    shared_system.create("mail")
    shared_system.tool("first", None, skills=["mail"])
    shared_system.classify(*shared_system.put("second", "third"))
    shared_system.chat.reply = {"description": "Reading and sending letters."}
    return schemathesis.openapi.from_asgi("/openapi.json", app_over(shared_system))


ROUTES = list(SCOPES)


# Without schemathesis's own pytest plugin: its subtests do not run under pytest 9.
@pytest.mark.parametrize(
    ("method", "path", "generation"),
    [
        (method, path, generation)
        for method, path in ROUTES
        for generation in schemathesis.GenerationMode
        # There is no wrong way to ask a route that takes nothing.
        if path not in {"/api/v1/verify", "/health", "/ready"} or generation is schemathesis.GenerationMode.POSITIVE
    ],
)
def test_every_route_answers_as_the_document_says(
    api_schema: Any, method: str, path: str, generation: schemathesis.GenerationMode
) -> None:
    @settings(
        max_examples=settings.default.max_examples // 10,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=api_schema[path][method].as_strategy(generation_mode=generation))
    def ask(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS)

    ask()


def test_the_document_names_every_route(shared_client: TestClient) -> None:
    paths = shared_client.get("/openapi.json").json()["paths"]
    routes = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert routes == set(ROUTES)


def test_the_document_has_every_schema_that_it_refers_to(shared_client: TestClient) -> None:
    document = shared_client.get("/openapi.json")
    referred = set(re.findall(r'"#/components/schemas/(\w+)"', document.text))
    assert {"Problem", "InvalidRequest", "FieldProblem"} <= referred <= set(document.json()["components"]["schemas"])


def test_the_document_says_what_a_search_takes(shared_client: TestClient) -> None:
    schemas = shared_client.get("/openapi.json").json()["components"]["schemas"]
    request = schemas["SearchRequest"]["properties"]
    assert {name: field.get("default") for name, field in request.items()} == {
        "needs": None,
        "query": None,
        "item_type": None,
        "limit": 5,
        "skill_limit": None,  # what is taken then depends on the mode
        "skill_threshold": None,
        "tool_threshold": None,
        "include_schemas": True,
        "strategy": "hierarchical",
        "explain": False,
        "collapse_duplicates": False,
        "used_with": False,
        "server": None,
        "format": None,
        "no_match_below": None,
        "mode": None,
    }
    assert (request["limit"]["minimum"], request["limit"]["maximum"]) == (1, 50)
    text = request["query"]["anyOf"][0]
    assert (text["minLength"], text["maxLength"]) == (1, 1000)
