"""Which of the gateway's routes takes a request, and the events that are built and kept."""

from __future__ import annotations

import json

import pytest
from skillroute_local.gateway import http_event, route_of, signed_by

from tests.events import EVENTS, FILES, KEPT, event


@pytest.mark.parametrize(
    ("method", "path", "key"),
    [
        ("POST", "/api/v1/search", "ANY /api/v1/search"),
        ("GET", "/api/v1/search/tools", "ANY /api/v1/search/{proxy+}"),
        ("GET", "/api/v1/tools/7", "ANY /api/v1/{proxy+}"),
        ("GET", "/api/v1/tools/7/skills", "ANY /api/v1/tools/{id}/skills"),
        ("DELETE", "/api/v1/tools/7/skills/8", "ANY /api/v1/{proxy+}"),
        ("POST", "/api/v1/tools/search_messages", "ANY /api/v1/tools/search_messages"),
        ("GET", "/api/v1/skills/a/b/c", "ANY /api/v1/skills/{proxy+}"),
        ("GET", "/health", "GET /health"),
    ],
)
def test_the_most_specific_route_takes_a_request(method: str, path: str, key: str) -> None:
    found = route_of(method, path)
    assert found
    assert found[0] == key


@pytest.mark.parametrize("request_", ["POST /health", "GET /", "GET /docs", "GET /api/v1", "GET /api/v2/tools"])
def test_what_no_route_takes_reaches_no_function(request_: str) -> None:
    method, path = request_.split(" ")
    assert route_of(method, path) is None


def test_a_method_of_its_own_goes_before_any_method() -> None:
    assert route_of("GET", "/a", ["ANY /a", "GET /a"]) == ("GET /a", {})
    assert route_of("PUT", "/a", ["ANY /a", "GET /a"]) == ("ANY /a", {})


def test_an_event_has_what_api_gateway_passes_on() -> None:
    built = http_event("PUT /api/v1/tools/a%20b?tag=x&tag=y", {"name": "é"}, signed_by("arn:aws:iam::1:role/Writer"))
    assert built["routeKey"] == built["requestContext"]["routeKey"] == "ANY /api/v1/{proxy+}"
    assert built["pathParameters"] == {"proxy": "tools/a b"}
    assert (built["rawPath"], built["rawQueryString"]) == ("/api/v1/tools/a%20b", "tag=x&tag=y")
    assert built["queryStringParameters"] == {"tag": "x,y"}
    assert built["headers"]["content-length"] == str(len(built["body"].encode())) == "13"
    assert built["requestContext"]["authorizer"]["iam"]["userArn"] == "arn:aws:sts::1:assumed-role/Writer/Writer"


def test_what_a_request_does_not_have_is_left_out() -> None:
    built = http_event("GET /health")
    assert not {"body", "pathParameters", "queryStringParameters"} & set(built)
    assert "authorizer" not in built["requestContext"]
    assert not {"authorization", "content-type", "content-length"} & set(built["headers"])


def test_the_kept_files_are_what_the_builder_makes() -> None:
    """Write them anew with ``python -m tests.events``."""
    kept = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in FILES.glob("*.json")}
    assert kept == {name: event(name) for name in KEPT}


def test_an_event_can_be_built_by_every_name() -> None:
    assert all(json.dumps(event(name)) for name in EVENTS)
