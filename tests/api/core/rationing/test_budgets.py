"""Budgets over HTTP and MCP: who asks for too much is told when to ask again, and nobody else notices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from fastapi.testclient import TestClient
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.http.one_at_a_time import MAX_PER_ORGANISATION, OneAtATime
from skillroute.search.batch.search import MAX_SEARCHES
from skillroute.search.search import ToolSearch
from skillroute_local.server import local_app

from tests.api import mcp_calls
from tests.api.bad_tokens import KEYS, OURS, bearer
from tests.api.one_app import app_over
from tests.api.tokens import JWT, claims
from tests.builders import System, lent_system
from tests.unit.search.test_cost import HEAVIEST, LONG

SEARCH = "/api/v1/search"
PLAIN = {"query": "water the plants"}
HEAVY_BATCH = {"searches": [HEAVIEST] * 8}
RPC = {"accept": "application/json, text/event-stream"}


def lent(url: str, edges: Any, **budgets: float) -> Any:
    return lent_system(url, edges, embedder=HashingEmbedder(), **JWT, jwt_keys=KEYS, **budgets)


@pytest.fixture
def system(database_url: str, edge_indexes: Any) -> Iterator[System]:
    """One whose callers may have four plain searches a second, and their organisations eight."""
    with lent(database_url, edge_indexes, budget_caller=4.0, budget_organisation=8.0) as system:
        yield system


@pytest.fixture
def client(system: System) -> TestClient:
    return TestClient(app_over(system), raise_server_exceptions=False)


def of(org: str | None, subject: str = "ann", scope: str = "search") -> dict[str, str]:
    return dict(bearer(OURS.sign(claims(scope, org) | {"sub": subject})))


def exhaust(client: TestClient, who: dict[str, str]) -> None:
    assert client.post(f"{SEARCH}/batch", json=HEAVY_BATCH, headers=who).status_code == 200


def test_a_heavy_batch_uses_up_its_callers_budget_and_nobody_elses(client: TestClient) -> None:
    exhaust(client, of("acme"))
    refused = client.post(SEARCH, json=PLAIN, headers=of("acme"))
    assert refused.status_code == 429
    assert refused.json()["code"] == "budget_spent"
    assert 0 < int(refused.headers["Retry-After"]) < 60
    assert f"try again in {refused.headers['Retry-After']} s" in refused.json()["detail"]
    for other in (of("acme", "bob"), of("globex"), of(None)):
        assert client.post(SEARCH, json=PLAIN, headers=other).status_code == 200


def test_other_processes_know_of_it(client: TestClient, system: System, database_url: str, edge_indexes: Any) -> None:
    exhaust(client, of("acme"))
    with lent(database_url, edge_indexes, budget_caller=4.0, budget_organisation=8.0) as another:
        elsewhere = TestClient(app_over(another), raise_server_exceptions=False)
        assert elsewhere.post(f"{SEARCH}/batch", json=HEAVY_BATCH, headers=of("acme")).status_code == 429
        assert elsewhere.post(f"{SEARCH}/batch", json=HEAVY_BATCH, headers=of("globex")).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"{SEARCH}/skills?query=x", None),
        ("GET", f"{SEARCH}/tools?query=x", None),
        ("POST", f"{SEARCH}/registry", {"query": "x"}),
        ("POST", f"{SEARCH}/messages", {"text": "x"}),
        ("POST", f"{SEARCH}/batch", {"searches": [PLAIN]}),
        ("POST", "/api/v1/tools/search_messages", {"project_key": "p", "query": "x"}),
        ("POST", "/api/v1/tools/search_messages_product", {"product_key": "p", "query": "x"}),
        ("GET", "/api/v1/export?kind=tool", None),
    ],
)
def test_every_search_and_the_export_are_charged_for(client: TestClient, method: str, path: str, body: Any) -> None:
    who = of("acme", scope="admin")
    exhaust(client, who)
    assert client.request(method, path, json=body, headers=who).status_code == 429


def test_an_organisation_may_export_within_its_budget(client: TestClient) -> None:
    assert client.get("/api/v1/export", headers=of("acme", scope="admin")).status_code == 200


def test_the_check_of_everything_is_the_operators_and_charged_for(client: TestClient) -> None:
    operator = of(None, scope="admin")
    assert client.get("/api/v1/verify", headers=of("acme", scope="admin")).status_code == 403
    assert client.get("/api/v1/verify", headers=operator).status_code == 200
    assert client.get("/api/v1/verify", headers=operator).status_code == 429


def test_over_mcp_a_tool_says_when_to_try_again_and_other_methods_answer_an_error(client: TestClient) -> None:
    who = of("acme")
    exhaust(client, who)
    for revision in mcp_calls.REVISIONS:
        found = mcp_calls.call(client, "search_tools", PLAIN, revision, **who)
        assert found["isError"] is True
        assert "try again in" in found["content"][0]["text"]
    answer = mcp_calls.ask(client, "tools/list", revision=mcp_calls.STATELESS, **who)
    assert mcp_calls.error(answer) == (429, -32029)
    assert answer.json()["error"]["data"]["retryAfterSeconds"] == int(answer.headers["Retry-After"]) > 0
    mcp_calls.result(client, "ping", revision="2025-11-25", **who)


def test_a_batch_whose_work_is_too_much_is_422_and_does_and_costs_nothing(client: TestClient) -> None:
    answer = client.post(f"{SEARCH}/batch", json={"searches": [HEAVIEST] * MAX_SEARCHES}, headers=of("acme"))
    assert answer.status_code == 422
    [problem] = answer.json()["detail"]
    assert problem["loc"] == ["body", "searches"]
    assert "a batch may cost 60: send fewer in one call" in problem["msg"]
    assert client.post(SEARCH, json=PLAIN, headers=of("acme")).status_code == 200


def test_a_search_whose_needs_are_too_much_is_422_and_does_and_costs_nothing(client: TestClient) -> None:
    heaviest = {name: value for name, value in HEAVIEST.items() if name != "query"}
    needs = [f"{number}: {LONG}"[:1000] for number in range(10)]
    answer = client.post(SEARCH, json={**heaviest, "needs": needs}, headers=of("acme"))
    assert answer.status_code == 422
    [problem] = answer.json()["detail"]
    assert problem["loc"] == ["body", "needs"]
    assert "a search may cost 60: send fewer or shorter needs" in problem["msg"]
    assert client.post(SEARCH, json=PLAIN, headers=of("acme")).status_code == 200


def test_a_batch_over_mcp_whose_work_is_too_much_is_refused_whole(client: TestClient) -> None:
    heavy = {"name": "search_tools", "arguments": {"query": LONG, "limit": 50, "budget_tokens": 20_000}}
    batch = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": heavy} for n in range(10)]
    answer = client.post("/mcp", json=batch, headers=of("acme") | RPC)
    assert answer.status_code == 400
    assert "60 are allowed: send fewer at once" in answer.json()["error"]["message"]


def test_without_the_table_searches_go_on(client: TestClient, system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a schema of the version before, which runs until it is migrated."""
    system.parts.pool.transact(lambda session: session.script("DROP FUNCTION mcp.charge_budgets"))
    try:
        exhaust(client, of("acme"))
    finally:
        restore(system)
    assert client.post(SEARCH, json=PLAIN, headers=of("acme")).status_code == 429


