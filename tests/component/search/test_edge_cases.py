"""EC-001 to EC-009 of search-contract."""

from __future__ import annotations

import pytest
from pydantic import ValidationError
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.search.model import SearchRequest

from tests.builders import QUERY, System
from tests.doubles import at, in_threads

# EC-001: no skills


def test_ec_001_without_skills_the_search_falls_back_to_all_tools(system: System) -> None:
    system.tool("near", at(0.9))
    answer = system.search()
    assert [tool.name for tool in answer.tools] == ["near"]
    assert answer.matched_skills == []
    assert answer.metadata.skill_ids_used is None
    assert answer.metadata.fallback_reason == "no_skills"


def test_ec_001_a_catalogue_without_anything_gives_an_empty_answer(system: System) -> None:
    answer = system.search()
    assert (answer.tools, answer.matched_skills, answer.metadata.final_count) == ([], [], 0)


def test_ec_001_only_inactive_skills_are_no_skills(system: System) -> None:
    system.skill("retired", at(0.9))
    system.sql("UPDATE mcp.skill_categories SET is_active = false")
    system.tool("near", at(0.9))
    assert system.search().metadata.fallback_reason == "no_skills"


def test_ec_001_skills_that_do_not_match_are_not_taken_for_none(system: System) -> None:
    system.skill("far", at(0.1))
    assert system.search().metadata.fallback_reason == "no_skill_matched"


# EC-002: all skills match


def test_ec_002_of_many_matching_skills_the_best_skill_limit_are_taken(system: System) -> None:
    for number in range(20):
        system.skill(f"skill_{number}", at(0.95 - number / 100))
    answer = system.search(skill_limit=10)
    assert [skill.id for skill in answer.matched_skills] == [f"skill_{number}" for number in range(10)]


def test_ec_002_tools_of_skills_beyond_the_limit_are_not_returned(system: System) -> None:
    system.skill("best", at(0.95))
    system.skill("second", at(0.94))
    system.tool("of_best", at(0.5), skills=["best"])
    system.tool("of_second", at(0.9), skills=["second"])
    assert system.names(skill_limit=1) == ["of_best"]


# EC-003: a skill without tools


@pytest.mark.parametrize("mode", ["semantic", "lexical"])
def test_ec_003_a_matching_skill_without_tools_gives_an_empty_answer_and_no_fallback(system: System, mode: str) -> None:
    system.skill("meeting", at(0.9), description="Schedule a meeting.")
    system.tool("meeting_of_nobody", at(0.9))
    answer = system.search(mode=mode)
    assert answer.tools == []
    assert [(skill.id, skill.tool_count) for skill in answer.matched_skills] == [("meeting", 0)]
    assert answer.metadata.skill_ids_used == ["meeting"]
    assert answer.metadata.fallback_reason is None


# EC-004: long queries (the HTTP answer is tested in tests/api)


def test_ec_004_a_query_of_1000_characters_is_searched(system: System) -> None:
    system.tool("near", at(0.9))
    assert system.names("x" * 1000) == ["near"]


def test_ec_004_a_query_of_1001_characters_is_refused_before_anything_is_asked(system: System) -> None:
    with pytest.raises(ValidationError, match="at most 1000 characters"):
        system.search("x" * 1001)
    assert system.embedder.calls == []


def test_ec_004_blanks_around_the_query_do_not_count(system: System) -> None:
    system.search("  " + "x" * 1000 + "\n")
    assert system.embedder.texts == ["x" * 1000]


# EC-005: special characters


HOSTILE = [
    "'; DROP TABLE mcp.tools; --",
    "' OR '1'='1",
    "<script>alert(1)</script>",
    "{{7*7}} ${jndi:ldap://x} %s %n",
    '{"$ne": null}',
    "../../etc/passwd",
    ":name :limit ::text \\x00 \\",
    "emoji 🗓️, 会議を予約する, احجز اجتماعا, é\u0301\u200d\ufeff",
    "((((*.+?[",
    "\t\n\r",
]


@pytest.mark.parametrize("mode", ["semantic", "lexical"])
@pytest.mark.parametrize("query", HOSTILE[:-1])
def test_ec_005_a_query_is_taken_literally(system: System, query: str, mode: str) -> None:
    system.skill("any_skill", at(0.9))
    system.tool("near", at(0.9), skills=["any_skill"])
    answer = system.search(query, mode=mode)
    assert answer.query == query
    assert system.embedder.texts == ([query] if mode == "semantic" else [])
    assert system.names(strategy="direct") == ["near"], "everything is still there"


def test_ec_005_a_query_of_punctuation_alone_finds_nothing_by_words(system: System) -> None:
    system.tool("near", at(0.9))
    assert system.names("?!? --- ***", mode="lexical") == []


# EC-006: the same query at the same time


def test_ec_006_the_same_query_from_many_threads_gives_the_same_answer(system: System) -> None:
    system.skill("any_skill", at(0.9))
    system.tools([(f"tool_{n}", at(0.9 - n / 100)) for n in range(20)], skills=["any_skill"])
    answers = in_threads(8, lambda _: [system.search(limit=20) for _ in range(5)])
    first = answers[0][0]
    assert len(first.tools) == 20
    for answer in (answer for of_thread in answers for answer in of_thread):
        assert (answer.tools, answer.matched_skills) == (first.tools, first.matched_skills)


def test_ec_006_different_queries_from_many_threads_do_not_mix(system: System) -> None:
    table = system.embedder._inner.table  # type: ignore[attr-defined]
    for axis in range(1, 8):
        table[f"query {axis}"] = at(0.0, axis)
        system.tool(f"tool_{axis}", at(0.0, axis))
    found = in_threads(7, lambda place: [system.names(f"query {place + 1}") for _ in range(5)])
    assert found == [[[f"tool_{axis}"]] * 5 for axis in range(1, 8)]


