"""Every row of the table search-contract, Graceful Degradation, with what decisions 6 and 9 add.

What failed must show three times: in the answer, in the log, and as a metric.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.errors.model import DatabaseUnavailable, IndexTimeout, IndexUnavailable
from skillroute.core.observability import take_search_times
from skillroute.core.settings import SearchSettings
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.registry.search.model import RegistrySearchRequest
from skillroute.search.model import SearchRequest
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.wiring import Parts

from tests.builders import QUERY, System
from tests.doubles import LogRecords, TableEmbedder, at

FALLBACK = "No skills matched, falling back to unfiltered search"
Counted = Callable[[str], float]

SKILL_FAILURES = [
    pytest.param(IndexTimeout("too slow"), "skill_search_timeout", id="timeout"),
    pytest.param(IndexUnavailable("broken"), "skill_search_failed", id="error"),
]


@pytest.fixture
def filled(system: System) -> System:
    system.skill("calendar", at(0.9), description="Schedule a meeting with people.")
    system.tool("create_meeting", at(0.8), skills=["calendar"], input_schema={"a": 1}, description="Make a meeting.")
    system.tool("stray_meeting", at(0.95), description="A meeting without a skill.")
    return system


def degradations(log: LogRecords) -> list[str]:
    return [record.degradation for record in log.having("search degraded")]  # type: ignore[attr-defined]


# Skill search


@pytest.mark.parametrize(("error", "reason"), SKILL_FAILURES)
@pytest.mark.parametrize("strategy", ["hierarchical", "hybrid"])
def test_when_the_skill_search_fails_all_tools_are_searched(
    filled: System, strategy: str, error: IndexUnavailable, reason: str
) -> None:
    filled.index.fail(SKILL_DOCUMENTS, error)
    answer = filled.search(strategy=strategy)
    assert [tool.name for tool in answer.tools] == ["stray_meeting", "create_meeting"]
    assert [tool.score for tool in answer.tools] == pytest.approx([0.95, 0.8], abs=1e-6)
    assert answer.tools[1].input_schema == {"a": 1}
    assert answer.matched_skills == []
    metadata = answer.metadata
    assert (metadata.fallback_reason, metadata.skill_ids_used, metadata.strategy_used) == (reason, None, strategy)


@pytest.mark.parametrize(("error", "reason"), SKILL_FAILURES)
def test_a_failed_skill_search_is_logged_and_counted(
    filled: System, log: LogRecords, counted: Counted, error: IndexUnavailable, reason: str
) -> None:
    filled.index.fail(SKILL_DOCUMENTS, error)
    filled.search()
    (record,) = log.having(FALLBACK)
    assert (record.levelname, record.fallback_reason) == ("WARNING", reason)  # type: ignore[attr-defined]
    assert counted("SearchFallback") == 1


def test_a_skill_whose_payload_cannot_be_read_is_a_failed_skill_search(filled: System) -> None:
    filled.index.faults["payloads", SKILL_DOCUMENTS] = IndexUnavailable("broken")
    assert filled.search().metadata.fallback_reason == "skill_search_failed"


def test_the_skill_search_recovers_without_a_restart(filled: System) -> None:
    filled.index.fail(SKILL_DOCUMENTS, IndexUnavailable("broken"))
    filled.search()
    filled.index.faults.clear()
    answer = filled.search()
    assert answer.metadata.fallback_reason is None
    assert [tool.name for tool in answer.tools] == ["create_meeting"]


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_when_no_skill_matches_the_reason_is_named_logged_and_counted(
    filled: System, log: LogRecords, counted: Counted, mode: str
) -> None:
    query = QUERY if mode == "semantic" else "stray"
    answer = filled.search(query, skill_threshold=0.99, mode=mode)
    assert answer.metadata.fallback_reason == "no_skill_matched"
    assert "stray_meeting" in [tool.name for tool in answer.tools]
    (record,) = log.having(FALLBACK)
    assert record.fallback_reason == "no_skill_matched"  # type: ignore[attr-defined]
    assert counted("SearchFallback") == 1


def test_when_there_are_no_skills_the_reason_is_named_logged_and_counted(
    system: System, log: LogRecords, counted: Counted
) -> None:
    system.tool("near", at(0.9))
    assert system.search().metadata.fallback_reason == "no_skills"
    assert log.having(FALLBACK)[0].fallback_reason == "no_skills"  # type: ignore[attr-defined]
    assert counted("SearchFallback") == 1


def test_a_search_where_nothing_fails_names_nothing(filled: System, log: LogRecords, counted: Counted) -> None:
    metadata = filled.search().metadata
    assert (metadata.fallback_reason, metadata.degraded, metadata.search_mode) == (None, [], "semantic")
    assert (counted("SearchFallback"), counted("SearchDegraded")) == (0, 0)
    assert (log.having(FALLBACK), degradations(log)) == ([], [])


# Tool search


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
@pytest.mark.parametrize("error", [IndexTimeout("too slow"), IndexUnavailable("broken")])
def test_when_the_tool_search_fails_the_answer_is_empty_and_says_so(
    filled: System, log: LogRecords, counted: Counted, strategy: str, error: IndexUnavailable
) -> None:
    filled.index.fail(TOOL_DOCUMENTS, error)
    answer = filled.search(strategy=strategy)
    assert answer.tools == []
    assert answer.metadata.degraded == ["tool_search_failed"]
    assert (answer.metadata.final_count, answer.metadata.stage2_candidate_count) == (0, 0)
    assert degradations(log) == ["tool_search_failed"]
    assert counted("SearchDegraded") == 1


def test_when_the_tool_search_fails_the_matched_skills_are_still_named(filled: System) -> None:
    filled.index.fail(TOOL_DOCUMENTS, IndexUnavailable("broken"))
    assert [skill.id for skill in filled.search().matched_skills] == ["calendar"]


def test_when_the_payloads_of_tools_cannot_be_read_the_answer_is_empty_and_says_so(filled: System) -> None:
    filled.index.faults["payloads", TOOL_DOCUMENTS] = IndexUnavailable("broken")
    answer = filled.search()
    assert (answer.tools, answer.metadata.degraded) == ([], ["tool_search_failed"])


def test_the_tool_search_recovers_without_a_restart(filled: System) -> None:
    filled.index.fail(TOOL_DOCUMENTS, IndexUnavailable("broken"))
    filled.search()
    filled.index.faults.clear()
    assert filled.names() == ["create_meeting"]


def test_when_skills_and_tools_both_fail_the_answer_is_empty_and_names_both(filled: System) -> None:
    filled.index.fail(SKILL_DOCUMENTS, IndexUnavailable("broken"))
    filled.index.fail(TOOL_DOCUMENTS, IndexUnavailable("broken"))
    metadata = filled.search().metadata
    assert (metadata.fallback_reason, metadata.degraded) == ("skill_search_failed", ["tool_search_failed"])


def test_when_the_index_cannot_be_brought_up_to_date_the_answer_is_empty_and_says_so(
    filled: System, log: LogRecords, counted: Counted
) -> None:
    filled.index.faults["upsert", TOOL_DOCUMENTS] = IndexUnavailable("disk full")
    filled.tool("new_tool", at(0.9))
    answer = filled.search()
    assert (answer.tools, answer.metadata.degraded) == ([], ["index_unavailable"])
    assert degradations(log) == ["index_unavailable"]
    assert counted("SearchDegraded") == 1
    filled.index.faults.clear()
    assert filled.names(strategy="direct")[:2] == ["stray_meeting", "new_tool"], "and recovers"


def test_stage_1_alone_answers_with_an_empty_list_when_the_index_fails(
    filled: System, log: LogRecords, counted: Counted
) -> None:
    filled.index.fail(SKILL_DOCUMENTS, IndexTimeout("too slow"))
    skills, run = filled.parts.tool_search.skills(QUERY, LAPTOP)
    assert (skills, run.degraded) == ([], ["index_unavailable"])
    assert degradations(log) == ["index_unavailable"]
    assert counted("SearchDegraded") == 1


def test_stage_2_alone_answers_with_an_empty_list_when_the_index_fails(
    filled: System, log: LogRecords, counted: Counted
) -> None:
    filled.index.fail(TOOL_DOCUMENTS, IndexTimeout("too slow"))
    tools, run = filled.parts.tool_search.tools(QUERY, LAPTOP)
    assert (tools, run.degraded) == ([], ["tool_search_failed"])
    assert degradations(log) == ["tool_search_failed"]
    assert counted("SearchDegraded") == 1


# Schemas


def test_when_schemas_cannot_be_loaded_tools_come_without_them_and_the_answer_says_so(
    filled: System, log: LogRecords, counted: Counted
) -> None:
    filled.database.down = True
    answer = filled.search()
    assert [(tool.name, tool.input_schema) for tool in answer.tools] == [("create_meeting", None)]
    assert answer.metadata.degraded == ["schema_load_failed"]
    assert degradations(log) == ["schema_load_failed"]
    assert counted("SearchDegraded") == 1


def test_schemas_that_were_not_asked_for_are_not_missed(filled: System) -> None:
    filled.database.down = True
    assert filled.search(include_schemas=False).metadata.degraded == []


def test_a_failed_schema_load_is_not_remembered(filled: System) -> None:
    filled.database.down = True
    filled.search()
    filled.database.down = False
    assert filled.search().tools[0].input_schema == {"a": 1}


# The embedding model


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
def test_without_the_embedding_model_the_search_goes_on_by_words(filled: System, strategy: str) -> None:
    filled.embedder.away = True
    answer = filled.search("create a meeting", strategy=strategy)
    assert "create_meeting" in [tool.name for tool in answer.tools]
    assert answer.metadata.search_mode == "lexical-only"
    assert answer.metadata.degraded == ["embedding_unavailable"]
    assert [tool.similarity for tool in answer.tools] == [None] * len(answer.tools)
    assert answer.tools[0].input_schema == {"a": 1}


def test_a_failed_embedding_is_logged_and_counted(filled: System, log: LogRecords, counted: Counted) -> None:
    filled.embedder.away = True
    filled.search()
    assert degradations(log) == ["embedding_unavailable"]
    assert [record.levelname for record in log.having("embedding model unavailable")] == ["WARNING"]
    assert (counted("SearchDegraded"), counted("EmbeddingFailed")) == (1, 1)


def test_a_failed_embedding_is_remembered_for_30_seconds(filled: System) -> None:
    filled.embedder.away = True
    filled.search()
    filled.clock.advance(29.9)
    for query in ("another query", "a third query", QUERY):
        assert filled.search(query).metadata.search_mode == "lexical-only"
    assert filled.embedder.texts == [QUERY], "the model was left alone"


def test_a_remembered_failure_still_shows_in_each_answer(filled: System, counted: Counted) -> None:
    filled.embedder.away = True
    filled.search()
    assert filled.search("another query").metadata.degraded == ["embedding_unavailable"]
    assert counted("SearchDegraded") == 2


def test_after_30_seconds_the_model_is_asked_again_and_search_recovers_without_a_restart(filled: System) -> None:
    filled.embedder.away = True
    filled.search()
    filled.embedder.away = False
    assert filled.search().metadata.search_mode == "lexical-only"
    filled.clock.advance(30.0)
    answer = filled.search()
    assert (answer.metadata.search_mode, answer.metadata.degraded) == ("semantic", [])
    assert filled.embedder.texts == [QUERY, QUERY]


def test_a_model_that_fails_again_is_left_alone_for_another_30_seconds(filled: System) -> None:
    filled.embedder.away = True
    filled.search()
    filled.clock.advance(30.0)
    filled.search()
    filled.clock.advance(29.0)
    filled.search()
    assert len(filled.embedder.calls) == 2


def test_a_query_embedded_before_the_model_went_away_is_still_ranked_by_meaning(filled: System) -> None:
    filled.search("known")
    filled.embedder.away = True
    filled.search("unknown")
    assert filled.search("known").metadata.search_mode == "semantic"


def test_the_single_stages_go_on_by_words_too(filled: System) -> None:
    filled.embedder.away = True
    tools, tools_run = filled.parts.tool_search.tools("create_meeting", LAPTOP)
    skills, skills_run = filled.parts.tool_search.skills("schedule", LAPTOP)
    assert ([tool.name for tool in tools][:1], tools_run.search_mode) == (["create_meeting"], "lexical-only")
    assert ([skill.id for skill in skills], skills_run.search_mode) == (["calendar"], "lexical-only")


def test_a_lexical_search_does_not_need_the_model(filled: System) -> None:
    filled.embedder.away = True
    metadata = filled.search(mode="lexical").metadata
    assert (metadata.search_mode, metadata.degraded) == ("lexical", [])
    assert filled.embedder.calls == []


def test_tools_written_while_the_model_was_away_are_found_by_words(filled: System) -> None:
    filled.tool("late_arrival", None, description="Written without a vector.")
    filled.embedder.away = True
    assert filled.names("late arrival", strategy="direct")[:1] == ["late_arrival"]


# The database


def test_with_the_database_down_the_search_fails_at_once(filled: System) -> None:
    filled.search()
    filled.feed.down = filled.database.down = True
    polls, embedded = filled.feed.polls, len(filled.embedder.calls)
    with pytest.raises(DatabaseUnavailable, match="PostgreSQL cannot be reached"):
        filled.search("another query")
    assert filled.feed.polls == polls + 1, "asked once"
    assert len(filled.embedder.calls) == embedded, "nothing else was tried"


@pytest.mark.parametrize("route", ["skills", "tools"])
def test_with_the_database_down_the_single_stages_fail_as_well(filled: System, route: str) -> None:
    filled.feed.down = True
    with pytest.raises(DatabaseUnavailable):
        getattr(filled.parts.tool_search, route)(QUERY, LAPTOP)


def test_the_search_recovers_when_the_database_is_back(filled: System) -> None:
    filled.feed.down = True
    with pytest.raises(DatabaseUnavailable):
        filled.search()
    filled.feed.down = False
    assert filled.names() == ["create_meeting"]


def test_a_closed_port_is_a_database_that_is_down_and_is_reported_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    parts = Parts(
        SearchSettings(database_url=f"postgresql://u:p@127.0.0.1:{port}/d", database_connect_timeout_s=30),  # type: ignore[arg-type]
        embedder=TableEmbedder(),
    )
    started = time.monotonic()
    with pytest.raises(DatabaseUnavailable, match=f"127.0.0.1:{port} cannot be reached"):
        parts.tool_search.search(SearchRequest(query=QUERY), LAPTOP)
    assert time.monotonic() - started < 20, "refused, not timed out"


def test_a_database_that_drops_our_connections_is_no_outage(filled: System) -> None:
    filled.search()
    filled.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'skillroute' AND pid <> pg_backend_pid()"
    )
    assert filled.names() == ["create_meeting"]


def test_an_index_that_lacks_changes_answers_and_says_so(
    filled: System, log: LogRecords, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index server that nobody has brought up to date yet (docs/adr/0034)."""
    current = filled.replica.current

    @contextmanager
    def behind(on_stale: Callable[[], object] = lambda: None) -> Iterator[VectorIndex]:
        on_stale()
        with current() as index:
            yield index

    monkeypatch.setattr(filled.replica, "current", behind)
    answer = filled.search()
    assert [tool.name for tool in answer.tools] == ["create_meeting"]
    assert answer.metadata.degraded == ["index_stale"]
    assert degradations(log) == ["index_stale"]
    assert counted("SearchDegraded") == 1
    # AND so does a search of servers and agents
    metadata = filled.parts.registry_search(RegistrySearchRequest(query="meeting"), LAPTOP).metadata
    assert metadata.degraded == ["index_stale"]
    # AND one of messages asks PostgreSQL instead (message-search, section 2)
    found = filled.parts.messages.search(MessageSearchRequest(text="meeting"), LAPTOP)
    assert found.engine == "fts5"


# What the history of the console counts


def test_a_search_that_finds_nothing_is_counted_and_its_time_taken_once(system: System, counted: Counted) -> None:
    take_search_times()
    assert system.search().tools == []
    assert counted("SearchEmpty") == 1
    system.tool("create_meeting", at(0.8), description="Make a meeting.")
    assert system.search().tools
    assert (counted("Search"), counted("SearchEmpty")) == (2, 1)
    assert len(take_search_times()) == 2
    assert take_search_times() == []
