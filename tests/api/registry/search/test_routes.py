"""`POST /api/v1/search/registry` over HTTP: what it takes, what it answers, what it refuses."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.builders import System
from tests.component.registry.search.searched import Registry

ROUTE = "/api/v1/search/registry"


@pytest.fixture
def filled(system: System, client: TestClient) -> TestClient:
    """A server with a tool, and an agent, found by what they say."""

    def vector(text: str) -> Any:
        return HashingEmbedder().embed([text], timeout_s=1.0)[0]

    registry = Registry(system)
    registry.server(
        "/context7",
        vector("library documentation"),
        name="Context7 MCP Server",
        description="Library documentation",
        tags=("docs",),
        tools=[("query-docs", "Finds library documentation", vector("finds library documentation"))],
    )
    card = {"name": "Librarian", "url": "https://agents.test"}
    registry.agent("/librarian", vector("lends books"), name="Librarian", skills=[("lend", "Lends")], document=card)
    return client


def test_the_answer_has_the_documents_shape(filled: TestClient) -> None:
    response = filled.post(ROUTE, json={"query": "context7 docs"})
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    answer = response.json()
    assert list(answer) == ["query", "search_mode", "servers", "tools", "agents", "metadata", "explain"]
    assert (answer["query"], answer["search_mode"], answer["explain"]) == ("context7 docs", "hybrid", None)
    (server,) = answer["servers"]
    assert (server["path"], server["server_name"], server["relevance_score"]) == (
        "/context7",
        "Context7 MCP Server",
        1.0,
    )
    (matching,) = server["matching_tools"]
    assert set(matching) == {"tool_name", "description", "relevance_score", "tool_id", "annotations"}, "no schema"
    (tool,) = answer["tools"]
    assert (tool["server_path"], tool["tool_name"], tool["inputSchema"]) == (
        "/context7",
        "query-docs",
        {"title": "query-docs"},
    )
    (agent,) = answer["agents"]
    assert (agent["path"], agent["skills"], agent["agent_card"]["url"]) == (
        "/librarian",
        ["lend"],
        "https://agents.test",
    )
    assert answer["metadata"]["keywords"] == ["context7", "docs"]


def test_every_parameter_is_taken(filled: TestClient) -> None:
    request = {
        "query": "context7",
        "entity_types": ["mcp_server"],
        "max_results": 50,
        "tags": ["Docs"],
        "include_disabled": True,
        "fusion": "rrf",
        "explain": True,
    }
    answer = filled.post(ROUTE, json=request).json()
    assert (len(answer["servers"]), answer["tools"], answer["agents"]) == (1, [], [])
    assert (answer["metadata"]["fusion"], answer["metadata"]["tags"]) == ("rrf", ["docs"])
    server = next(figures for figures in answer["explain"] if figures["type"] == "mcp_server")
    assert (server["vector_rank"], server["keyword_rank"], server["final"]) == (1, 1, 1.0)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="no query"),
        pytest.param({"query": ""}, id="empty"),
        pytest.param({"query": "  \n"}, id="blank"),
        pytest.param({"query": "x" * 10_001}, id="too long"),
        pytest.param({"query": "a\x00b"}, id="NUL"),
        pytest.param({"query": 1}, id="no text"),
        pytest.param({"query": "x", "tags": ["a\x00b"]}, id="NUL in a tag"),
        pytest.param({"query": "x", "tags": [" "]}, id="blank tag"),
        pytest.param({"query": "x", "tags": ["t"] * 21}, id="too many tags"),
        pytest.param({"query": "x", "tags": "docs"}, id="tags are no list"),
        pytest.param({"query": "x", "max_results": 0}, id="no results"),
        pytest.param({"query": "x", "max_results": 51}, id="too many results"),
        pytest.param({"query": "x", "max_results": "3"}, id="a number in quotes"),
        pytest.param({"query": "x", "entity_types": []}, id="no types"),
        pytest.param({"query": "x", "entity_types": ["server"]}, id="unknown type"),
        pytest.param({"query": "x", "fusion": "sum"}, id="unknown fusion"),
        pytest.param({"query": "x", "include_disabled": "yes"}, id="no truth value"),
        pytest.param({"query": "x", "org_id": "acme"}, id="an organisation in the body"),
    ],
)
def test_what_is_wrong_is_422(shared_client: TestClient, body: dict[str, Any]) -> None:
    response = shared_client.post(ROUTE, json=body)
    assert response.status_code == 422, response.text
    assert isinstance(response.json()["detail"], list)


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"', '{"query": "\\ud800"}'])
def test_a_body_that_is_no_request_is_422(shared_client: TestClient, content: str) -> None:
    response = shared_client.post(ROUTE, content=content, headers={"content-type": "application/json"})
    assert response.status_code == 422, response.text


def test_without_the_model_the_answer_is_lexical_and_200(system: System, filled: TestClient) -> None:
    system.embedder.away = True
    response = filled.post(ROUTE, json={"query": "context7"})
    answer = response.json()
    assert (response.status_code, answer["search_mode"]) == (200, "lexical-only")
    assert answer["metadata"]["degraded"] == ["embedding_unavailable"]
    assert answer["servers"][0]["relevance_score"] == pytest.approx(8 / 12.5, abs=1e-9)


def test_with_the_database_down_it_is_503_in_our_own_words(system: System, filled: TestClient) -> None:
    system.feed.down = system.database.down = True
    response = filled.post(ROUTE, json={"query": "context7"})
    assert (response.status_code, response.json()["detail"]) == (503, "PostgreSQL cannot be reached")


def test_the_route_is_documented(client: TestClient) -> None:
    post = client.get("/openapi.json").json()["paths"][ROUTE]["post"]
    assert post["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("RegistrySearchResponse")
