"""`needs`: several needs, one answer (decision 41)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import IndexUnavailable
from skillroute.core.time.timing import Stopwatch
from skillroute.search.answer.mcp_format import as_mcp
from skillroute.search.batch.embed_ahead import MAX_CHARS
from skillroute.search.batch.search import Answered
from skillroute.search.model import SearchRequest
from skillroute.search.needs.answer import NeedsSearchResponse

from tests.builders import System, lent_system, of_org
from tests.doubles import EdgeIndexes, TableEmbedder, WordReranker, at

MEET, MAIL, NOTHING = "schedule a meeting in a calendar", "send an email", "translate a text into Klingon"
CALIBRATED = "all-minilm-l6-v2-int8-v1"
MODES = ["semantic", "lexical", "hybrid"]
STRATEGIES = ["hierarchical", "direct", "hybrid"]


@pytest.fixture
def known(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    """Tools of two needs, each along an axis of its own, and many that serve neither."""
    table = {MEET: at(0.0, 2), MAIL: at(0.0, 3), NOTHING: at(0.0, 4), "both": at(0.0, 5)}
    with lent_system(
        database_url, edge_indexes, embedder=TableEmbedder(table, name=CALIBRATED), default_mode="hybrid"
    ) as system:
        system.skill("office", at(0.2, 2))
        for place in range(4):
            described = f"Schedule meetings, number {place}: calendar"
            system.tool(f"meet_{place}", at(0.4 + place / 20, 2), skills=["office"], description=described)
            system.tool(f"mail_{place}", at(0.4 + place / 20, 3), description=f"Send emails, number {place}")
        system.tools([(f"far_{n:02}", at(1.0)) for n in range(20)], description="nothing in common")
        yield system


def asked(system: System, *needs: str, caller: Caller = LAPTOP, **request: Any) -> NeedsSearchResponse:
    answer = system.parts.tool_search.search(SearchRequest(needs=list(needs), **request), caller)
    assert isinstance(answer, NeedsSearchResponse)
    return answer


def served(answer: NeedsSearchResponse) -> list[tuple[str, list[int]]]:
    return [(tool.name, tool.needs) for tool in answer.tools]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("mode", MODES)
def test_the_best_of_each_need_comes_in_turn_in_every_mode_and_strategy(
    known: System, mode: str, strategy: str
) -> None:
    answer = asked(known, MEET, MAIL, mode=mode, strategy=strategy, limit=4, tool_threshold=0.0)
    assert [name.partition("_")[0] for name, _ in served(answer)] == ["meet", "mail"] * 2
    assert [needs for _, needs in served(answer)] == [[0], [1]] * 2
    assert (answer.query, answer.metadata.final_count, answer.metadata.search_mode) == (None, 4, mode)
    has_confidence = mode == "hybrid"
    assert [(need.need, need.confidence is not None, need.no_match) for need in answer.metadata.needs] == [
        (MEET, has_confidence, False),
        (MAIL, has_confidence, False),
    ]
    assert (answer.metadata.confidence, answer.metadata.confidence_first_five) == (None, None)


def test_a_need_that_nothing_serves_is_named_and_does_not_speak_for_the_others(known: System) -> None:
    answer = asked(known, MEET, NOTHING)
    assert [need.no_match for need in answer.metadata.needs] == [False, True]
    assert not answer.metadata.no_match
    assert asked(known, NOTHING).metadata.no_match
    assert [found.query for found in known.parts.recent_searches.found_nothing()] == [NOTHING]


def test_a_need_is_as_sure_as_the_same_text_as_a_query(known: System) -> None:
    alone = known.search(MAIL, strategy="direct").metadata
    need = asked(known, MEET, MAIL, strategy="direct").metadata.needs[1]
    assert (need.confidence, need.confidence_first_five, need.no_match) == (
        alone.confidence,
        alone.confidence_first_five,
        alone.no_match,
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("mode", MODES)
def test_one_need_finds_what_a_query_finds(known: System, mode: str, strategy: str) -> None:
    alone = known.search(MEET, strategy=strategy, mode=mode)
    answer = asked(known, MEET, strategy=strategy, mode=mode)
    assert [(tool.id, tool.score) for tool in answer.tools] == [(tool.id, tool.score) for tool in alone.tools]
    assert answer.matched_skills == alone.matched_skills


@pytest.mark.parametrize(("count", "most"), [(1, 5), (2, 5), (3, 6), (4, 8), (5, 10), (10, 10)])
def test_without_a_limit_there_are_two_for_each_need(known: System, count: int, most: int) -> None:
    needs = [f"{text} {n}" for n in range(5) for text in (MEET, MAIL)][:count]
    assert len(asked(known, *needs, strategy="direct").tools) == most
    assert len(asked(known, *needs, strategy="direct", limit=5).tools) == 5


def test_what_serves_two_needs_is_there_once_and_names_both(known: System) -> None:
    known.tool("both", at(0.99, 5), description="Schedule meetings in a calendar by sending emails")
    answer = asked(known, MEET, MAIL, mode="lexical", strategy="direct", limit=10)
    assert [found for found in served(answer) if found[0] == "both"] == [("both", [0, 1])]


def test_near_duplicates_are_collapsed_and_named_only_where_that_is_asked_for(known: System) -> None:
    for place, server in enumerate(["one", "two"]):
        known.tool("invite", at(0.01 + place / 100, 2), server=server, description="Invite people to a calendar")
    answer = asked(known, MEET, strategy="direct", mode="semantic", tool_threshold=0.0, limit=3)
    assert [(tool.name, tool.server, tool.duplicates) for tool in answer.tools][:1] == [("invite", "one", None)]
    assert [tool.name for tool in answer.tools].count("invite") == 1
    told = asked(known, MEET, strategy="direct", limit=10, collapse_duplicates=True)
    [invite] = [tool for tool in told.tools if tool.name == "invite"]
    assert [other.name for other in invite.duplicates or ()] == ["invite"]


def test_all_texts_are_embedded_in_one_call(known: System) -> None:
    before = len(known.embedder.calls)
    asked(known, MEET, MAIL, NOTHING, query="plan a dinner, invite all friends and then tell the neighbours")
    calls = known.embedder.calls[before:]
    assert len(calls) == 1
    assert len(calls[0].texts) == 7


def test_what_only_the_query_finds_serves_no_need(known: System) -> None:
    answer = asked(known, MEET, query=MAIL, limit=4, strategy="direct")
    assert answer.query == MAIL
    assert [(name.partition("_")[0], needs) for name, needs in served(answer)] == [("meet", [0]), ("mail", [])] * 2
    assert len(answer.metadata.needs) == 1


def test_each_result_is_explained_by_the_need_that_it_suits_best(known: System) -> None:
    answer = asked(known, MEET, MAIL, explain=True, limit=4, query="both", strategy="direct")
    for tool in answer.tools:
        assert tool.explain is not None
        assert tool.explain.score == tool.score
        assert ([tool.explain.need] == tool.needs) if tool.needs else (tool.explain.need is None)
    assert all(need.explain is not None and need.explain.confidence for need in answer.metadata.needs)
    assert answer.explain is not None
    assert answer.explain.fusion is not None


def test_filters_hold_for_every_need(known: System) -> None:
    known.tool("send", at(0.1, 3), server="mailer", description="Send emails")
    answer = asked(known, MEET, MAIL, server=["mailer", "nowhere"], mode="hybrid")
    assert served(answer) == [("send", [0, 1])]
    assert answer.unknown_servers == ["nowhere"]
    assert asked(known, MEET, item_type="prompt").tools == []
    assert asked(known, MEET, item_type="prompt").metadata.needs[0].no_match


def test_format_mcp_names_the_needs_of_each_tool(known: System) -> None:
    answer = as_mcp(asked(known, MEET, MAIL, limit=2, strategy="direct", format="mcp"))
    shown = json.loads(answer.model_dump_json())
    assert [tool["_meta"]["skillroute/needs"] for tool in shown["tools"]] == [[0], [1]]
    assert [need["no_match"] for need in shown["metadata"]["needs"]] == [False, False]


def test_schemas_are_loaded_once_for_the_whole_set_or_not_at_all(known: System) -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string"}}}
    known.tool("send", at(0.01, 3), description="Send an email", input_schema=schema)
    with_schemas, without = (asked(known, MAIL, MEET, include_schemas=wanted) for wanted in (True, False))
    assert [tool.input_schema for tool in with_schemas.tools if tool.name == "send"] == [schema]
    assert all(tool.input_schema is None for tool in without.tools)


def test_organisations_see_nothing_of_each_other(known: System) -> None:
    known.tool("secret", at(0.0, 2), org="a", description=MEET)
    for caller, sees in ((of_org("a"), True), (of_org("b"), False), (LAPTOP, False)):
        answer = asked(known, MEET, MAIL, caller=caller, collapse_duplicates=True, explain=True)
        assert ("secret" in answer.model_dump_json()) is sees
    asked(known, NOTHING, caller=of_org("a"))
    assert known.parts.recent_searches.found_nothing() == []


def test_without_the_model_needs_are_served_by_words(known: System) -> None:
    known.embedder.away = True
    answer = asked(known, MEET, MAIL, limit=2)
    assert [needs for _, needs in served(answer)] == [[0], [1]]
    assert (answer.metadata.search_mode, answer.metadata.degraded) == ("lexical-only", ["embedding_unavailable"])


def test_a_text_that_the_model_refuses_costs_the_others_nothing(known: System) -> None:
    known.embedder.refuses = lambda text: text == MAIL
    answer = asked(known, MEET, MAIL, strategy="direct")
    assert answer.metadata.degraded == ["embedding_unavailable"]
    assert [need.confidence is not None for need in answer.metadata.needs] == [True, False]


def test_where_the_index_fails_nothing_is_said_not_to_fit(known: System) -> None:
    known.index.fail(TOOL_DOCUMENTS, IndexUnavailable("gone"))
    answer = asked(known, MEET, MAIL)
    assert answer.tools == []
    assert [(need.need, need.no_match) for need in answer.metadata.needs] == [(MEET, False), (MAIL, False)]
    assert not answer.metadata.no_match
    assert "tool_search_failed" in answer.metadata.degraded


def test_a_reranker_has_the_time_of_one_search(known: System) -> None:
    reranker = WordReranker({"calendar": 14.0})
    vars(known.parts)["reranker"] = reranker
    answer = asked(known, MEET, MAIL, mode="hybrid_rerank")
    assert answer.metadata.search_mode == "hybrid_rerank"
    first, second = (timeout_s for _, _, timeout_s in reranker.asked)
    assert second < first < 2.0


def test_a_batch_takes_needs_as_well(known: System) -> None:
    requests = [SearchRequest(needs=[MEET, MAIL], limit=2), SearchRequest(query=MAIL)]
    before = len(known.embedder.calls)
    first, second = known.parts.batch_search(requests, LAPTOP, Stopwatch())
    assert len(known.embedder.calls) == before + 1
    assert isinstance(first, Answered)
    assert isinstance(second, Answered)
    assert [tool["needs"] for tool in json.loads(first.body)["tools"]] == [[0], [1]]
    assert "needs" not in json.loads(second.body)["tools"][0]
    assert "needs" not in json.loads(second.body)["metadata"]


def test_a_large_batch_does_not_ask_the_model_for_everything_at_once(known: System) -> None:
    """Else it would take so long that the model counts as failed, for everybody."""
    requests = [
        SearchRequest(needs=[f"{'word ' * 150}{search} {need}" for need in range(10)], limit=1) for search in range(20)
    ]
    before = len(known.embedder.calls)
    results = known.parts.batch_search(requests, LAPTOP, Stopwatch())
    assert all(isinstance(result, Answered) for result in results)
    calls = known.embedder.calls[before:]
    assert len(calls) > 1
    assert max(sum(map(len, call.texts)) for call in calls) <= MAX_CHARS
    assert sum(len(call.texts) for call in calls) == 200
