"""Mode hybrid: meaning and words fused into a probability (decisions 8, 11 and 33)."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.settings import LocalSettings
from skillroute.search.plan import CANDIDATE_POOL

from tests.builders import QUERY, System, lent_system, of_org
from tests.doubles import EdgeIndexes, TableEmbedder, at

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


def test_decision_11_of_tools_of_one_name_the_likeliest_comes_first(system: System) -> None:
    """A name such as "search" is that of many: by their ids alone any five would be the answer."""
    for n in range(8):
        system.tool("search", at(0.1 + n / 10), server=f"server_{n}", description="something else")
    system.tool("other", at(0.95), description="search my inbox")
    answer = system.search("`search` my inbox", mode="hybrid", strategy="direct")
    assert [tool.server for tool in answer.tools] == [f"server_{n}" for n in (7, 6, 5, 4, 3)]
    scores = [tool.score for tool in answer.tools]
    assert scores == sorted(set(scores), reverse=True)
    # So it is where there are more of them than other candidates, whatever their skills.
    system.skill("crowd", at(0.1))
    for n in range(CANDIDATE_POOL + 20):
        system.tool("search", at(0.5), skills=["crowd"], server=f"crowd_{n}", description="something else")
    system.tool("search", at(0.99), skills=["crowd"], server="last", description="something else")
    found = system.search("`search` my inbox", mode="hybrid", limit=2).tools
    assert [tool.server for tool in found] == ["last", "server_7"]


def test_decision_33_a_threshold_cuts_and_changes_no_score(system: System) -> None:
    # Found by meaning alone: words would find it whatever the threshold is, and it would weigh on the others' scores.
    system.tool("far", at(0.25), description="nothing in common")
    system.tools([("near", at(0.35)), ("nearer", at(0.4))], description="a meeting")
    whole = system.search(mode="hybrid", strategy="direct").tools
    cut = system.search(mode="hybrid", strategy="direct", tool_threshold=0.3).tools
    assert len(whole) == 3
    assert cut == [tool for tool in whole if tool.name != "far"]


def test_decision_11_tools_of_one_name_leave_the_nearest_skill_its_place(system: System) -> None:
    """A name such as "search" is that of a tool of many servers, and with it of their skills."""
    system.skill("near", at(0.9), description="Nothing in common.")
    system.tool("wanted", at(0.9), skills=["near"], description="nothing in common")
    for n in range(4):
        system.skill(f"of_search_{n}", at(0.1), description="Something else.")
        system.tool("search", at(0.1), skills=[f"of_search_{n}"], server=f"server {n}", description="something else")
    answer = system.search("`search` my inbox", mode="hybrid", skill_limit=3)
    assert answer.metadata.skill_ids_used == ["of_search_0", "of_search_1", "near"]
    assert "wanted" in [tool.name for tool in answer.tools]
    assert [skill.id for skill in system.search("`search` my inbox", mode="hybrid", skill_limit=1).matched_skills] == [
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


def test_decision_34_a_skill_matches_by_its_best_tool(system: System) -> None:
    """Its own vector is far from the request, and another skill's near; by meaning alone the tool is hidden."""
    system.skill("far", at(0.1), description="Something else.")
    system.skill("near", at(0.9), description="Nothing in common.")
    system.tool("wanted", at(0.9), skills=["far"], description=QUERY)
    system.tool("unwanted", at(0.3), skills=["near"], description="something else")
    assert system.names(mode="semantic") == ["unwanted"]
    answer = system.search(mode="hybrid")
    assert [tool.name for tool in answer.tools] == ["wanted", "unwanted"]
    # A skill has the score of its best tool.
    assert [(skill.id, skill.score) for skill in answer.matched_skills] == [
        ("far", answer.tools[0].score),
        ("near", answer.tools[1].score),
    ]
    assert [skill.id for skill in system.search(mode="hybrid", skill_limit=1).matched_skills] == ["far"]
    # A threshold that is given holds for the skill's own cosine (decision 33).
    assert [skill.id for skill in system.search(mode="hybrid", skill_threshold=0.5).matched_skills] == ["near"]
    assert system.names(mode="hybrid", skill_threshold=0.5) == ["unwanted"]
    search = system.parts.tool_search
    assert [skill.id for skill in search.skills(QUERY, LAPTOP, mode="hybrid")[0]] == ["far", "near"]
    assert [skill.id for skill in search.skills(QUERY, LAPTOP, mode="hybrid", threshold=0.5)[0]] == ["near"]
    assert [skill.id for skill in search.skills(QUERY, LAPTOP, mode="semantic")[0]] == ["near"]


