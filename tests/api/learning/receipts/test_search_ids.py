"""The id of a search, as each door hands it out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder

from tests.api.mcp_calls import REVISIONS, result
from tests.api.one_app import app_over
from tests.builders import System, lent_system
from tests.client_over import client_over
from tests.doubles import EdgeIndexes

QUERY = "send an email"
SEARCH_ID = "skillroute/search_id"


@pytest.fixture
def keeping(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    with lent_system(database_url, edge_indexes, embedder=HashingEmbedder(), receipts="on") as system:
        system.put("send", description="Send an email to somebody")
        yield system


@pytest.fixture
def asked(keeping: System) -> TestClient:
    return TestClient(app_over(keeping), raise_server_exceptions=False)


def kept(system: System) -> list[tuple[str, str]]:
    """Return the receipts by their ids and doors, the first one first."""
    assert system.parts.receipts is not None
    assert system.parts.receipts.flush()
    found = system.rows("SELECT search_id::text, door FROM mcp.receipts ORDER BY asked_at, nth")
    return [(search_id, door) for search_id, door in found]


@pytest.mark.parametrize("more", [{}, {"format": "mcp"}, {"explain": True}, {"server": "x"}])
def test_an_answer_over_http_has_the_id_in_its_metadata(
    asked: TestClient, keeping: System, more: dict[str, Any]
) -> None:
    answer = asked.post("/api/v1/search", json={"query": QUERY, **more}).json()
    assert kept(keeping) == [(answer["metadata"]["search_id"], "http")]


def test_an_examination_leaves_no_receipt_and_misses_nothing(asked: TestClient, keeping: System) -> None:
    answer = asked.post("/api/v1/search", params={"receipt": "false"}, json={"query": "zyx wvu"}).json()
    assert answer["metadata"]["no_match"]
    assert answer["metadata"].get("search_id") is None
    assert kept(keeping) == []
    with client_over(app_over(keeping)) as client:
        assert client.search("zyx wvu", receipt=False).metadata.no_match
    assert kept(keeping) == []
    assert asked.get("/ready").json()["found_nothing"] == []


def test_a_list_of_tools_has_it_in_a_header_and_a_list_of_skills_has_none(asked: TestClient, keeping: System) -> None:
    tools = asked.get("/api/v1/search/tools", params={"query": QUERY})
    skills = asked.get("/api/v1/search/skills", params={"query": QUERY})
    assert "X-Search-Id" not in skills.headers
    assert kept(keeping) == [(tools.headers["X-Search-Id"], "http")]


def test_each_answer_of_a_batch_has_its_own(asked: TestClient, keeping: System) -> None:
    answer = asked.post("/api/v1/search/batch", json={"searches": [{"query": QUERY}, {"needs": [QUERY, "x"]}]}).json()
    first, second = (each["answer"]["metadata"]["search_id"] for each in answer["results"])
    assert kept(keeping) == [(first, "http"), (second, "http"), (second, "http")]


@pytest.mark.parametrize("revision", REVISIONS)
def test_over_mcp_it_is_beside_the_content_which_is_the_same_for_equal_searches(
    asked: TestClient, keeping: System, revision: str
) -> None:
    called = {"name": "search_tools", "arguments": {"query": QUERY}}
    first, second = (result(asked, "tools/call", called, revision) for _ in range(2))
    ids = [each["_meta"][SEARCH_ID] for each in (first, second)]
    assert kept(keeping) == [(search_id, "mcp") for search_id in ids]
    assert ids[0] != ids[1]
    assert first["content"] == second["content"]
    assert ids[0] not in str(first["content"])


def test_where_none_are_kept_there_is_none(client: TestClient) -> None:
    tools = client.get("/api/v1/search/tools", params={"query": QUERY})
    assert "X-Search-Id" not in tools.headers
    assert client.post("/api/v1/search", json={"query": QUERY}).json()["metadata"]["search_id"] is None
    called = {"name": "search_tools", "arguments": {"query": QUERY}}
    assert SEARCH_ID not in str(result(client, "tools/call", called, "2025-11-25"))
