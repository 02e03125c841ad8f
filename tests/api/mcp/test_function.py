"""The app of function `mcp`, which does without FastAPI, answers as the app that serves everything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.http.body_limit import MAX_BODY_BYTES
from skillroute.core.http.plain_app import create_plain_app

from tests.api.bad_tokens import KEYS, OURS, bearer
from tests.api.mcp_calls import headers, request
from tests.api.mcp_noise import Noise
from tests.api.one_app import app_over
from tests.api.tokens import JWT, claims
from tests.builders import System, lent_system
from tests.conftest import fresh_database

COMPARED = ("content-type", "content-length", "www-authenticate", "allow", "retry-after")
Clients = tuple[TestClient, TestClient]


@pytest.fixture(scope="module")
def clients(postgres_server, migrated_template, edge_indexes) -> Iterator[Clients]:  # type: ignore[no-untyped-def]
    """The app of everything, and that of the function, over one system with tokens."""
    with (
        fresh_database(postgres_server, migrated_template) as url,
        lent_system(url, edge_indexes, embedder=HashingEmbedder(), **JWT, jwt_keys=KEYS) as system,
    ):
        skill = system.create("orchard", description="What every garden needs.")
        [tool] = system.put("water", description="Water the garden.")
        system.assign(tool, **{skill.id: 0.9})
        yield TestClient(app_over(system), raise_server_exceptions=False), plain(system)


def plain(system: System) -> TestClient:
    parts = system.parts
    routes = parts.mcp.plain_routes(parts.access)
    app = create_plain_app(routes, access=parts.access, too_large=parts.mcp.too_large)
    return TestClient(app, raise_server_exceptions=False)


def answers(clients: Clients, *args: Any, **kwargs: Any) -> list[Any]:
    """Return what both apps answer to one request: status, the headers that matter, body but for the request's id."""
    sent = [client.request(*args, **kwargs) for client in clients]
    return [
        (
            answer.status_code,
            {name: answer.headers.get(name) for name in COMPARED},
            answer.content.replace(answer.headers["x-request-id"].encode(), b"..."),
        )
        for answer in sent
    ]


def token(scope: str) -> dict[str, str]:
    return dict(bearer(OURS.sign(claims(scope))))


LISTS = ("tools/list", "resources/list", "prompts/list", "resources/templates/list", "server/discover")


@pytest.mark.parametrize("method", LISTS)
def test_lists_are_the_same(clients: Clients, method: str) -> None:
    body = request(method)
    everything, function = answers(clients, "POST", "/mcp", json=body, headers=headers(body) | token("search"))
    assert function == everything
    assert function[0] == 200
    assert "result" in json.loads(function[2])


def test_noise_is_answered_the_same(clients: Clients) -> None:
    noise, statuses = Noise(3, [1, 10**6]), set()
    for _ in range(150):
        body, given = noise.request()
        everything, function = answers(clients, "POST", "/mcp", content=body, headers=given | token("search"))
        assert function == everything, (body, given)
        statuses.add(function[0])
    assert {200, 202, 400} <= statuses


@pytest.mark.parametrize(
    ("method", "path", "sent", "status"),
    [
        ("POST", "/mcp", {}, 401),
        ("POST", "/mcp", {"authorization": "Bearer nonsense"}, 401),
        ("POST", "/mcp", token("write"), 403),
        ("GET", "/mcp", token("search"), 405),
        ("DELETE", "/mcp", token("search"), 405),
        ("GET", "/mcp", {}, 401),
        ("POST", "/mcp/", token("search"), 404),
        ("POST", "/elsewhere", token("search"), 404),
        ("POST", "/elsewhere", {}, 401),
        ("GET", "/.well-known/oauth-protected-resource/mcp", {}, 200),
        ("GET", "/.well-known/oauth-protected-resource", {}, 200),
        ("POST", "/.well-known/oauth-protected-resource", {}, 401),
        ("POST", "/.well-known/oauth-protected-resource", token("search"), 405),
        ("OPTIONS", "/.well-known/oauth-protected-resource/mcp", token("search"), 405),
        ("HEAD", "/.well-known/oauth-protected-resource", {}, 200),
        ("GET", "/mcp/server-card", {}, 200),
        ("GET", "/.well-known/mcp/server-card.json", {}, 200),
        ("HEAD", "/mcp", token("search"), 405),
        ("POST", "/mcp", token("search") | {"content-length": str(MAX_BODY_BYTES + 1)}, 413),
    ],
)
def test_refusals_are_the_same(clients: Clients, method: str, path: str, sent: dict[str, str], status: int) -> None:
    everything, function = answers(clients, method, path, headers=sent)
    assert function == everything
    assert function[0] == status


def test_without_tokens_there_is_no_metadata_in_either(system: System) -> None:
    both = (TestClient(app_over(system), raise_server_exceptions=False), plain(system))
    everything, function = answers(both, "GET", "/.well-known/oauth-protected-resource")
    assert function == everything
    assert function[0] == 404


def test_a_failure_that_nobody_foresaw_says_nothing(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system.parts.mcp.server, "answer", None)
    both = (TestClient(app_over(system), raise_server_exceptions=False), plain(system))
    everything, function = answers(both, "POST", "/mcp", json=request("server/discover"))
    assert function == everything
    said_nothing = {"detail": "Internal Server Error", "code": "internal_error", "request_id": "..."}
    assert (function[0], json.loads(function[2])) == (500, said_nothing)
