"""What fits and what is merely nearest: confidence, and no match (docs/adr/0041)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import IndexUnavailable
from skillroute.core.ranking.logistic import logistic

from tests.builders import QUERY, System, lent_system, of_org
from tests.doubles import EdgeIndexes, TableEmbedder, at

CALIBRATED = "all-minilm-l6-v2-int8-v1"


@pytest.fixture
def known(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[System]:
    """A system whose default mode is hybrid, with an embedding model whose confidence is calibrated."""
    with lent_system(
        database_url, edge_indexes, embedder=TableEmbedder(name=CALIBRATED), default_mode="hybrid"
    ) as system:
        # Among few candidates one always stands out: see ADR 41.
        system.tools([(f"far_{n:02}", at(0.1 - n / 1000)) for n in range(20)], description="nothing in common")
        yield system


def test_a_tool_that_fits_has_more_confidence_than_one_that_is_merely_the_nearest(known: System) -> None:
    poor = known.search().metadata
    known.tool("fits", at(0.9), description=QUERY)
    good = known.search().metadata
    assert (poor.no_match, good.no_match) == (True, False)
    assert poor.confidence is not None
    assert good.confidence is not None
    assert poor.confidence < 0.3
    assert good.confidence > 0.5


def test_what_does_not_fit_is_still_returned_as_the_nearest_alternative(known: System) -> None:
    answer = known.search(strategy="direct", limit=2)
    assert answer.metadata.no_match
    assert [tool.name for tool in answer.tools] == ["far_00", "far_01"]


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
def test_every_strategy_is_judged_by_all_that_the_caller_sees(known: System, strategy: str) -> None:
    known.skill("home", at(0.9))
    known.tool("fits", at(0.9), skills=["home"], description=QUERY)
    known.tools([(f"other_{n}", at(0.3)) for n in range(5)], description="nothing in common")
    expected = known.search(strategy="direct", limit=1).metadata
    found = known.search(strategy=strategy).metadata
    assert (found.confidence, found.confidence_first_five, found.no_match) == (
        expected.confidence,
        expected.confidence_first_five,
        False,
    )


def test_a_tool_that_is_named_has_the_confidence_of_its_own_probability(known: System) -> None:
    query = "please use create_event, now"
    known.tool("rival", at(0.9), description=query)
    before = known.search(query, strategy="direct").metadata
    known.tool("create_event", at(0.1), description="something else")
    after = known.search(query, strategy="direct")
    assert [tool.name for tool in after.tools][:2] == ["create_event", "rival"]
    assert after.tools[0].score < after.tools[1].score
    assert after.metadata.confidence is not None
    assert before.confidence is not None
    assert after.metadata.confidence < before.confidence
    assert after.metadata.confidence_first_five == pytest.approx(before.confidence_first_five, abs=0.1)
    assert after.metadata.confidence_first_five <= before.confidence_first_five


def test_what_is_named_is_there_and_no_more_likely_for_it(known: System) -> None:
    # GIVEN a request that nothing fits
    before = known.search("please use `lookup`", strategy="direct").metadata
    assert before.no_match
    # WHEN the tool that it names comes to be
    known.tool("lookup", at(0.1), description="something else")
    answer = known.search("please use `lookup`", strategy="direct")
    # THEN
    assert answer.tools[0].name == "lookup"
    assert not answer.metadata.no_match
    assert answer.metadata.confidence is not None
    assert answer.metadata.confidence < 0.5


def test_an_ordinary_word_of_a_request_is_no_match(known: System) -> None:
    before = known.search("now use lookup please", strategy="direct").metadata
    known.tool("lookup", None, description="something else")
    after = known.search("now use lookup please", strategy="direct").metadata
    assert (before.no_match, after.no_match) == (True, True)


@pytest.mark.parametrize("mode", ["semantic", "lexical"])
def test_other_modes_have_no_probability_and_no_confidence(known: System, mode: str) -> None:
    known.tool("near", at(0.35), description=QUERY)
    metadata = known.search(mode=mode, strategy="direct").metadata
    assert metadata.final_count == 1
    assert (metadata.confidence, metadata.confidence_first_five, metadata.no_match) == (None, None, False)


def test_without_the_model_there_is_no_confidence(known: System) -> None:
    known.tool("words", at(0.1), description=QUERY)
    known.embedder.away = True
    metadata = known.search().metadata
    assert (metadata.search_mode, metadata.confidence, metadata.no_match) == ("lexical-only", None, False)


def test_a_model_without_curves_of_its_own_has_no_confidence(system: System) -> None:
    system.tool("far", at(0.1), description="nothing in common")
    metadata = system.search(mode="hybrid", strategy="direct").metadata
    assert (metadata.final_count, metadata.confidence, metadata.no_match) == (1, None, False)


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_nothing_found_is_no_match_in_every_mode(known: System, mode: str) -> None:
    metadata = known.search(mode=mode, item_type="prompt").metadata
    assert (metadata.final_count, metadata.confidence, metadata.no_match) == (0, None, True)


def test_nothing_found_because_something_failed_is_not_no_match(known: System) -> None:
    known.tool("fits", at(0.9), description=QUERY)
    known.search()
    known.index.fail(TOOL_DOCUMENTS, IndexUnavailable("broken"))
    metadata = known.search().metadata
    assert metadata.degraded == ["tool_search_failed"]
    assert (metadata.final_count, metadata.no_match) == (0, False)


@pytest.mark.parametrize(("below", "expected"), [(0.0, False), (1.0, True)])
def test_the_threshold_is_a_setting(database_url: str, edge_indexes: EdgeIndexes, below: float, expected: bool) -> None:
    with lent_system(
        database_url,
        edge_indexes,
        embedder=TableEmbedder(name=CALIBRATED),
        default_mode="hybrid",
        no_match_below=below,
    ) as system:
        system.tools([("near", at(0.5)), ("nearer", at(0.6))], description="a meeting")
        assert system.search().metadata.no_match is expected


def test_other_organisations_tools_are_in_no_confidence(known: System) -> None:
    alone = known.search(strategy="direct", caller=of_org("a")).metadata
    known.tool("theirs", at(0.99), org="b", description=QUERY)
    beside = known.search(strategy="direct", caller=of_org("a")).metadata
    assert (beside.confidence, beside.no_match) == (alone.confidence, alone.no_match) == (alone.confidence, True)


def test_stage_2_alone_is_judged_as_well(known: System) -> None:
    _, run = known.parts.tool_search.tools(QUERY, LAPTOP)
    assert run.no_match
    assert run.confidence == known.search(strategy="direct").metadata.confidence


def test_a_request_for_another_action_than_the_tool_s_counts_wherever_it_is_judged(
    database_url: str, edge_indexes: EdgeIndexes
) -> None:
    embedder = TableEmbedder(name="tool-minilm-l6-int8-v2")
    with lent_system(database_url, edge_indexes, embedder=embedder, default_mode="hybrid") as system:
        system.tools([(f"far_{n:02}", at(0.1 - n / 1000)) for n in range(20)], description="nothing in common")
        system.tool("list_labels", at(0.7), description="Lists labels.")
        answer: Any = system.search("delete labels", strategy="direct", explain=True)
        parts = answer.explain.confidence.first_five
        assert parts["other_action"].value == 1.0
        assert parts["other_action"].contribution < 0.0
        expected = logistic(sum(part.contribution for part in parts.values()))
        [_, stage] = system.parts.tool_search.tools("delete labels", LAPTOP)
        judged = [answer.metadata.confidence_first_five, stage.confidence_first_five]
        assert judged == pytest.approx([expected, expected], abs=1e-3)
