"""Lexical-only mode and every other way that a registry search degrades, and how it recovers.

Source: registry-search-design, Scoring in Lexical-Only Mode and Recovery.

What failed must show three times: in the answer, in the log, and as a metric.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.errors.model import DatabaseUnavailable, IndexTimeout, IndexUnavailable
from skillroute.core.time.time_left import at_most_s, ending_with
from skillroute.registry.collection import REGISTRY_DOCUMENTS

from tests.builders import System
from tests.component.registry.search.searched import Registry
from tests.doubles import LogRecords, at

Counted = Callable[[str], float]
EXACT = 1e-9


@pytest.fixture
def registry(system: System) -> Registry:
    """A server that a keyword finds, one that is only near, and an agent of each kind."""
    registry = Registry(system)
    tools = [("needle_in", "", at(0.1)), ("other", "", at(0.9))]
    registry.server("/needle", at(0.1), description="A needle.", tools=tools)
    registry.server("/near", at(0.9), tools=[("far_needle", "Has thread.", at(0.8))])
    registry.agent("/sewer", at(0.2), tags=("needle",))
    registry.agent("/near", at(0.9))
    return registry


def degradations(log: LogRecords) -> list[str]:
    return [record.degradation for record in log.having("search degraded")]  # type: ignore[attr-defined]


# Lexical-only mode


@pytest.mark.parametrize(
    ("said", "boost"),
    [
        ({"path": "/thread"}, 5.0),
        ({"name": "Thread"}, 3.0),
        ({"description": "A thread."}, 2.0),
        ({"tags": ("thread",)}, 1.5),
        ({"tools": {"thread": None}}, 1.0),
        ({"tools": {"thread": None, "thread_2": None}}, 2.0),
        ({"path": "/thread", "name": "Thread", "tools": {"thread": None}, "description": "Thread."}, 11.0),
        ({"path": "/thread/yarn", "name": "Thread, yarn"}, 16.0),
    ],
)
def test_lexical_relevance_is_the_boost_over_12_5(system: System, said: dict[str, object], boost: float) -> None:
    registry = Registry(system)
    path = str(said.pop("path", "/x"))
    registry.server(path, at(0.9), **said)  # type: ignore[arg-type]
    system.embedder.away = True
    answer = registry.search("thread yarn", explain=True)
    assert answer.search_mode == "lexical-only"
    (server,) = answer.servers
    assert server.relevance_score == pytest.approx(min(1.0, boost / 12.5), abs=EXACT)
    assert answer.explain is not None
    figures = answer.explain[0]
    assert (figures.vector, figures.normalized_vector, figures.text_boost) == (None, None, boost)
    assert figures.boost_contrib == figures.unclamped == pytest.approx(boost / 12.5, abs=EXACT)


@pytest.mark.parametrize("fusion", ["boost", "rrf", "coverage"])
def test_without_the_model_only_keywords_find(registry: Registry, fusion: str) -> None:
    registry.system.embedder.away = True
    answer = registry.search("needle", fusion=fusion)
    assert (answer.search_mode, answer.metadata.degraded) == ("lexical-only", ["embedding_unavailable"])
    assert [(server.path, server.relevance_score) for server in answer.servers] == [
        ("/needle", pytest.approx(8 / 12.5, abs=EXACT)),
        ("/near", pytest.approx(1 / 12.5, abs=EXACT)),
    ]
    assert [(tool.tool_name, tool.relevance_score) for tool in answer.tools] == [
        ("far_needle", pytest.approx(1 / 12.5, abs=EXACT)),
        ("needle_in", pytest.approx(1 / 12.5, abs=EXACT)),
    ]
    assert [tool.tool_name for tool in answer.servers[0].matching_tools] == ["needle_in"]
    assert [(agent.path, agent.relevance_score) for agent in answer.agents] == [
        ("/sewer", pytest.approx(1.5 / 12.5, abs=EXACT))
    ]
    assert answer.metadata.candidate_count == 3


def test_lexical_ties_go_by_path_and_the_order_is_that_before_the_clamp(system: System) -> None:
    registry = Registry(system)
    for path in ("/thread/c", "/thread/a", "/thread/b"):
        registry.server(path)
    registry.server("/yarn/thread", name="Thread", description="Thread and yarn", tags=("thread", "yarn"))  # 20
    registry.server("/thread/yarn", name="Thread and yarn")  # 16
    system.embedder.away = True
    answer = registry.search("thread yarn", max_results=5)
    assert [server.path for server in answer.servers] == [
        "/yarn/thread",
        "/thread/yarn",
        "/thread/a",
        "/thread/b",
        "/thread/c",
    ]
    assert [server.relevance_score for server in answer.servers][:2] == [1.0, 1.0]


def test_an_absent_model_is_logged_and_counted(registry: Registry, log: LogRecords, counted: Counted) -> None:
    registry.system.embedder.away = True
    registry.search("needle")
    assert degradations(log) == ["embedding_unavailable"]
    assert (counted("SearchDegraded"), counted("EmbeddingFailed"), counted("Search")) == (1, 1, 1)


def test_the_failure_is_remembered_for_30_seconds_and_search_recovers_by_itself(registry: Registry) -> None:
    system = registry.system
    system.embedder.away = True
    assert registry.search("needle").search_mode == "lexical-only"
    system.embedder.away = False
    system.clock.advance(29.9)
    for query in ("needle", "thread", "yarn"):
        assert registry.search(query).search_mode == "lexical-only"
    assert system.embedder.texts == ["needle"], "the model was left alone"
    system.clock.advance(0.1)
    answer = registry.search("needle")
    assert (answer.search_mode, answer.metadata.degraded) == ("hybrid", [])
    assert [agent.path for agent in answer.agents] == ["/near", "/sewer"], "found by meaning again"
    assert system.embedder.texts == ["needle", "needle"]


def test_a_failed_tool_search_and_this_one_remember_the_failure_together(registry: Registry) -> None:
    registry.system.embedder.away = True
    registry.system.search("something")
    assert registry.search("needle").search_mode == "lexical-only"
    assert registry.system.embedder.texts == ["something"]


def test_the_mode_follows_the_model_under_load_and_no_search_fails(registry: Registry) -> None:
    system = registry.system
    modes: dict[bool, set[str]] = {True: set(), False: set()}
    for away in (True, False):
        system.embedder.away = away
        system.clock.advance(60.0)
        threads = [
            threading.Thread(
                target=lambda number=number, away=away: modes[away].add(  # type: ignore[misc]
                    registry.search(f"needle {number} {away}").search_mode
                )
            )
            for number in range(12)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert modes == {True: {"lexical-only"}, False: {"hybrid"}}


# The index


def _lexical(registry: Registry, log: LogRecords, counted: Counted) -> None:
    answer = registry.search("needle")
    assert (answer.search_mode, answer.metadata.degraded) == ("lexical-only", ["index_unavailable"])
    assert [server.path for server in answer.servers] == ["/needle", "/near"]
    assert [tool.tool_name for tool in answer.tools] == ["far_needle", "needle_in"]
    assert degradations(log) == ["index_unavailable"]
    assert counted("SearchDegraded") == 1


@pytest.mark.parametrize("error", [IndexTimeout("too slow"), IndexUnavailable("broken")])
@pytest.mark.parametrize("method", ["search", "payloads"])
def test_when_the_index_fails_the_search_is_lexical_and_says_so(
    registry: Registry, log: LogRecords, counted: Counted, method: str, error: IndexUnavailable
) -> None:
    registry.system.index.faults[method, REGISTRY_DOCUMENTS] = error
    _lexical(registry, log, counted)
    registry.system.index.faults.clear()
    assert registry.search("needle").search_mode == "hybrid", "and recovers"


def test_when_the_index_cannot_be_brought_up_to_date_the_search_is_lexical(
    registry: Registry, log: LogRecords, counted: Counted
) -> None:
    registry.system.index.faults["upsert", REGISTRY_DOCUMENTS] = IndexUnavailable("disk full")
    registry.agent("/new", at(0.9))
    _lexical(registry, log, counted)
    registry.system.index.faults.clear()
    assert registry.search("needle").search_mode == "hybrid", "and recovers"


@pytest.mark.parametrize("fusion", ["boost", "rrf", "coverage"])
def test_when_only_the_tools_cannot_be_searched_they_are_graded_by_keywords(
    registry: Registry, log: LogRecords, counted: Counted, fusion: str
) -> None:
    registry.system.index.faults["search", TOOL_DOCUMENTS] = IndexUnavailable("broken")
    answer = registry.search("needle thread", fusion=fusion)
    assert (answer.search_mode, answer.metadata.degraded) == ("hybrid", ["tool_search_failed"])
    assert {server.path for server in answer.servers} == {"/needle", "/near"}
    assert [(tool.tool_name, tool.relevance_score) for tool in answer.tools] == [
        ("far_needle", pytest.approx(2 / 12.5, abs=EXACT)),
        ("needle_in", pytest.approx(1 / 12.5, abs=EXACT)),
    ]
    assert degradations(log) == ["tool_search_failed"]
    assert counted("SearchDegraded") == 1


def test_a_search_for_agents_alone_needs_no_tools(registry: Registry) -> None:
    registry.system.index.fail(TOOL_DOCUMENTS, IndexUnavailable("broken"))
    answer = registry.search("needle", entity_types=["a2a_agent"])
    assert (answer.metadata.degraded, [agent.path for agent in answer.agents]) == ([], ["/near", "/sewer"])


# The database


@pytest.mark.parametrize("away", [False, True])
@pytest.mark.parametrize("query", ["needle", "the"])
def test_with_the_database_down_the_search_fails(registry: Registry, query: str, away: bool) -> None:
    registry.search("needle")
    registry.system.embedder.away = away
    registry.system.feed.down = registry.system.database.down = True
    with pytest.raises(DatabaseUnavailable, match="PostgreSQL cannot be reached"):
        registry.search(query)
    registry.system.feed.down = registry.system.database.down = False
    assert registry.search("needle").servers, "and recovers"


def test_a_database_that_goes_down_while_a_search_runs_is_not_taken_for_no_results(registry: Registry) -> None:
    registry.system.index  # noqa: B018 (is built while the database is there)
    registry.system.database.down = True
    with pytest.raises(DatabaseUnavailable):
        registry.search("needle")


def test_no_read_outlives_the_search_that_began_it(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    system = registry.system
    registry.search("needle")
    ended: list[str] = []

    def read(work: Callable[[Any], Any]) -> Any:
        try:
            return system.pool.read(work)
        finally:
            ended.append("keywords")

    monkeypatch.setattr(system.database, "read", read)
    system.feed.down = True
    with pytest.raises(DatabaseUnavailable):
        registry.search("needle")
    assert ended == ["keywords"], "else its connection would come back to a pool that is closed"


def test_no_read_of_a_search_waits_longer_than_its_invocation_goes_on(registry: Registry) -> None:
    class Invocation:
        def get_remaining_time_in_millis(self) -> int:
            return 60_000

    waits: list[float] = []
    registry.system.database.before_read = lambda: waits.append(at_most_s(300.0))
    with ending_with(Invocation()):
        registry.search("needle")
    assert len(waits) >= 3
    assert max(waits) < 60


# What is deleted between the index and the rows


def test_what_was_deleted_a_moment_ago_is_left_out(registry: Registry) -> None:
    system = registry.system
    system.index  # noqa: B018 (is built while they are there)
    reads = 0

    def delete_before_details() -> None:
        nonlocal reads
        reads += 1
        if reads == 3:  # keywords, tools, details
            system.sql("DELETE FROM mcp.registry_entities WHERE path = '/needle'; DELETE FROM mcp.tools")

    system.database.before_read = delete_before_details
    answer = registry.search("needle", entity_types=["mcp_server", "tool"])
    assert [server.path for server in answer.servers] == ["/near"]
    assert (answer.tools, answer.servers[0].matching_tools) == ([], [])


def test_tags_alone_list_what_has_them_while_the_model_is_away(registry: Registry) -> None:
    registry.server("/b", at(0.5), tags=("ai",))
    registry.server("/a", at(0.5), tags=("AI", "other"))
    registry.server("/c", at(0.5))
    registry.system.embedder.away = True
    for query in ("#ai", "show me #ai"):
        found = registry.search(query)
        assert [(server.path, server.relevance_score) for server in found.servers] == [("/a", 0.0), ("/b", 0.0)]
