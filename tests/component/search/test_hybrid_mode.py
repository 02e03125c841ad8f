"""Mode hybrid: meaning and words fused into a probability (decisions 8, 11 and 33)."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.search.plan import CANDIDATE_POOL

from tests.builders import QUERY, System, lent_system, of_org
from tests.doubles import EdgeIndexes, at

STRATEGIES = ["hierarchical", "direct", "hybrid"]


def test_decision_33_both_signals_together_beat_each_alone(system: System) -> None:
    system.tool("near", at(0.8), description="nothing in common")
    system.tool("words", at(0.1), description="schedule a meeting with John")
    system.tool("both", at(0.8), description="schedule a meeting with John")
    system.tool("neither", at(0.1), description="nothing in common")
    answer = system.search(mode="hybrid", strategy="direct")
    assert answer.metadata.search_mode == "hybrid"
    assert (answer.tools[0].name, answer.tools[-1].name) == ("both", "neither")
    scores = [tool.score for tool in answer.tools]
    assert scores == sorted(scores, reverse=True)
    assert 1.0 > scores[0] > scores[-1] > 0.0
    # The score does not hide the cosine (decision 8).
    assert {tool.name: tool.similarity for tool in answer.tools} == pytest.approx(
        {"near": 0.8, "words": 0.1, "both": 0.8, "neither": 0.1}, abs=1e-6
    )


def test_decision_33_a_threshold_is_a_cosine_and_holds_only_where_it_is_given(system: System) -> None:
    system.tool("far", at(0.1), description="schedule a meeting with John")
    system.tool("near", at(0.5), description="nothing in common")
    assert set(system.names(mode="hybrid", strategy="direct")) == {"far", "near"}
    assert system.names(mode="hybrid", strategy="direct", tool_threshold=0.3) == ["near"]
    search = system.parts.tool_search
    assert len(search.tools(QUERY, LAPTOP, mode="hybrid")[0]) == 2
    assert [tool.name for tool in search.tools(QUERY, LAPTOP, mode="hybrid", threshold=0.3)[0]] == ["near"]
    # In semantic the default holds (search-contract BR-003).
    assert system.names(mode="semantic", strategy="direct") == ["near"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("threshold", [None, 0.9])
def test_decision_11_a_named_tool_comes_first_in_mode_hybrid(
    system: System, strategy: str, threshold: float | None
) -> None:
    query = "please use create_event, now"
    system.skill("crowded", at(0.95), description=f"Skill for {query}")
    system.skill("home", at(0.1), description="Nothing to do with it.")
    system.tools([(f"rival_{n}", at(0.95)) for n in range(5)], skills=["crowded"], description=query)
    system.tool("create_event", None, skills=["home"])
    given = {} if threshold is None else {"tool_threshold": threshold}
    answer = system.search(query, mode="hybrid", strategy=strategy, **given)
    assert (answer.tools[0].name, answer.tools[0].similarity) == ("create_event", None)
    assert len(answer.tools) == 5
    assert strategy == "direct" or "home" in answer.metadata.skill_ids_used


def test_decision_33_a_threshold_cuts_and_changes_no_score(system: System) -> None:
    # Found by meaning alone: words would find it whatever the threshold is, and it would weigh on the others' scores.
    system.tool("far", at(0.25), description="nothing in common")
    system.tools([("near", at(0.35)), ("nearer", at(0.4))], description="a meeting")
    whole = system.search(mode="hybrid", strategy="direct").tools
    cut = system.search(mode="hybrid", strategy="direct", tool_threshold=0.3).tools
    assert len(whole) == 3
    assert cut == [tool for tool in whole if tool.name != "far"]


def test_decision_11_tools_that_are_named_by_a_common_word_leave_the_nearest_skill_its_place(system: System) -> None:
    """A word such as "search" names a tool of many servers, and with it their skills."""
    system.skill("near", at(0.9), description="Nothing in common.")
    system.tool("wanted", at(0.9), skills=["near"], description="nothing in common")
    for n in range(4):
        system.skill(f"of_search_{n}", at(0.1), description="Something else.")
        system.tool("search", at(0.1), skills=[f"of_search_{n}"], server=f"server {n}", description="something else")
    answer = system.search("search my inbox", mode="hybrid", skill_limit=3)
    assert answer.metadata.skill_ids_used == ["of_search_0", "of_search_1", "near"]
    assert "wanted" in [tool.name for tool in answer.tools]
    assert [skill.id for skill in system.search("search my inbox", mode="hybrid", skill_limit=1).matched_skills] == [
        "of_search_0"
    ]


def test_a_tool_found_by_words_alone_is_scored_by_its_meaning_as_well(system: System) -> None:
    """Its cosine lies behind those of the candidates by meaning, and is looked up."""
    system.tools([(f"near_{n}", at(0.9)) for n in range(CANDIDATE_POOL + 20)], description="nothing in common")
    system.tool("words", at(0.85), description="schedule a meeting with John")
    answer = system.search(mode="hybrid", strategy="direct")
    assert answer.metadata.stage2_candidate_count == CANDIDATE_POOL + 1
    assert (answer.tools[0].name, answer.tools[0].similarity) == ("words", pytest.approx(0.85, abs=1e-6))


def test_a_tool_found_by_meaning_alone_is_scored_by_its_words_as_well(system: System) -> None:
    """Two tools of one cosine, and both behind the candidates by words: the one that shares a word is before."""
    system.tools([(f"words_{n}", at(0.1)) for n in range(CANDIDATE_POOL + 20)], description=QUERY)
    system.tool("far_from_it", at(0.9), description="nothing in common")
    system.tool("one_word", at(0.9), description="a meeting that goes on and on, in many other words than those")
    names = system.names(mode="hybrid", strategy="direct", limit=50)
    assert names.index("one_word") < names.index("far_from_it")


def test_a_tool_without_a_vector_is_found_by_its_words(system: System) -> None:
    system.tool("words", None, description="schedule a meeting with John")
    [tool] = system.search(mode="hybrid", strategy="direct").tools
    assert (tool.name, tool.similarity) == ("words", None)


def test_other_organisations_tools_are_not_candidates(system: System) -> None:
    system.tool("theirs", at(0.9), org="b", description=QUERY)
    ours = system.tool("ours", at(0.5), org="a", description="a meeting")
    alone = system.search(mode="hybrid", strategy="direct", caller=of_org("a")).tools
    assert [tool.db_id for tool in alone] == [ours]
    # Nothing of theirs is in the score either.
    system.tools([(f"theirs_{n}", at(0.99)) for n in range(5)], org="b", description=QUERY)
    assert system.search(mode="hybrid", strategy="direct", caller=of_org("a")).tools == alone


def test_decision_9_without_the_model_words_alone_rank(system: System) -> None:
    system.tool("words", at(0.1), description="schedule a meeting with John")
    system.embedder.away = True
    answer = system.search(mode="hybrid")
    assert (answer.metadata.search_mode, answer.metadata.degraded) == ("lexical-only", ["embedding_unavailable"])
    assert [tool.name for tool in answer.tools] == ["words"]


def test_decision_33_a_deployment_can_default_to_it(database_url: str, edge_indexes: EdgeIndexes) -> None:
    with lent_system(database_url, edge_indexes, default_mode="hybrid") as system:
        system.tool("far", at(0.1), description="schedule a meeting with John")
        answer = system.search()
        assert (answer.metadata.search_mode, [tool.name for tool in answer.tools]) == ("hybrid", ["far"])
        assert system.search(mode="semantic").metadata.search_mode == "semantic"
