"""Receipts of searches over real parts: the rows that each search leaves, and those that leave none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from skillroute.agent_skills.search.model import AgentSkillSearchRequest
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import DatabaseUnavailable, IndexUnavailable
from skillroute.core.time.timing import Stopwatch
from skillroute.search.batch.search import Answered
from skillroute.search.model import SearchRequest

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, TableEmbedder, at
from tests.unit.learning.receipts.test_rows import receipt

MEET, MAIL = "schedule a meeting in a calendar", "send an email"
CALIBRATED = "all-minilm-l6-v2-int8-v1"


@pytest.fixture
def lend(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[Callable[..., System]]:
    """Return what lends a system with tools of two needs that keeps receipts."""
    lent = []

    def make(**settings: Any) -> System:
        table = {MEET: at(0.0, 2), MAIL: at(0.0, 3)}
        given = {"default_mode": "hybrid", "receipts": "on", **settings}
        context = lent_system(database_url, edge_indexes, embedder=TableEmbedder(table, name=CALIBRATED), **given)
        system = context.__enter__()
        lent.append(context)
        for place in range(4):
            system.tool(f"meet_{place}", at(0.4 + place / 20, 2), description=f"Schedule meetings {place}: calendar")
            system.tool(f"mail_{place}", at(0.4 + place / 20, 3), description=f"Send emails, number {place}")
        return system

    yield make
    for context in lent:
        context.__exit__(None, None, None)


def rows(system: System, columns: str = "search_id::text, nth, query, no_match") -> list[tuple[Any, ...]]:
    assert system.parts.receipts is not None
    assert system.parts.receipts.flush()
    return [tuple(row) for row in system.rows(f"SELECT {columns} FROM mcp.receipts ORDER BY asked_at, nth")]


def shown(system: System) -> list[list[tuple[int, str, float | None]]]:
    return [[tuple(tool) for tool in row[0]] for row in rows(system, "shown")]


def test_a_search_leaves_what_was_asked_and_shown_with_its_probabilities(lend: Callable[..., System]) -> None:
    system = lend()
    answer = system.search(MEET, limit=3)
    assert rows(system) == [(answer.metadata.search_id, 0, MEET, answer.metadata.no_match)]
    [tools] = shown(system)
    assert [(tool_id, score) for tool_id, _, score in tools] == [
        (tool.db_id, pytest.approx(tool.score, abs=1e-4)) for tool in answer.tools
    ]
    hashes = dict(map(tuple, system.rows("SELECT id, content_hash FROM mcp.tools")))
    assert all(hashes[tool_id] == content_hash for tool_id, content_hash, _ in tools)


def test_two_searches_have_two_ids_whatever_they_ask(lend: Callable[..., System]) -> None:
    system = lend()
    ids = [system.search(MEET).metadata.search_id for _ in range(2)]
    assert [row[0] for row in rows(system)] == ids
    assert len(set(ids)) == 2


def test_the_vector_is_the_one_that_the_search_was_made_with(lend: Callable[..., System]) -> None:
    system = lend()
    system.search(MEET)
    [(model, vector)] = rows(system, "model, vector")
    assert (model, len(vector)) == (str(system.embedder.model), 4 * system.embedder.model.dimension)
    assert system.embedder.texts.count(MEET) == 1


@pytest.mark.parametrize("mode", ["semantic", "lexical"])
def test_scores_that_are_no_probabilities_are_not_kept(lend: Callable[..., System], mode: str) -> None:
    system = lend(default_mode=mode)
    answer = system.search(MEET)
    assert [tool[2] for tool in shown(system)[0]] == [None] * len(answer.tools)
    assert answer.tools
    assert (rows(system, "vector")[0][0] is None) is (mode == "lexical")


def test_each_need_has_a_row_with_what_serves_it_and_the_query_comes_last(lend: Callable[..., System]) -> None:
    system = lend()
    request = SearchRequest(needs=[MEET, MAIL], query="plan a party", limit=6)
    answer: Any = system.parts.tool_search.search(request, LAPTOP)
    search_id = answer.metadata.search_id
    assert [row[:3] for row in rows(system)] == [
        (search_id, 0, MEET), (search_id, 1, MAIL), (search_id, 2, "plan a party"),
    ]  # fmt: skip
    served = shown(system)
    for need in (0, 1):
        assert {tool[0] for tool in served[need]} == {tool.db_id for tool in answer.tools if need in tool.needs}
        probabilities = [tool[2] for tool in served[need]]
        assert probabilities == sorted(probabilities, reverse=True)
        assert served[need]
    assert {tool[0] for tool in served[2]} <= {tool.db_id for tool in answer.tools}


def test_each_search_of_a_batch_has_a_receipt(lend: Callable[..., System]) -> None:
    system = lend()
    requests = [SearchRequest(query=MEET), SearchRequest(query=MAIL)]
    results = system.parts.batch_search(requests, LAPTOP, Stopwatch())
    ids = [result.metadata.search_id for result in results if isinstance(result, Answered)]
    assert [row[0] for row in rows(system)] == ids
    assert len(set(ids)) == 2


def test_a_search_for_tools_alone_has_one_and_a_search_for_skills_none(lend: Callable[..., System]) -> None:
    system = lend()
    tools, run = system.parts.tool_search.tools(MEET, LAPTOP)
    system.parts.tool_search.skills(MEET, LAPTOP)
    assert [row[0] for row in rows(system)] == [str(run.search_id)]
    assert [tool[0] for tool in shown(system)[0]] == [tool.db_id for tool in tools]


def test_other_searches_leave_none(lend: Callable[..., System]) -> None:
    system = lend()
    system.parts.agent_skill_search(AgentSkillSearchRequest(query=MEET), LAPTOP)
    assert rows(system) == []


def test_a_receipt_is_of_its_callers_organisation_and_does_not_name_the_caller(lend: Callable[..., System]) -> None:
    system = lend()
    for caller in (of_org("a"), of_org("b"), Caller(name="jo")):
        system.search(MEET, caller=caller)
    kept = rows(system, "org_id, may_teach, query_hash, caller")
    assert [row[:2] for row in kept] == [("a", True), ("b", True), (None, False)]
    assert len({row[2] for row in kept}) == 3
    assert "jo" not in kept[2][3]


def test_secrets_and_addresses_are_not_kept(lend: Callable[..., System]) -> None:
    system = lend()
    system.search("mail jo@example.org the password=hunter2")
    assert rows(system, "query") == [("mail  …  the password= … ",)]


def test_texts_can_be_left_out(lend: Callable[..., System]) -> None:
    system = lend(receipts="without-texts")
    system.search(MEET)
    [(query, query_hash, vector)] = rows(system, "query, query_hash, vector")
    assert (query, len(query_hash), vector is None) == (None, 64, False)


def test_receipts_can_be_off_and_then_a_search_has_no_id(lend: Callable[..., System]) -> None:
    system = lend(receipts="off")
    assert system.search(MEET).metadata.search_id is None
    assert system.parts.tool_search.tools(MEET, LAPTOP)[1].search_id is None
    assert system.parts.receipts is None


def test_a_search_that_nobody_asked_leaves_none(lend: Callable[..., System]) -> None:
    system = lend()
    assert system.parts.tool_search.search(SearchRequest(query=MEET), LAPTOP, door=None).metadata.search_id is None
    assert rows(system) == []


def test_a_search_without_an_index_is_kept_as_one_that_showed_nothing(lend: Callable[..., System]) -> None:
    system = lend()
    system.index_fault = IndexUnavailable("no index")
    system.parts.tool_search.search(SearchRequest(needs=[MEET, MAIL]), LAPTOP)
    assert [row[1:] for row in rows(system)] == [(0, MEET, False), (1, MAIL, False)]
    assert shown(system) == [[], []]


def test_where_postgresql_takes_none_searches_go_on_and_what_is_lost_is_counted(
    lend: Callable[..., System], counted: Callable[[str], float]
) -> None:
    system = lend()
    recorder = system.parts.receipts
    assert recorder is not None
    system.search(MEET)
    assert recorder.flush()
    system.sql("ALTER TABLE mcp.receipts RENAME TO elsewhere")
    try:
        answer = system.search(MEET)
        assert (len(answer.tools), answer.metadata.degraded) == (5, [])
        assert recorder.flush()
    finally:
        system.sql("ALTER TABLE mcp.elsewhere RENAME TO receipts")
    assert counted("ReceiptsDropped") == 1
    system.search(MAIL)
    assert [row[2] for row in rows(system)] == [MEET, MAIL]


def test_an_outage_that_ends_in_time_loses_nothing(lend: Callable[..., System]) -> None:
    system = lend()
    recorder = system.parts.receipts
    assert recorder is not None
    write, failures = recorder._recorder._write, [DatabaseUnavailable("gone")]

    def failing_once(given: Any) -> None:
        if failures:
            raise failures.pop()
        write(given)

    recorder._recorder._write = failing_once
    answer = system.search(MEET)
    assert [row[0] for row in rows(system)] == [answer.metadata.search_id]


def test_connections_that_died_while_an_environment_was_frozen_cost_no_receipt(lend: Callable[..., System]) -> None:
    system = lend()
    recorder = system.parts.receipts
    assert recorder is not None
    system.search(MEET)
    assert recorder.flush()
    last = "query LIKE 'RESET ROLE%'"  # of the connections that searches read by, in tests
    ended = system.rows(
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND {last}"
    )
    assert ended
    recorder.note(receipt("after the thaw"))
    assert [row[2] for row in rows(system)] == ["after the thaw", MEET]


def test_the_relay_deletes_what_is_too_old(lend: Callable[..., System]) -> None:
    system = lend(receipts_days=10)
    for _ in range(2):
        system.search(MEET)
    [old, _] = [row[0] for row in rows(system)]
    system.sql(f"UPDATE mcp.receipts SET asked_at = now() - interval '11 days' WHERE search_id = '{old}'")
    system.sql(
        "INSERT INTO mcp.outcomes (search_id, may_teach, outcome, source, reported_at)"
        " SELECT gen_random_uuid(), true, 'nothing_fits', 'person', now() - make_interval(days => d)"
        " FROM generate_series(9, 11) AS d"
    )
    assert system.parts.relay().pruned >= 3
    assert [row[0] for row in rows(system)] != [old]
    assert len(rows(system)) == 1
    assert system.rows("SELECT count(*) FROM mcp.outcomes") == [[1]]