def test_decision_34_a_skill_without_tools_for_the_caller_does_not_match(system: System) -> None:
    system.skill("empty", at(0.95))
    system.skill("of_others", at(0.95))
    system.skill("full", at(0.5))
    system.tool("theirs", at(0.9), skills=["of_others"], org="b")
    system.tool("prompt", at(0.5), skills=["full"], type="prompt")
    system.tool("tool", at(0.5), skills=["full"])
    ours = of_org("a")
    assert [skill.id for skill in system.search(mode="hybrid", caller=ours).matched_skills] == ["full"]
    assert [skill.id for skill in system.search(mode="hybrid", caller=ours, item_type="prompt").matched_skills] == [
        "full"
    ]
    assert system.search(mode="hybrid", caller=ours, item_type="resource").matched_skills == []
    # In semantic EC-003 holds to the letter.
    semantic = system.search(mode="semantic", caller=ours, skill_limit=2)
    assert ([skill.id for skill in semantic.matched_skills], semantic.tools) == (["empty", "of_others"], [])


def test_decision_29_a_skill_that_an_own_one_hides_does_not_match_by_its_tools(system: System) -> None:
    system.skill("email", at(0.9), name="Of all")
    system.tool("of_all", at(0.9), skills=["email"], description=QUERY)
    system.skill("email", at(0.1), name="Of a", org="a")
    system.tool("of_a", at(0.5), skills=["email"], org="a", description="something else")
    search = system.parts.tool_search
    for org, name in (("b", "Of all"), ("a", "Of a")):
        assert [skill.name for skill in search.skills(QUERY, of_org(org), mode="hybrid")[0]] == [name]


def test_decision_34_the_nearest_skills_follow_those_of_the_candidates(system: System) -> None:
    """None of its tools is among the best, and its own vector is near: it matches behind those that have some."""
    system.skill("crowded", at(0.1))
    system.tools([(f"near_{n}", at(0.9)) for n in range(CANDIDATE_POOL + 20)], skills=["crowded"], description=QUERY)
    system.skill("quiet", at(0.8))
    system.tool("far", at(0.2), skills=["quiet"], description="something else")
    answer = system.search(mode="hybrid")
    assert [skill.id for skill in answer.matched_skills] == ["crowded", "quiet"]
    assert answer.matched_skills[1].score <= min(tool.score for tool in answer.tools)
    # Its tools are searched for where they are asked for: the candidates have none.
    assert system.names(mode="hybrid", skill_threshold=0.5) == ["far"]
    # And so are more tools of a skill than there were candidates.
    assert len(system.names(mode="hybrid", skill_limit=1, limit=50)) == 50


def test_a_tool_behind_the_candidates_is_scored_beside_them(system: System) -> None:
    """Its skill has no candidate. Without its rivals it would seem as likely as the best of them."""
    system.skill("crowded", at(0.1))
    system.tools([(f"near_{n}", at(0.9)) for n in range(CANDIDATE_POOL + 20)], skills=["crowded"], description=QUERY)
    system.skill("quiet", at(0.8))
    system.tool("behind", at(0.5), skills=["quiet"], description="something else")
    [behind] = system.search(mode="hybrid", skill_threshold=0.5).tools
    near = system.search(mode="hybrid", limit=1).tools[0]
    assert (behind.name, near.name) == ("behind", "near_0")
    assert behind.score < near.score / 2


def test_a_skill_matches_by_a_tool_far_down_among_the_candidates(system: System) -> None:
    system.skill("crowded", at(0.9))
    system.tools([(f"near_{n}", at(0.9)) for n in range(40)], skills=["crowded"], description=QUERY)
    system.skill("second", at(0.0))
    system.tool("far", at(0.6), skills=["second"], description="something else")
    matched = system.search(mode="hybrid", limit=50)
    assert [skill.id for skill in matched.matched_skills] == ["crowded", "second"]
    assert matched.matched_skills[1].score == matched.tools[-1].score