def restore(system: System) -> None:
    from importlib.resources import files

    migration = files("skillroute.core.postgres").joinpath("migrations/0008_budgets.sql").read_text("utf-8")
    function = migration[migration.index("CREATE FUNCTION") :]
    system.parts.pool.transact(lambda session: session.script(function))


def test_a_laptop_without_tokens_knows_no_callers_and_has_no_budgets(database_url: str, edge_indexes: Any) -> None:
    with lent_system(
        database_url, edge_indexes, embedder=HashingEmbedder(), budget_caller=0.001, budget_organisation=0.001
    ) as system:
        client = TestClient(app_over(system), raise_server_exceptions=False)
        for _ in range(3):
            assert client.post(f"{SEARCH}/batch", json=HEAVY_BATCH).status_code == 200


def test_heavy_searches_give_way_and_answer_the_same(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[bool] = []
    before = ToolSearch.search

    def noted(self: ToolSearch, request: Any, caller: Any, *, lent: Any = None, **others: Any) -> Any:
        with (lent or self._replica).current() as index:
            given.append(type(index).__name__ == "_GivingWay")
        return before(self, request, caller, lent=lent, **others)

    monkeypatch.setattr(ToolSearch, "search", noted)
    assert client.post(SEARCH, json=PLAIN, headers=of("acme")).status_code == 200
    alone = client.post(SEARCH, json=HEAVIEST, headers=of("acme")).json()
    both = client.post(f"{SEARCH}/batch", json={"searches": [HEAVIEST]}, headers=of("acme")).json()
    assert given == [False, True, True]
    assert both["results"][0]["answer"]["tools"] == alone["tools"]


def test_a_search_whose_body_is_not_whole_keeps_no_heavy_work_waiting(system: System) -> None:
    app = local_app(system.parts)
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json"), (b"content-length", b"1000")]

    async def half_sent() -> dict[str, Any]:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(_: Any) -> None:
        pytest.fail("it was answered")

    async def counted() -> int:
        async with anyio.create_task_group() as tasks:
            for path in (SEARCH, "/mcp"):
                token = of("acme")["authorization"].encode()
                scope = {
                    "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
                    "headers": [*headers, (b"authorization", token)], "http_version": "1.1", "scheme": "http",
                    "server": ("localhost", 80), "client": ("127.0.0.1", 1), "root_path": "",
                }  # fmt: skip
                tasks.start_soon(app, scope, half_sent, send)
            await anyio.wait_all_tasks_blocked()
            plain = system.parts.turns._plain
            tasks.cancel_scope.cancel()
        return plain

    assert anyio.run(counted) == 0


def test_an_organisation_has_few_batches_under_way_at_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = {"acme": MAX_PER_ORGANISATION}
    before = OneAtATime.run

    async def beside(self: OneAtATime, caller: Any, work: Any) -> Any:
        self._under_way.update(waiting)
        try:
            return await before(self, caller, work)
        finally:
            self._under_way.subtract(waiting)

    monkeypatch.setattr(OneAtATime, "run", beside)
    batch = {"searches": [PLAIN]}
    refused = client.post(f"{SEARCH}/batch", json=batch, headers=of("acme"))
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1")
    assert client.post(f"{SEARCH}/batch", json=batch, headers=of("globex")).status_code == 200
    calls = [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]
    over_mcp = client.post("/mcp", json=calls, headers=of("acme") | RPC)
    assert (mcp_calls.error(over_mcp), over_mcp.headers["Retry-After"]) == ((429, -32029), "1")
    assert over_mcp.json()["error"]["data"] == {"retryAfterSeconds": 1}
    assert client.post("/mcp", json=calls, headers=of("globex") | RPC).status_code == 200
