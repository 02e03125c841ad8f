"""Many clients of two servers change MCP servers and their tools at once: no error, and afterwards all agrees."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.registry.report import RegistryReport

from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes, once, until
from tests.e2e.generated import servers, tools
from tests.e2e.load import RandomCalls, race
from tests.e2e.processes import HASHING, SOAK, Bare, Processes, answered, eventually
from tests.e2e.work import verified
from tests.integration.rows import Sql, connected, waits_for_a_lock

CLIENTS = 8
FOR_S = 60.0 if SOAK else 3.0
OFTEN = 5
"""How often every kind of change must have succeeded; a busy machine gets the time for it."""

_SERVERS = servers(6)
_TOOLS = tuple({name: said for name, said in tool.items() if name != "server"} for tool in tools("", 8))
"""Every server may have any of them."""

_CHANGES = ("put_servers", "put_tools", "delete_server", "delete_tool", "switch")


class Client(RandomCalls):
    """Changes servers and their tools, and searches."""

    def __init__(self, server: Bare, seed: int) -> None:
        super().__init__(server.client(), seed)
        self._calls = (
            (6, self.put_servers, {200}),
            (6, self.put_tools, {200}),
            (2, self.delete_server, {204, 404}),
            (2, self.delete_tool, {204, 404}),
            (1, self.switch, {200, 404}),
            (4, self.search, {200}),
        )

    def put_servers(self) -> httpx.Response:
        chosen = self._random.sample(_SERVERS, self._random.randint(1, 3))
        return self._written("/api/v1/servers", {"servers": [self._changed(server) for server in chosen]})

    def put_tools(self) -> httpx.Response:
        items = [self._tool() | {"server": server["path"][1:]} for server in self._random.sample(_SERVERS, 3)]
        return self._written("/api/v1/tools", {"items": items})

    def delete_server(self) -> httpx.Response:
        return self._http.delete(f"/api/v1/servers/{self._server_id()}")

    def delete_tool(self) -> httpx.Response:
        return self._http.delete(f"/api/v1/tools/{self._one_of('tools')}")

    def switch(self) -> httpx.Response:
        how = self._random.choice(["enable", "disable"])
        return self._http.post(f"/api/v1/servers/{self._server_id()}/{how}")

    def search(self) -> httpx.Response:
        said = self._random.choice([*_SERVERS, *_TOOLS])
        request = {"query": f"{said['name']} {said['description']}", "fusion": self._random.choice(["boost", "rrf"])}
        return self._http.post("/api/v1/search/registry", json=request)

    def _written(self, url: str, body: dict[str, Any]) -> httpx.Response:
        response = self._http.put(url, json=body)
        if response.is_success:
            results = response.json()["results"]
            self.wrong += [f"{url}: {result}" for result in results if result["status"] == "failed"]
        return response

    def _changed(self, server: dict[str, Any]) -> dict[str, Any]:
        """Return a server in one of its states; in one of three its tools stay as they are."""
        changed = server | {"description": f"{server['description']} Edition {self._random.randint(1, 3)}."}
        if self._random.random() < 1 / 3:
            return {name: said for name, said in changed.items() if name != "tools"}
        names = self._random.sample(range(len(_TOOLS)), self._random.randint(0, len(_TOOLS)))
        return changed | {"tools": [self._tool(number) for number in names]}

    def _tool(self, number: int | None = None) -> dict[str, Any]:
        tool = self._random.choice(_TOOLS) if number is None else _TOOLS[number]
        return tool | {"description": f"{tool['description']} Edition {self._random.randint(1, 3)}."}

    def _server_id(self) -> int:
        return self._one_of("servers")

    def _one_of(self, kind: str) -> int:
        ids = [each["id"] for each in answered(self._http.get(f"/api/v1/{kind}"))]
        return self._random.choice(ids or [1])


def test_nobody_sees_an_error_and_afterwards_all_agree(home: Path, processes: Processes, database_url: str) -> None:
    pair = [processes.bare(home, database_url, "--relay-every-s", "0.5", **HASHING) for _ in range(2)]
    clients = [
        Client(server.ready(), seed) for seed, server in zip(range(CLIENTS), itertools.cycle(pair), strict=False)
    ]
    race(clients, _CHANGES, often=OFTEN, for_s=FOR_S, at_most_s=30.0)

    with connected(database_url) as sql:
        [[deadlocks]] = sql("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        assert deadlocks == 0, "each is retried, and costs everybody who waits a second"
        eventually(lambda: not waiting(sql), "everything has its vector")
        assert wrongly_worded(sql) == []
    for server in pair:
        verified(server)
        assert "Traceback" not in server.output


class TestAServerThatIsPutWhileItsToolsChange:
    """In the test's own process, to hold one of the two at the moment when all is written and nothing committed."""

    @pytest.fixture
    def writers(self, database_url: str, edge_indexes: EdgeIndexes) -> Iterator[tuple[System, System]]:
        with (
            lent_system(database_url, edge_indexes, embedder=HashingEmbedder()) as first,
            lent_system(database_url, edge_indexes, embedder=HashingEmbedder()) as second,
        ):
            first.put("a_first_one")  # whose vector decides the model: that is waited for as well
            yield first, second

    @pytest.mark.parametrize("change", ["put", "changed", "deleted"])
    def test_says_what_they_are_in_the_end(self, writers: tuple[System, System], change: str) -> None:
        first, second = writers
        kept, tool = (
            {**tool, "server": "lisbon", "description": f"{tool['description']} Edition 1."} for tool in _TOOLS[:2]
        )
        parts = first.parts
        parts.catalogue.sync([kept] if change == "put" else [kept, tool], LAPTOP)
        [tool_id] = [row[0] for row in first.rows("SELECT max(id) FROM mcp.tools")]
        reports: list[RegistryReport] = []
        putting = threading.Thread(
            target=lambda: reports.append(second.parts.registry.sync("server", [{"name": "Lisbon"}], LAPTOP))
        )

        def put_the_server() -> None:
            putting.start()
            until(lambda: not putting.is_alive() or waits_for_a_lock(second.rows))

        first.database.before_commit = once(put_the_server)
        if change == "deleted":
            parts.catalogue.read.delete(tool_id, LAPTOP)
        else:
            edition = "Edition 2." if change == "changed" else "Edition 1."
            parts.catalogue.sync([tool | {"description": tool["description"].replace("Edition 1.", edition)}], LAPTOP)
        putting.join()

        [[outcome]] = [report.outcomes for report in reports]
        assert (outcome.status, outcome.reason) == ("created", None)
        assert wrongly_worded(second.rows) == []


