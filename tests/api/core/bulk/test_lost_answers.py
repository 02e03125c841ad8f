"""What callers get while PostgreSQL loses answers or does not answer: the truth, and soon (decision 9)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from skillroute.core.http.app import create_app
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts

from tests.faults.proxy import FaultyProxy, LostCommit, faulty_proxy

SKILL = {"id": "plants", "name": "Plants", "description": "Watering and potting plants."}
NOT_KNOWN = "outcome_unknown"
AWAY = "database_unavailable"
CONNECT_S = 1.0
STATEMENT_S = 1.0
SOON_S = 20.0
"""Far more than the one statement and the one login that may be waited for."""


@pytest.fixture
def proxy(database_url: str) -> Iterator[FaultyProxy]:
    with faulty_proxy(database_url) as proxy:
        yield proxy


@pytest.fixture
def behind(proxy: FaultyProxy, database_url: str) -> Iterator[TestClient]:
    """A client of an app whose database is behind the proxy."""
    parts = Parts(
        LocalSettings(
            database_url=proxy.url(database_url),
            embedding_provider="hashing",
            database_connect_timeout_s=CONNECT_S,
            database_statement_timeout_s=STATEMENT_S,
        )
    )
    routers, use_cases = parts.served("search", "catalog", "skills")
    app = create_app(routers, use_cases=use_cases)
    try:
        yield TestClient(app, raise_server_exceptions=False)
    finally:
        parts.close()


def put(client: TestClient, *names: str) -> httpx.Response:
    items = [{"name": name, "description": f"A tool called {name}."} for name in names]
    return client.put("/api/v1/tools", json={"items": items})


def listed(client: TestClient, path: str) -> list[dict[str, Any]]:
    answer = client.get(path).json()
    found: list[dict[str, Any]] = answer if isinstance(answer, list) else next(iter(answer.values()))
    return found


LOST = pytest.mark.parametrize("fate", [LostCommit.STORED_AND_RESET, LostCommit.NEVER_ARRIVED])


class TestALostCommit:
    @LOST
    def test_a_skill_that_is_created_is_201_and_there_once(
        self, behind: TestClient, proxy: FaultyProxy, fate: LostCommit
    ) -> None:
        proxy.lose_commits(fate)
        created = behind.post("/api/v1/skills", json=SKILL)
        assert (created.status_code, created.json()["id"]) == (201, "plants")
        assert proxy.commits == []
        assert behind.get("/api/v1/skills/plants").json() == created.json()
        assert behind.post("/api/v1/skills", json=SKILL).status_code == 409

    @LOST
    def test_a_skill_that_is_deleted_is_204_and_gone(
        self, behind: TestClient, proxy: FaultyProxy, fate: LostCommit
    ) -> None:
        behind.post("/api/v1/skills", json=SKILL)
        proxy.lose_commits(fate)
        assert behind.delete("/api/v1/skills/plants").status_code == 204
        assert proxy.commits == []
        assert behind.get("/api/v1/skills/plants").status_code == 404

    @LOST
    def test_tools_that_are_written_are_reported_as_created(
        self, behind: TestClient, proxy: FaultyProxy, fate: LostCommit
    ) -> None:
        proxy.lose_commits(fate)
        written = put(behind, "a", "b").json()
        assert (written["created"], written["unchanged"], written["failed"]) == (2, 0, 0)
        assert proxy.commits == []
        assert put(behind, "a", "b").json()["unchanged"] == 2

    @LOST
    def test_a_tool_that_is_deleted_is_204_and_gone(
        self, behind: TestClient, proxy: FaultyProxy, fate: LostCommit
    ) -> None:
        [tool] = put(behind, "a").json()["results"]
        proxy.lose_commits(fate)
        assert behind.delete(f"/api/v1/tools/{tool['id']}").status_code == 204
        assert proxy.commits == []
        assert behind.get(f"/api/v1/tools/{tool['id']}").status_code == 404

    def test_what_is_not_stored_is_503_and_not_there(self, behind: TestClient, proxy: FaultyProxy) -> None:
        proxy.lose_commits(LostCommit.NEVER_ARRIVED, LostCommit.NEVER_ARRIVED)
        refused = behind.post("/api/v1/skills", json=SKILL)
        assert (refused.status_code, refused.json()["code"], refused.headers["retry-after"]) == (503, AWAY, "1")
        assert behind.get("/api/v1/skills/plants").status_code == 404

    def test_an_unknown_outcome_is_503_and_says_so(self, behind: TestClient, proxy: FaultyProxy) -> None:
        behind.get("/api/v1/skills/plants")
        proxy.lose_commits(LostCommit.STORED_AND_RESET)
        proxy.swallow_new()
        unknown = behind.post("/api/v1/skills", json=SKILL)
        assert (unknown.status_code, unknown.json()["code"]) == (503, NOT_KNOWN)
        assert "retry-after" not in unknown.headers


class TestASilentDatabase:
    def test_searches_and_writes_are_503_soon_and_then_at_once(self, behind: TestClient, proxy: FaultyProxy) -> None:
        put(behind, "a")
        proxy.black_hole()

        def asked() -> list[httpx.Response]:
            return [put(behind, "b"), behind.post("/api/v1/search", json={"query": "a"}), behind.get("/api/v1/tools")]

        began = time.monotonic()
        answers = asked()
        accepted = proxy.accepted
        answers += asked()

        assert time.monotonic() - began < SOON_S
        assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(503, AWAY)] * 6
        assert proxy.accepted <= accepted + 1  # one look a second

    def test_connections_that_are_silent_cost_a_write_time_and_not_its_success(
        self, behind: TestClient, proxy: FaultyProxy
    ) -> None:
        put(behind, "a")
        proxy.half_open()
        began = time.monotonic()
        assert put(behind, "b").status_code == 200
        assert time.monotonic() - began < SOON_S
        assert sorted(tool["name"] for tool in listed(behind, "/api/v1/tools")) == ["a", "b"]