def test_decision_3_a_threshold_does_not_leave_a_hierarchical_search_short(system: System) -> None:
    """What was ranked for the skills has enough of their tools, and the threshold cuts most of them."""
    system.skill("wanted", at(0.5))
    system.skill("other", at(0.5))
    system.tool("best", at(0.95), skills=["wanted"], description=QUERY)
    system.tools([(f"shares_words_{n}", at(0.49)) for n in range(6)], skills=["wanted"], description=QUERY)
    system.tools([(f"crowd_{n}", at(0.9)) for n in range(CANDIDATE_POOL + 20)], skills=["other"], description="else")
    system.tools([(f"near_{n}", at(0.6)) for n in range(8)], skills=["wanted"], description="nothing in common")
    request: dict[str, Any] = {"mode": "hybrid", "skill_limit": 1, "tool_threshold": 0.55}
    assert [skill.id for skill in system.search(mode="hybrid", skill_limit=1).matched_skills] == ["wanted"]
    assert system.names(limit=5, **request) == ["best", *(f"near_{n}" for n in range(4))]
    assert system.names(limit=10, **request) == ["best", *(f"near_{n}" for n in range(8))]


def test_decision_5_all_candidates_of_the_matched_skills_are_counted(system: System) -> None:
    system.skill("full", at(0.5))
    system.tools([(f"tool_{n}", at(0.9 - n / 500)) for n in range(90)], skills=["full"], description=QUERY)
    for strategy in STRATEGIES:
        assert system.search(mode="hybrid", strategy=strategy).metadata.stage2_candidate_count == 90


def test_a_tool_has_one_score_however_many_are_asked_for(system: System) -> None:
    """More tools of a skill than were candidates of all are scored beside these, and below."""
    system.skill("matched", at(0.5))
    system.tool("best", at(0.95), skills=["matched"], description=QUERY)
    system.tool("weak", at(0.0), skills=["matched"], description="schedule John")
    system.skill("other", at(0.5))
    crowd = [(f"crowd_{n}", at(0.9)) for n in range(CANDIDATE_POOL + 20)]
    system.tools(crowd, skills=["other"], description="a meeting")
    system.tools([(f"more_{n}", at(0.3 - n / 100)) for n in range(6)], skills=["matched"], description="something else")
    few, many = (system.search(mode="hybrid", skill_limit=1, limit=limit) for limit in (1, 10))
    assert [skill.score for skill in few.matched_skills] == [few.tools[0].score]
    assert [tool.name for tool in many.tools] == ["best", "weak", *(f"more_{n}" for n in range(6))]
    assert many.tools[0].score == few.tools[0].score
    scores = [tool.score for tool in many.tools]
    assert scores == sorted(scores, reverse=True)


def test_decision_3_skills_of_one_score_come_in_order_of_their_ids(system: System) -> None:
    for skill_id in ("zebra", "apple", "mango"):
        system.skill(skill_id, at(0.8))
    system.tool("of_all", at(0.9), skills=["zebra", "mango", "apple"], description=QUERY)
    assert [skill.id for skill in system.search(mode="hybrid").matched_skills] == ["apple", "mango", "zebra"]
    assert [skill.id for skill in system.search(mode="hybrid", skill_limit=2).matched_skills] == ["apple", "mango"]


@pytest.mark.parametrize("is_remembered", [True, False])
def test_without_the_vectors_of_its_clauses_a_remembered_query_is_still_ranked_by_meaning(
    system: System, is_remembered: bool
) -> None:
    query = "read the quarterly report, translate it into German, tell the whole team"
    system.tool("near", at(0.9), description="nothing in common")
    system.tool("words", at(0.1), description="the quarterly report")
    if is_remembered:
        system.search(query, mode="semantic")
    system.embedder.away = True
    answer = system.search(query, mode="hybrid")
    assert answer.metadata.degraded == ["embedding_unavailable"]
    assert answer.metadata.search_mode == ("hybrid" if is_remembered else "lexical-only")
    assert ("near" in [tool.name for tool in answer.tools]) is is_remembered


