"""The embedding model is pulled away under load and given back: registry search goes by words meanwhile."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.generated import agents, servers
from tests.e2e.load import Threads
from tests.e2e.processes import SOAK, Bare, EmbeddingStub, Processes, Up, answered, eventually
from tests.e2e.work import paths, put_servers, search_registry, verified
from tests.unit.core.stubs import Answer, StubServer, openai_answer

OUTAGES = 10 if SOAK else 2
SEARCHERS = 6 if SOAK else 3
ENOUGH = 8
"""Answers of each kind that are waited for in each phase."""

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True)
class Call:
    """One call of the load: when it began and ended, and what it brought."""

    kind: str
    began: float
    ended: float
    status: int
    mode: str | None
    problem: str | None


class Load(Threads):
    """Threads that search registry and tools, and write servers, one call after the other until the end of the block.

    No query comes twice: its vector would be remembered, and the model not be missed.
    """

    def __init__(self, server: Bare) -> None:
        self._server = server
        self._queries = itertools.count()
        super().__init__(self._call_on, [(kind,) for kind in ("registry",) * SEARCHERS + ("tools", "put")])
        self.calls: list[Call] = []
        self.broken: list[Exception] = []

    def all_are(self, mode: str) -> None:
        """Wait until the last answers of each kind of search that began after this moment were of a mode."""
        since = time.monotonic()
        wanted = {"registry": mode, "tools": mode}

        def seen() -> bool:
            calls = [call for call in list(self.calls) if call.began > since]
            return all(
                [call.mode for call in calls if call.kind == kind][-ENOUGH:] == [each] * ENOUGH
                for kind, each in wanted.items()
            )

        eventually(seen, f"answers are {mode}; the last: {self.calls[-3:]}, {self.broken}")

    def within(self, began: float, ended: float, kind: str) -> list[Call]:
        """Return the calls of a kind that began and ended between two moments."""
        return [call for call in self.calls if call.kind == kind and call.began > began and call.ended < ended]

    def _call_on(self, kind: str) -> None:
        with self._server.client() as http:
            while not self._end.wait(0.01):  # light: the test and the server share two cores with others
                began = time.monotonic()
                try:
                    response = self._call(http, kind, next(self._queries))
                except httpx.TransportError as error:
                    self.broken.append(error)
                    continue
                self.calls.append(_call(kind, began, response))

    @staticmethod
    def _call(http: httpx.Client, kind: str, number: int) -> httpx.Response:
        query = f"repair the bicycle of {_WEEKDAYS[number % 7]} {number}"
        if kind == "registry":
            return http.post("/api/v1/search/registry", json={"query": query})
        if kind == "tools":
            return http.post("/api/v1/search", json={"query": query, "strategy": "direct"})
        server = {"path": f"/load/{number % 20}", "name": f"Load {number}", "tools": [{"name": f"lift_{number}"}]}
        return http.put("/api/v1/servers", json={"servers": [server]})


def _call(kind: str, began: float, response: httpx.Response) -> Call:
    ended = time.monotonic()
    if not response.is_success:
        return Call(kind, began, ended, response.status_code, None, response.text[:300])
    answer = response.json()
    mode = answer["search_mode"] if kind == "registry" else answer.get("metadata", {}).get("search_mode")
    problem = None
    if kind == "registry" and not answer["servers"]:
        problem = "nothing was found"
    if kind == "put" and answer["failed"]:
        problem = response.text[:300]
    return Call(kind, began, ended, response.status_code, mode, problem)


@pytest.fixture
def stub() -> Iterator[EmbeddingStub]:
    with EmbeddingStub() as stub:
        yield stub


def settings(url: str, dimension: int) -> dict[str, str]:
    return {
        "SKILLROUTE_EMBEDDING_PROVIDER": "openai",
        "SKILLROUTE_EMBEDDING_MODEL": "stub",
        "SKILLROUTE_EMBEDDING_DIMENSION": str(dimension),
        "SKILLROUTE_OPENAI_BASE_URL": url,
        "SKILLROUTE_EMBEDDING_RETRY_AFTER_S": "0.4",
        # How long it is tried before it counts as away, so that nothing waits for it for seconds.
        "SKILLROUTE_QUERY_TIMEOUT_S": "1.5",
        "SKILLROUTE_BATCH_TIMEOUT_S": "1.5",
    }


def said_to_be(server: Bare) -> str:
    mode: str = answered(server.http.get("/ready"))["search_mode"]
    return mode


def is_embedded(server: Bare | Up, kind: str, entity_id: int) -> bool:
    found: bool = answered(server.http.get(f"/api/v1/{kind}/{entity_id}"))["is_embedded"]
    return found


def put_meanwhile(server: Bare, number: int) -> tuple[int, int]:
    """Write a server and an agent while the model is away; return their ids. Each is found by its words at once."""
    day = _WEEKDAYS[number % 7]
    given = {
        "path": f"/violin/{number}",
        "name": f"Luthier {day}",
        "description": "Repairs violins for musicians.",
        "tools": [{"name": f"restring_{number}", "description": "Puts new strings on."}],
    }
    written = answered(server.http.put("/api/v1/servers", json=[given]))
    assert (written["created"], written["degraded"]) == (1, ["embedding_unavailable"])
    [of_server] = written["results"]
    card = {"path": f"/violinist/{number}", "name": f"Soloist {day}", "description": "Plays concertos."}
    written = answered(server.http.put("/api/v1/agents", json=[card]))
    assert (written["created"], written["degraded"]) == (1, ["embedding_unavailable"])
    [of_agent] = written["results"]

    answer = search_registry(server, f"luthier restring_{number}")
    assert (answer["search_mode"], answer["metadata"]["degraded"]) == ("lexical-only", ["embedding_unavailable"])
    assert paths(answer)[0] == given["path"]
    assert [tool["tool_name"] for tool in answer["tools"]] == [f"restring_{number}"]
    assert answer["servers"][0]["relevance_score"] == pytest.approx((3.0 + 1.0) / 12.5, abs=1e-9)
    assert card["path"] in [agent["path"] for agent in search_registry(server, "soloist", max_results=50)["agents"]]
    return of_server["id"], of_agent["id"]


def assert_found_by_meaning(server: Bare, number: int) -> None:
    """The words of the query are in nothing, and still it finds what is meant."""
    answer = search_registry(server, "musicianship of violinists, repairing", max_results=50, explain=True)
    assert answer["search_mode"] == "hybrid"
    figures = {each["path"]: each for each in answer["explain"] if each["type"] == "mcp_server"}
    server_figures = figures[f"/violin/{number}"]
    assert server_figures["text_boost"] == 0.0
    assert server_figures["vector"] > 0.1
    assert f"/violin/{number}" in paths(answer)
    agents_found = search_registry(server, "concerto playing, soloistic", max_results=50, explain=True)
    agent = next(each for each in agents_found["explain"] if each["path"] == f"/violinist/{number}")
    assert agent["vector"] > 0.1


def test_the_mode_follows_the_model_and_no_request_fails(
    home: Path, processes: Processes, database_url: str, stub: EmbeddingStub
) -> None:
    server = processes.bare(home, database_url, "--relay-every-s", "0.1", **settings(stub.url, stub.dimension)).ready()
    put_servers(server, *servers(50))
    answered(server.http.put("/api/v1/agents", json=agents(10)))
    phases: list[tuple[str, float, float]] = []

    with Load(server) as load:
        began = time.monotonic()
        load.all_are("hybrid")
        for number in range(OUTAGES):
            phases.append(("hybrid", began, time.monotonic()))
            stub.stop()
            began = time.monotonic()
            load.all_are("lexical-only")
            server_id, agent_id = put_meanwhile(server, number)
            assert not is_embedded(server, "servers", server_id)
            assert not is_embedded(server, "agents", agent_id)
            eventually(lambda: said_to_be(server) == "lexical-only", "it is known in between two attempts")
            phases.append(("lexical-only", began, time.monotonic()))
            stub.start()
            load.all_are("hybrid")
            began = time.monotonic()
            # Nobody asks for it: the relay runs by its own schedule.
            eventually(lambda id_=server_id: is_embedded(server, "servers", id_), "the server has its vector")
            eventually(lambda id_=agent_id: is_embedded(server, "agents", id_), "the agent has its vector")
            assert_found_by_meaning(server, number)

    assert load.broken == []
    assert {call.status for call in load.calls} == {200}
    assert [call for call in load.calls if call.problem] == []
    for mode, since, until in phases:
        calls = load.within(since, until, "registry")
        assert calls
        assert {call.mode for call in calls} == {mode}
    slowest_s = max(call.ended - call.began for call in load.calls)
    sys.stdout.write(f"{len(load.calls)} calls, the slowest {slowest_s:.3f} s\n")
    eventually(lambda: all(each["is_embedded"] for each in listed(server, "servers")), "all servers have vectors")
    eventually(lambda: all(each["is_embedded"] for each in listed(server, "tools")), "all tools have vectors")
    assert verified(server)["ok"]


def listed(server: Bare, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answered(server.http.get(f"/api/v1/{kind}", params={"limit": 1000}))
    return found


DIMENSION = 384


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(500, {"error": {"message": "out of order"}}), id="out of order"),
        pytest.param(Answer(200, {"data": []}), id="answering nonsense"),
        pytest.param(Answer(hang=True), id="silent"),
    ],
)
def test_however_it_fails_words_are_searched_until_it_works(
    home: Path, processes: Processes, database_url: str, answer: Answer
) -> None:
    model = StubServer(lambda request: openai_answer(request, DIMENSION))
    try:
        server = processes.bare(
            home, database_url, "--relay-every-s", "0.1", **settings(f"{model.url}/v1", DIMENSION)
        ).ready()
        put_servers(server, *servers(20))
        usual, model.usual = model.usual, lambda _: answer
        entity_ids = put_meanwhile(server, 0)
        model.usual = usual
        for kind, entity_id in zip(("servers", "agents"), entity_ids, strict=True):
            eventually(lambda k=kind, id_=entity_id: is_embedded(server, k, id_), "it has its vector")
        queries = itertools.count()
        eventually(
            lambda: search_registry(server, f"violins {next(queries)}")["search_mode"] == "hybrid", "it is asked again"
        )
        assert_found_by_meaning(server, 0)
    finally:
        model.close()


def test_with_pump_and_queues_it_needs_nobody_s_help_either(
    home: Path, processes: Processes, stub: EmbeddingStub
) -> None:
    # GIVEN the whole of it, started while the model is away
    stub.stop()
    schedule = {"SKILLROUTE_RELAY_EVERY_S": "0.2"}
    server = processes.up(home, "--no-examples", **schedule, **settings(stub.url, stub.dimension)).ready()
    entity_ids = put_meanwhile(server, 0)

    stub.start()

    for kind, entity_id in zip(("servers", "agents"), entity_ids, strict=True):
        eventually(lambda k=kind, id_=entity_id: is_embedded(server, k, id_), "it has its vector")
    queries = itertools.count()
    eventually(
        lambda: search_registry(server, f"violins {next(queries)}")["search_mode"] == "hybrid", "it is asked again"
    )
    assert_found_by_meaning(server, 0)
