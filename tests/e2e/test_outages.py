"""Each part goes away under a running server and comes back: callers are told, and nobody has to restart it."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.errors.model import IndexUnavailable
from skillroute.core.postgres.migrate import migrate
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute_local.postgres import EmbeddedPostgres
from skillroute_local.server import local_app

from tests.builders import System, lent_system
from tests.doubles import EdgeIndexes
from tests.e2e.generated import tools
from tests.e2e.load import Threads
from tests.e2e.processes import HASHING, SOAK, Bare, EmbeddingStub, Processes, answered, eventually, served
from tests.temporary import temporary_directory

ANSWERS_WITHIN_S = 5.0  # well before any timeout of ours
OUTAGES = 10 if SOAK else 2
CALLERS = 8 if SOAK else 3


@dataclass(frozen=True)
class Call:
    """One call of the load: when it began, how long it took, what it brought."""

    kind: str
    began: float
    took_s: float
    status: int
    detail: str | None


class Load(Threads):
    """Threads that search and write one call after the other, until the end of the block."""

    def __init__(self, server: Bare) -> None:
        self._server = server
        places = range(CALLERS)
        super().__init__(self._call_on, [(kind, place) for place in places for kind in ("search", "put", "list")])
        self.calls: list[Call] = []
        self.broken: list[Exception] = []

    def all_answer(self, status: int) -> None:
        """Wait until every kind of call that began after this moment has been answered so, ten times."""
        since = time.monotonic()

        def seen() -> bool:
            calls = [call for call in list(self.calls) if call.began > since and call.status == status]
            return all(sum(call.kind == kind for call in calls) >= 10 for kind in ("search", "put", "list"))

        eventually(seen, f"every kind of call answers {status}; so far: {self.calls[-3:]}, {self.broken}")

    def _call_on(self, kind: str, place: int) -> None:
        with self._server.client() as http:
            for number in itertools.count():
                if self._end.wait(0.01):  # light: the test and the server share two cores with others
                    return
                began = time.monotonic()
                try:
                    response = self._call(http, kind, f"{place}_{number % 100}")
                except httpx.TransportError as error:
                    self.broken.append(error)
                    continue
                took_s = time.monotonic() - began
                detail = None if response.is_success else response.json()["detail"]
                self.calls.append(Call(kind, began, took_s, response.status_code, detail))

    @staticmethod
    def _call(http: httpx.Client, kind: str, name: str) -> httpx.Response:
        if kind == "search":
            return http.post("/api/v1/search", json={"query": f"borrow a kayak {name}", "strategy": "direct"})
        if kind == "list":
            return http.get("/api/v1/tools", params={"limit": 5})
        item = {"server": "load", "name": f"tool_{name}", "description": f"Written at {time.monotonic()}."}
        return http.put("/api/v1/tools", json={"items": [item]})


class TestPostgreSQL:
    @pytest.fixture
    def postgres(self) -> Iterator[EmbeddedPostgres]:
        """A server of the test's own, which may go down; the data stay."""
        with temporary_directory("skillroute-e2e-") as directory:
            server = EmbeddedPostgres(Path(directory) / "postgres", durable=False).start()
            migrate(server.url)
            yield server
            server.stop()

    def test_while_it_is_away_callers_are_told_at_once_and_after_it_all_is_well_again(
        self, home: Path, processes: Processes, postgres: EmbeddedPostgres
    ) -> None:
        server = processes.bare(home, postgres.url, **HASHING).ready()
        server.put(*tools("shop", 100))
        port = postgres.port

        with Load(server) as load:
            for _ in range(OUTAGES):
                load.all_answer(200)
                postgres.stop()
                load.all_answer(503)
                assert answered(server.http.get("/health"))["status"] == "unavailable"
                assert answered(server.http.get("/ready"), 503)["dependencies"]["database"]["detail"]
                postgres.start()
                assert postgres.port == port
                load.all_answer(200)
                assert answered(server.http.get("/ready"))["status"] == "ok"

        assert load.broken == []
        assert {call.status for call in load.calls} == {200, 503}
        refused = [call for call in load.calls if call.status == 503]
        assert all(call.detail and "PostgreSQL" in call.detail for call in refused)
        slowest_s = max(call.took_s for call in load.calls)
        slowest_503_s = max(call.took_s for call in refused)
        sys.stdout.write(f"{len(load.calls)} calls, slowest 503 {slowest_503_s:.3f} s, slowest {slowest_s:.3f} s\n")
        assert slowest_s < ANSWERS_WITHIN_S
        names = [item["name"] for item in server.items(server="load")]
        assert len(names) == len(set(names))

    def test_a_server_that_starts_before_it_is_up_answers_as_soon_as_it_is(
        self, home: Path, processes: Processes, postgres: EmbeddedPostgres
    ) -> None:
        url = postgres.url
        postgres.stop()
        server = processes.bare(home, url, **HASHING).ready()
        refused = answered(server.http.post("/api/v1/search", json={"query": "weather"}), 503)
        assert "PostgreSQL" in refused["detail"]

        postgres.start()

        assert server.search("weather")["tools"] == []