def test_the_best_tool_is_found_though_it_is_in_no_skill(system: System) -> None:
    """Decision 39: what has no skill is searched beside the tools of the matched skills, and never hidden by them."""
    system.skill("other", at(0.9))
    system.tool("of_skill", at(0.5), skills=["other"], description="something else")
    system.tool("bare", at(0.9), description=QUERY)
    answer = system.search(mode="hybrid")
    assert [tool.name for tool in answer.tools] == ["bare", "of_skill"]
    assert (answer.metadata.fallback_reason, answer.metadata.skill_ids_used) == (None, ["other"])
    assert [tool.skill_ids for tool in answer.tools] == [[], ["other"]]
    assert [skill.id for skill in system.parts.tool_search.skills(QUERY, LAPTOP, mode="hybrid")[0]] == ["other"]
    system.tool("better", at(0.95), skills=["other"], description=f"{QUERY} {QUERY}")
    assert system.names(mode="hybrid") == ["better", "bare", "of_skill"]
    assert "bare" not in system.names(mode="semantic")  # decision 10


def test_decision_43_a_skill_without_tools_is_found_among_skills_and_used_by_no_search_for_tools(
    system: System,
) -> None:
    for place in range(6):
        system.skill(f"full_{place}", at(0.5))
        system.tool(f"tool_{place}", at(0.9 - place / 20), skills=[f"full_{place}"], description=QUERY)
    system.skill("new", at(0.95))
    system.skill("far", at(0.1))
    found = system.parts.tool_search.skills(QUERY, LAPTOP, mode="hybrid")[0]
    # As near as the best that it is nearer than, before the others by its id alone.
    assert [skill.id for skill in found] == ["full_0", "new", "full_1", "full_2", "full_3"]
    assert found[1].tool_count == 0
    assert found == sorted(found, key=lambda skill: (-skill.score, skill.id))
    assert "new" not in (system.search(mode="hybrid").metadata.skill_ids_used or ())
    theirs, _ = system.parts.tool_search.skills(QUERY, of_org("a"), mode="hybrid", limit=10)
    assert {"new", "far"} <= {skill.id for skill in theirs}


def test_a_tool_whose_skill_others_alone_see_is_found_as_one_without(system: System) -> None:
    system.skill("theirs", at(0.9), org="b")
    system.skill("ours", at(0.5), org="a")
    system.tool("shared", at(0.8), skills=["theirs"], description="something else")
    system.tool("of_ours", at(0.9), org="a", skills=["ours"], description=QUERY)
    assert [tool.name for tool in system.search(mode="hybrid", caller=of_org("a")).tools] == ["of_ours", "shared"]


def test_the_skills_of_each_of_the_best_tools_match_before_more_of_one_tools(system: System) -> None:
    """Else a tool of three skills would leave the next ones no place, and a search by skills would lose them."""
    for skill_id in ("a", "b", "c", "x", "y"):
        system.skill(skill_id, at(0.1))
    system.tool("first", at(0.95), skills=["a", "b", "c"], description=QUERY)
    system.tool("second", at(0.9), skills=["b", "x"], description=QUERY)
    system.tool("third", at(0.85), skills=["y"], description=QUERY)
    answer = system.search(mode="hybrid", skill_limit=3, limit=3)
    assert [tool.name for tool in answer.tools] == ["first", "second", "third"]
    direct = system.names(mode="hybrid", strategy="direct", limit=3)
    assert direct == ["first", "second", "third"]


def test_a_skill_may_match_for_each_tool_that_is_asked_for(system: System) -> None:
    """Three by default are too few for five tools of five skills; a limit that the caller gives holds."""
    for n in range(12):
        system.skill(f"skill_{n:02}", at(0.1))
        system.tool(f"tool_{n:02}", at(0.9 - n / 50), skills=[f"skill_{n:02}"], description=QUERY)
    expected = [f"tool_{n:02}" for n in range(12)]
    assert system.names(mode="hybrid") == expected[:5]
    assert len(system.search(mode="hybrid", limit=2).matched_skills) == 3
    assert len(system.search(mode="hybrid", limit=50).matched_skills) == 10
    assert system.names(mode="hybrid", skill_limit=3) == expected[:3]
    assert len(system.search(mode="semantic", skill_threshold=0.0).matched_skills) == 3