def test_ec_006_a_search_during_writes_sees_whole_states_only(system: System) -> None:
    system.tool("always", at(0.9))
    system.search()

    def work(place: int) -> list[list[str]]:
        if place == 0:
            for number in range(5):
                system.tool(f"written_{number}", at(0.8))
            return []
        return [system.names(limit=50) for _ in range(5)]

    for names in (names for of_thread in in_threads(4, work) for names in of_thread):
        assert names == ["always", *(f"written_{n}" for n in range(len(names) - 1))]
    assert len(system.names(limit=50)) == 6


# EC-007: a stale skill embedding


def test_ec_007_a_skill_whose_embedding_is_stale_still_finds_its_new_tools(system: System) -> None:
    system.skill("calendar", at(0.5))
    system.tool("old_tool", at(0.6), skills=["calendar"])
    system.search()
    system.tool("new_tool", at(0.99), skills=["calendar"])
    answer = system.search()
    assert [skill.score for skill in answer.matched_skills] == [pytest.approx(0.5, abs=1e-6)]
    assert [tool.name for tool in answer.tools] == ["new_tool", "old_tool"]


def test_ec_007_a_skill_without_an_embedding_is_no_obstacle(system: System) -> None:
    system.skill("not_embedded", None)
    system.skill("embedded", at(0.9))
    system.tool("near", at(0.9), skills=["embedded"])
    answer = system.search()
    assert [skill.id for skill in answer.matched_skills] == ["embedded"]
    assert [tool.name for tool in answer.tools] == ["near"]


# EC-008: tools without skills


def test_ec_008_a_tool_without_skills_is_not_found_hierarchically(system: System) -> None:
    system.skill("any_skill", at(0.9))
    system.tool("homeless", at(0.99))
    system.tool("housed", at(0.5), skills=["any_skill"])
    assert system.names(strategy="hierarchical") == ["housed"]


@pytest.mark.parametrize("strategy", ["direct", "hybrid"])
def test_ec_008_a_tool_without_skills_is_found_by_strategies_that_search_all_tools(
    system: System, strategy: str
) -> None:
    system.skill("any_skill", at(0.9))
    system.tool("homeless", at(0.99))
    (tool,) = system.search(strategy=strategy).tools
    assert (tool.name, tool.skill_ids, tool.primary_skill_id) == ("homeless", [], None)


def test_ec_008_a_tool_whose_only_skill_is_deleted_is_without_skills(system: System) -> None:
    system.skill("kept", at(0.9))
    system.skill("deleted", at(0.9))
    system.tool("orphan", at(0.9), skills=["deleted"])
    system.sql("UPDATE mcp.skill_categories SET is_active = false, deleted_at = now() WHERE id = 'deleted'")
    assert system.names(strategy="hierarchical") == []
    (tool,) = system.search(strategy="direct").tools
    assert (tool.name, tool.skill_ids, tool.primary_skill_id) == ("orphan", [], None)


# EC-009: a slow embedding service


def test_ec_009_the_embedder_is_given_ten_seconds(system: System) -> None:
    system.search()
    assert [call.timeout_s for call in system.embedder.calls] == [10.0]


def test_ec_009_a_slow_embedding_within_the_limit_is_waited_for(system: System) -> None:
    system.tool("near", at(0.9))
    system.embedder.takes_s = 9.9
    answer = system.search()
    assert [tool.name for tool in answer.tools] == ["near"]
    assert (answer.metadata.search_mode, answer.metadata.degraded) == ("semantic", [])
    assert system.clock.now == pytest.approx(1009.9)


def test_ec_009_an_embedding_that_exceeds_the_limit_leaves_a_lexical_answer(system: System) -> None:
    system.tool("schedule_meeting", at(0.9), description="Schedule a meeting.")
    system.embedder.takes_s = 10.1
    answer = system.search()
    assert [tool.name for tool in answer.tools] == ["schedule_meeting"]
    assert answer.metadata.search_mode == "lexical-only"
    assert answer.metadata.degraded == ["embedding_unavailable"]
    assert system.clock.now == pytest.approx(1010.0), "no longer than the limit"


def test_ec_009_the_limit_cannot_be_set_beyond_ten_seconds(system: System) -> None:
    assert type(system.settings).model_fields["query_timeout_s"].default == 10.0
    with pytest.raises(ValidationError, match="less than or equal to 10"):
        type(system.settings)(database_url="postgresql://u@h/d", query_timeout_s=10.5)


def test_ec_009_a_shorter_limit_reaches_the_embedder(database_url, edge_indexes) -> None:  # type: ignore[no-untyped-def]
    from tests.builders import lent_system

    with lent_system(database_url, edge_indexes, query_timeout_s=0.25) as system:
        system.search()
        assert [call.timeout_s for call in system.embedder.calls] == [0.25]


def test_ec_009_a_remembered_query_is_not_embedded_again(system: System) -> None:
    system.tool("near", at(0.9))
    system.search()
    system.embedder.away = True
    answer = system.search()
    assert [tool.name for tool in answer.tools] == ["near"]
    assert system.embedder.texts == [QUERY]
    assert answer.metadata.search_mode == "semantic"
    assert len(system.index.searches(TOOL_DOCUMENTS)) == 2


def test_ec_005_blanks_alone_are_no_query() -> None:
    with pytest.raises(ValidationError, match="at least 1 character"):
        SearchRequest(query=HOSTILE[-1])
