"""The OpenAPI document, and that the routes do as it says, whatever schemathesis thinks of."""

from __future__ import annotations

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

from tests.api.conftest import app_over
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


ROUTES = [
    ("POST", "/api/v1/search"),
    ("GET", "/api/v1/search/skills"),
    ("GET", "/api/v1/search/tools"),
    ("POST", "/api/v1/search/registry"),
    ("PUT", "/api/v1/tools"),
    ("GET", "/api/v1/tools"),
    ("GET", "/api/v1/tools/{item_id}"),
    ("DELETE", "/api/v1/tools/{item_id}"),
    ("PUT", "/api/v1/servers"),
    ("GET", "/api/v1/servers"),
    ("GET", "/api/v1/servers/{server_id}"),
    ("DELETE", "/api/v1/servers/{server_id}"),
    ("POST", "/api/v1/servers/{server_id}/enable"),
    ("POST", "/api/v1/servers/{server_id}/disable"),
    ("PUT", "/api/v1/agents"),
    ("GET", "/api/v1/agents"),
    ("GET", "/api/v1/agents/{agent_id}"),
    ("DELETE", "/api/v1/agents/{agent_id}"),
    ("POST", "/api/v1/agents/{agent_id}/enable"),
    ("POST", "/api/v1/agents/{agent_id}/disable"),
    ("POST", "/api/v1/skills"),
    ("GET", "/api/v1/skills"),
    ("POST", "/api/v1/skills/classify"),
    ("GET", "/api/v1/skills/{skill_id}"),
    ("PUT", "/api/v1/skills/{skill_id}"),
    ("PATCH", "/api/v1/skills/{skill_id}"),
    ("DELETE", "/api/v1/skills/{skill_id}"),
    ("GET", "/api/v1/skills/{skill_id}/tools"),
    ("POST", "/api/v1/skills/{skill_id}/describe"),
    ("GET", "/api/v1/skills/suggestions"),
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/approve"),
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/reject"),
    ("POST", "/api/v1/skills/suggestions/{suggestion_id}/merge"),
    ("GET", "/api/v1/tools/{item_id}/skills"),
    ("PUT", "/api/v1/tools/{item_id}/skills"),
    ("GET", "/api/v1/verify"),
    ("GET", "/health"),
    ("GET", "/ready"),
]


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
        max_examples=40,
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


def test_the_document_says_what_a_search_takes(shared_client: TestClient) -> None:
    schemas = shared_client.get("/openapi.json").json()["components"]["schemas"]
    request = schemas["SearchRequest"]["properties"]
    assert {name: field.get("default") for name, field in request.items()} == {
        "query": None,
        "item_type": None,
        "limit": 5,
        "skill_limit": 3,
        "skill_threshold": 0.4,
        "tool_threshold": 0.3,
        "include_schemas": True,
        "strategy": "hierarchical",
        "mode": None,
    }
    assert (request["limit"]["minimum"], request["limit"]["maximum"]) == (1, 50)
    assert (request["query"]["minLength"], request["query"]["maxLength"]) == (1, 1000)