def test_each_clause_of_a_long_request_brings_its_tool(database_url: str, edge_indexes: EdgeIndexes) -> None:
    """The whole request is about none of them; many tools are as near to it as those that its clauses ask for."""
    asked = ["read the quarterly report", "translate it into German", "tell the whole team"]
    query = ", ".join(asked)
    axes = {part: at(0.0, axis) for axis, part in enumerate(asked, 2)}
    embedder = TableEmbedder({query: at(1.0), **axes})
    with lent_system(database_url, edge_indexes, embedder=embedder) as system:
        system.tools([(f"vague_{n}", at(0.55)) for n in range(CANDIDATE_POOL + 20)], description="nothing in common")
        for name, part in zip(("reads", "translates", "tells"), asked, strict=True):
            system.tool(name, at(0.5, list(axes).index(part) + 2), description="something else")
        answer = system.search(query, mode="hybrid", strategy="direct", limit=3)
        assert {tool.name for tool in answer.tools} == {"reads", "translates", "tells"}
        # Their own cosine is to the whole request, as everybody's is.
        assert [tool.similarity for tool in answer.tools] == pytest.approx([0.5] * 3, abs=1e-6)
        assert system.embedder.calls[-1].texts == [query, *asked]
        # One need is not searched for in parts.
        system.search(asked[0], mode="hybrid", strategy="direct")
        system.search("read the report, then translate it", mode="hybrid", strategy="direct")
        assert system.embedder.calls[-1].texts == ["read the report, then translate it"]
        # Nor does any other mode.
        system.search(query.upper(), mode="semantic")
        assert system.embedder.calls[-1].texts == [query.upper()]


def test_what_is_near_a_clause_comes_before_what_is_near_the_whole_without_a_word_in_common(
    database_url: str, edge_indexes: EdgeIndexes
) -> None:
    """Meaning alone decides here: no tool shares a word with the request, so none leads a clause by its words."""
    asked = ["read the quarterly report", "translate it into German", "tell the whole team"]
    query = ", ".join(asked)
    axes = {part: at(0.0, axis) for axis, part in enumerate(asked, 2)}
    with lent_system(database_url, edge_indexes, embedder=TableEmbedder({query: at(1.0), **axes})) as system:
        system.tools([(f"vague_{n}", at(0.55)) for n in range(5)], description="nothing in common")
        system.tools([(f"wanted_{axis}", at(0.5, axis)) for axis in (2, 3, 4)], description="nothing in common")
        names = system.names(query, mode="hybrid", strategy="direct", limit=3)
        assert sorted(names) == ["wanted_2", "wanted_3", "wanted_4"]


def test_what_has_most_of_a_clauses_words_comes_before_what_has_as_many_of_the_whole(system: System) -> None:
    """By the whole request's words it is behind; no clause puts the other first."""
    query = "read the quarterly report, translate it into German, tell the whole team"
    system.tool("reads", at(0.4), description="read the quarterly report")
    system.tool("tells", at(0.4), description="tell the whole team")
    system.tool("of_each", at(0.5), description="report German")
    system.tool("of_one", at(0.5), description="translate German")
    by_words = system.names(query, mode="lexical", strategy="direct")
    assert by_words.index("of_each") < by_words.index("of_one")
    names = system.names(query, mode="hybrid", strategy="direct")
    assert names.index("of_one") < names.index("of_each")


def test_clauses_stay_within_the_skills_that_match(database_url: str, edge_indexes: EdgeIndexes) -> None:
    asked = ["read the quarterly report", "translate it into German", "tell the whole team"]
    query = ", ".join(asked)
    with lent_system(database_url, edge_indexes, embedder=TableEmbedder({asked[0]: at(0.0, 2)})) as system:
        system.skill("matched", at(0.9))
        system.skill("unmatched", at(0.0))
        system.tool("of_skill", at(0.99), skills=["matched"], description=query)
        system.tool("elsewhere", at(0.0, 2), skills=["unmatched"], description=asked[0])
        assert system.names(query, mode="hybrid", skill_limit=1) == ["of_skill"]
        assert "elsewhere" in system.names(query, mode="hybrid", strategy="direct")


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


def test_decision_8_and_33_it_is_the_default(database_url: str, edge_indexes: EdgeIndexes) -> None:
    default = LocalSettings.model_fields["default_mode"].default
    with lent_system(database_url, edge_indexes, default_mode=default) as system:
        system.tool("far", at(0.1), description="schedule a meeting with John")
        answer = system.search()
        assert (answer.metadata.search_mode, [tool.name for tool in answer.tools]) == ("hybrid", ["far"])
        assert system.search(mode="semantic").metadata.search_mode == "semantic"