class TestTheEmbeddingModel:
    @pytest.fixture
    def stub(self) -> Iterator[EmbeddingStub]:
        with EmbeddingStub() as stub:
            yield stub

    def test_without_it_words_are_searched_and_what_was_written_gets_its_vector_later(
        self, home: Path, processes: Processes, database_url: str, stub: EmbeddingStub
    ) -> None:
        # GIVEN a server whose model is elsewhere
        settings = {
            "SKILLROUTE_EMBEDDING_PROVIDER": "openai",
            "SKILLROUTE_EMBEDDING_MODEL": "stub",
            "SKILLROUTE_EMBEDDING_DIMENSION": str(stub.dimension),
            "SKILLROUTE_OPENAI_BASE_URL": stub.url,
            "SKILLROUTE_EMBEDDING_RETRY_AFTER_S": "0.2",
        }
        server = processes.bare(home, database_url, "--relay-every-s", "0.1", **settings).ready()
        before, meanwhile = (
            {"name": "peel", "description": "Peels potatoes."},
            {"name": "iron", "description": "Irons shirts."},
        )
        assert server.put(before)["degraded"] == []
        assert server.search("potatoes", strategy="direct")["metadata"]["search_mode"] == "hybrid"

        # WHEN it goes away
        stub.stop()

        # THEN searches go by words and say so
        answer = server.search("peels some potatoes", strategy="direct")
        assert [tool["name"] for tool in answer["tools"]] == ["peel"]
        assert answer["tools"][0]["similarity"] is None
        assert answer["metadata"]["search_mode"] == "lexical-only"
        assert answer["metadata"]["degraded"] == ["embedding_unavailable"]
        skills = server.http.get("/api/v1/search/skills", params={"query": "irons"})
        assert (answered(skills), skills.headers["X-Search-Mode"]) == ([], "lexical-only")

        # AND what is written is stored, found by its words, and waits
        written = server.put(meanwhile)
        assert (written["created"], written["degraded"]) == (1, ["embedding_unavailable"])
        [result] = written["results"]
        assert [tool["name"] for tool in server.search("irons", strategy="direct")["tools"]] == ["iron"]
        assert answered(server.http.get(f"/api/v1/tools/{result['id']}"))["is_embedded"] is False
        health = answered(server.http.get("/ready"))
        assert (health["status"], health["search_mode"]) == ("degraded", "lexical-only")

        # WHEN it is back
        stub.start()

        # THEN all is as it was, and what had waited has its vector, without a restart
        def mode() -> str:
            found: str = server.search("irons shirts", strategy="direct")["metadata"]["search_mode"]
            return found

        eventually(lambda: mode() == "hybrid", "searches go by meaning")
        eventually(lambda: answered(server.http.get(f"/api/v1/tools/{result['id']}"))["is_embedded"], "it is embedded")
        [hit, *_] = server.search("irons shirts", strategy="direct")["tools"]
        assert hit["name"] == "iron"
        assert hit["similarity"] > 0.0, "it has its vector"
        assert answered(server.http.get("/health"))["status"] == "ok"

    def test_a_server_that_starts_without_it_searches_by_words(
        self, home: Path, processes: Processes, database_url: str, stub: EmbeddingStub
    ) -> None:
        settings = {
            "SKILLROUTE_EMBEDDING_PROVIDER": "openai",
            "SKILLROUTE_EMBEDDING_MODEL": "stub",
            "SKILLROUTE_EMBEDDING_DIMENSION": str(stub.dimension),
            "SKILLROUTE_OPENAI_BASE_URL": stub.url,
            "SKILLROUTE_EMBEDDING_RETRY_AFTER_S": "0.2",
        }
        stub.stop()
        server = processes.bare(home, database_url, "--relay-every-s", "0.1", **settings).ready()
        assert server.put({"name": "peel", "description": "Peels potatoes."})["degraded"] == ["embedding_unavailable"]
        assert server.search("potatoes", strategy="direct")["metadata"]["search_mode"] == "lexical-only"

        stub.start()

        eventually(lambda: all(item["is_embedded"] for item in server.items()), "it is embedded")
        eventually(
            lambda: server.search("potatoes", strategy="direct")["metadata"]["search_mode"] == "hybrid",
            "searches go by meaning",
        )