class TestTheFirstVectorOfADatabase:
    def test_makes_nobody_wait_for_the_writer_whose_it_is(self, database_url: str, edge_indexes: EdgeIndexes) -> None:
        """Who waits for it has locked something that the writer may wait for."""
        # GIVEN a writer that has the first vector, right before its commit
        with (
            lent_system(database_url, edge_indexes, embedder=HashingEmbedder()) as first,
            lent_system(database_url, edge_indexes, embedder=HashingEmbedder()) as second,
        ):
            waited: list[bool] = []
            put = threading.Thread(target=lambda: second.parts.registry.sync("server", [{"name": "Porto"}], LAPTOP))

            def put_another() -> None:
                if not waited and has_claimed_a_path(second):
                    put.start()
                    until(lambda: not put.is_alive() or waits_for_a_lock(second.rows))
                    waited.append(put.is_alive())

            first.database.before_commit = put_another
            # WHEN another one writes meanwhile
            first.parts.registry.sync("server", [{"name": "Lisbon", "tools": [_TOOLS[0]]}], LAPTOP)
            # THEN it is through before the first is
            assert waited == [False]
            put.join()
            assert second.rows("SELECT count(*) FROM mcp.registry_entities") == [[2]]


def has_claimed_a_path(system: System) -> bool:
    """Tell whether somebody registers a server right now."""
    locks = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock' AND database = "
    return system.rows(f"{locks} (SELECT oid FROM pg_database WHERE datname = current_database())") != [[0]]


def waiting(sql: Sql) -> bool:
    [[count]] = sql("SELECT count(*) FROM mcp.document_vectors WHERE embedding IS NULL")
    return bool(count)


def wrongly_worded(sql: Sql) -> list[list[Any]]:
    """Return the servers whose text or words do not say what their tools are, however the code would derive them."""
    return sql(
        "SELECT e.path, d.texts, said.texts, said.ids, found.ids FROM mcp.registry_entities e "
        "JOIN mcp.documents d ON d.collection = 'mcp_registry' AND d.key = e.id::text "
        "CROSS JOIN LATERAL ("
        "  SELECT coalesce(array_agg(t.name || ': ' || rtrim(t.description, '.')), '{}') AS texts, "
        "         coalesce(array_agg(t.id ORDER BY t.id), '{}') AS ids "
        "  FROM mcp.tools t WHERE t.server = substr(e.path, 2) AND t.type = 'tool') said "
        "CROSS JOIN LATERAL ("
        "  SELECT coalesce(array_agg(w.tool_id ORDER BY w.tool_id), '{}') AS ids "
        "  FROM mcp.registry_words w WHERE w.entity_id = e.id AND w.tool_id IS NOT NULL) found "
        "WHERE found.ids <> said.ids "
        "   OR EXISTS (SELECT FROM unnest(said.texts) AS text WHERE strpos(d.texts[1], text) = 0) "
        # No text of another tool, either: what is said of one ends with its edition.
        "   OR regexp_count(d.texts[1], 'stands in \\w+\\. Edition') <> cardinality(said.ids)"
    )