class TestTheIndex:
    """In the test's own process, as nothing outside can take the embedded index away."""

    @pytest.fixture
    def system(self, database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
        with lent_system(database_url, edge_indexes, embedder=HashingEmbedder()) as system:
            yield system

    @pytest.fixture
    def http(self, system: System) -> Iterator[httpx.Client]:
        with served(local_app(system.parts)) as client:
            answered(client.put("/api/v1/tools", json={"items": tools("shop", 10)}))
            yield client

    @staticmethod
    def search(http: httpx.Client) -> dict[str, Any]:
        answer: dict[str, Any] = answered(http.post("/api/v1/search", json={"query": "borrow a bicycle"}))
        return answer

    def test_when_it_cannot_be_asked_searches_are_empty_and_say_so_until_it_can(
        self, system: System, http: httpx.Client
    ) -> None:
        assert self.search(http)["tools"]

        with _away(system):
            answer = self.search(http)
            assert answer["tools"] == answer["matched_skills"] == []
            assert answer["metadata"]["degraded"] == ["index_unavailable"]
            assert answered(http.get("/api/v1/search/tools", params={"query": "bicycle"})) == []
            assert answered(http.get("/api/v1/search/skills", params={"query": "bicycle"})) == []
            assert answered(http.get("/ready"), 503)["status"] == "unavailable"
            written = answered(http.put("/api/v1/tools", json={"items": tools("shop", 11)}))
            assert (written["created"], written["unchanged"]) == (1, 10)

        answer = self.search(http)
        assert answer["metadata"]["degraded"] == []
        assert len(answered(http.get("/api/v1/search/tools", params={"query": "bicycle", "limit": 50}))) == 10
        assert answered(http.get("/ready"))["status"] == "ok"
        assert answered(http.get("/health"))["index_items"] == 11

    def test_when_it_fails_to_search_tools_the_answer_is_empty_and_says_so(
        self, system: System, http: httpx.Client
    ) -> None:
        system.index.fail(TOOL_DOCUMENTS, IndexUnavailable("the index is damaged"))

        answer = self.search(http)
        assert answer["tools"] == []
        assert answer["metadata"]["degraded"] == ["tool_search_failed"]

        system.index.faults.clear()
        answer = self.search(http)
        assert answer["tools"]
        assert answer["metadata"]["degraded"] == []

    def test_when_it_fails_to_search_skills_all_tools_are_searched(self, system: System, http: httpx.Client) -> None:
        system.index.fail(SKILL_DOCUMENTS, IndexUnavailable("the index is damaged"))

        answer = self.search(http)

        assert answer["tools"]
        assert answer["metadata"]["fallback_reason"] == "skill_search_failed"


@contextmanager
def _away(system: System) -> Iterator[None]:
    """Make the replica unavailable for the length of a block."""
    lend = system.replica.current

    @contextmanager
    def refuse(*_: object) -> Iterator[Any]:
        raise IndexUnavailable("the index is away")
        yield

    system.replica.current = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        system.replica.current = lend  # type: ignore[method-assign]
