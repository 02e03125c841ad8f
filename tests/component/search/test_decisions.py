"""Decisions 1 to 8, 10 to 12 and 26: what the contract leaves open. (1 and 8 at the HTTP edge are in tests/api.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.model import ItemFilter
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.errors.model import Forbidden, NotFound
from skillroute.search.model import SearchRequest
from skillroute.skills.collection import SKILL_DOCUMENTS

from tests.builders import QUERY, System, item, lent_system, of_org
from tests.doubles import EdgeIndexes, TableEmbedder, at

ORG_A, ORG_B = of_org("a"), of_org("b")

# Decision 1: defaults and limits


@pytest.mark.parametrize(
    ("field", "low", "high"),
    [("limit", 1, 50), ("skill_limit", 1, 10), ("skill_threshold", 0.0, 1.0), ("tool_threshold", 0.0, 1.0)],
)
def test_decision_1_the_bounds_belong_to_the_range_and_what_lies_beyond_is_refused(
    field: str, low: float, high: float
) -> None:
    step = 1 if isinstance(low, int) else 0.001
    for allowed in (low, high):
        assert getattr(SearchRequest(query=QUERY, **{field: allowed}), field) == allowed
    for refused in (low - step, high + step):
        with pytest.raises(ValidationError, match=field):
            SearchRequest(query=QUERY, **{field: refused})


@pytest.mark.parametrize("query", ["", " ", "\t\n", "x" * 1001])
def test_decision_1_a_query_is_1_to_1000_characters_after_trimming(query: str) -> None:
    with pytest.raises(ValidationError, match="query"):
        SearchRequest(query=query)


# Decision 2: cosine, clamped


@pytest.mark.parametrize("cosine", [0.0, 0.3, 0.4, 0.5, 0.87, 1.0])
def test_decision_2_score_and_similarity_are_the_cosine(system: System, cosine: float) -> None:
    system.tool("near", at(cosine))
    (tool,) = system.search(tool_threshold=0.0).tools
    assert tool.score == tool.similarity == pytest.approx(cosine, abs=1e-6)


def test_decision_2_thresholds_apply_to_the_cosine(system: System) -> None:
    system.skill("right_angles", at(0.0))
    system.tool("right_angles", at(0.0))
    assert system.search().matched_skills == [], "(0 + 1) / 2 would be above 0.4"
    assert system.search().tools == []


# Decision 3: order, and filters inside the index


def test_decision_3_equal_scores_come_in_order_of_their_ids_as_numbers(system: System) -> None:
    ids = system.tools([(f"tool_{n:02}", at(0.8)) for n in range(12)])
    assert ids == list(range(1, 13)), "so that 9, 10 and 11 are among them"
    assert [tool.db_id for tool in system.search(limit=50).tools] == ids
    assert [tool.db_id for tool in system.search(limit=10).tools] == ids[:10], "at the cut too"


def test_decision_3_equal_skills_come_in_order_of_their_ids(system: System) -> None:
    for skill_id in ("zebra", "apple", "mango", "berry"):
        system.skill(skill_id, at(0.8))
    assert [skill.id for skill in system.search(skill_limit=3).matched_skills] == ["apple", "berry", "mango"]


def test_decision_3_equal_words_come_in_order_of_their_ids_as_numbers(system: System) -> None:
    ids = system.tools([(f"tool_{n:02}", None) for n in range(12)], description="schedule a meeting")
    answer = system.search(mode="lexical", limit=10)
    assert [tool.db_id for tool in answer.tools] == ids[:10]


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
@pytest.mark.parametrize(
    ("others", "wanted", "request_"),
    [
        ({"skills": ["other"]}, {"skills": ["wanted"]}, {"strategy": "hierarchical", "skill_threshold": 0.5}),
        ({"type": "resource"}, {"type": "prompt"}, {"strategy": "direct", "item_type": "prompt"}),
        ({"org": "b"}, {"org": "a"}, {"strategy": "direct", "caller": ORG_A}),
    ],
    ids=["skill", "type", "organisation"],
)
def test_decision_3_a_filtered_search_does_not_come_back_short(
    system: System, others: dict[str, Any], wanted: dict[str, Any], request_: dict[str, Any], mode: str
) -> None:
    near = "schedule a meeting with John"
    system.skill("wanted", at(0.9), description="Skill to schedule a meeting with John.")
    system.skill("other", at(0.0), description="Something else entirely.")
    system.tools([(f"near_{n}", at(0.95)) for n in range(300)], description=near, **others)
    system.tools([(f"far_{n}", at(0.5 - n / 100)) for n in range(5)], description="a meeting", **wanted)
    names = system.names(mode=mode, limit=5, **request_)
    assert names == [f"far_{n}" for n in range(5)]


def test_decision_3_skills_of_others_do_not_make_the_skill_search_come_back_short(system: System) -> None:
    for number in range(30):
        system.skill(f"of_b_{number}", at(0.95), org="b")
    for number in range(3):
        system.skill(f"of_a_{number}", at(0.5), org="a")
    matched = system.search(caller=ORG_A).matched_skills
    assert [skill.id for skill in matched] == ["of_a_0", "of_a_1", "of_a_2"]


# Decision 4: any of a tool's skills


def tools_of(system: System, skill_ids: list[str] | None, **options: Any) -> list[str]:
    found, _ = system.parts.tool_search.tools(QUERY, LAPTOP, skill_ids=skill_ids, **options)
    return [tool.name for tool in found]


def test_decision_4_skill_ids_filter_on_any_skill_not_only_the_primary(system: System) -> None:
    system.skill("first", at(0.9))
    system.skill("second", at(0.9))
    system.tool("both", at(0.9), skills=["first", "second"])
    system.tool("one", at(0.8), skills=["first"])
    assert tools_of(system, ["second"]) == ["both"]
    assert tools_of(system, ["first"]) == ["both", "one"]
    assert tools_of(system, ["second", "first"]) == ["both", "one"]


@pytest.mark.parametrize("skill_id", ["unknown", "FIRST", "first ", "fir", "", "'; --", "\ud800", "é", "x" * 10_000])
@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_decision_4_an_unknown_or_oddly_spelt_skill_id_matches_nothing(
    system: System, skill_id: str, mode: str
) -> None:
    system.skill("first", at(0.9))
    system.tool("meeting", at(0.9), skills=["first"])
    assert tools_of(system, [skill_id], mode=mode) == []
    assert tools_of(system, [skill_id, "first"], mode=mode) == ["meeting"]


# Decision 5: candidates


@pytest.mark.parametrize("mode", ["semantic", "lexical"])
def test_decision_5_candidates_are_counted_before_the_cut_within_a_pool_of_100(system: System, mode: str) -> None:
    system.tools([(f"tool_{n}", at(0.9)) for n in range(60)], description="a meeting")
    answer = system.search(limit=1, mode=mode)
    assert (answer.metadata.stage2_candidate_count, answer.metadata.final_count) == (60, 1)
    system.tools([(f"more_{n}", at(0.9)) for n in range(60)], description="a meeting")
    assert system.search(limit=1, mode=mode).metadata.stage2_candidate_count == 100


# Decision 6: strategy_used repeats what was asked for (reasons: test_degradation)


@pytest.mark.parametrize("strategy", ["hierarchical", "hybrid"])
def test_decision_6_a_fallback_keeps_the_name_of_the_strategy(system: System, strategy: str) -> None:
    system.tool("near", at(0.9))
    metadata = system.search(strategy=strategy).metadata
    assert (metadata.strategy_used, metadata.skill_ids_used, metadata.fallback_reason) == (strategy, None, "no_skills")


# Decision 7: the hybrid strategy


@pytest.fixture
def mixed(system: System) -> System:
    system.skill("strong", at(0.9))
    system.skill("weak", at(0.5))
    system.skill("unmatched", at(0.1))
    system.tool("in_strong", at(0.6), skills=["strong"])
    system.tool("in_weak", at(0.7), skills=["weak"])
    system.tool("in_both", at(0.5), skills=["weak", "strong"])
    system.tool("in_unmatched", at(0.8), skills=["unmatched"])
    system.tool("in_none", at(0.78))
    return system


# similarity, and the score of the best matched skill
MIXED = {
    "in_strong": (0.6, 0.9),
    "in_weak": (0.7, 0.5),
    "in_both": (0.5, 0.9),
    "in_unmatched": (0.8, 0.0),
    "in_none": (0.78, 0.0),
}


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.5, 1.0])
def test_decision_7_hybrid_lifts_a_tool_by_its_best_matched_skill(
    mixed: System, database_url: str, edge_indexes: EdgeIndexes, weight: float
) -> None:
    mixed.close()
    with lent_system(database_url, edge_indexes, hybrid_skill_weight=weight) as system:
        answer = system.search(strategy="hybrid", limit=50, tool_threshold=0.0)
    expected = {name: (1 - weight) * similarity + weight * skill for name, (similarity, skill) in MIXED.items()}
    assert {tool.name: tool.score for tool in answer.tools} == pytest.approx(expected, abs=1e-6)
    assert {tool.name: tool.similarity for tool in answer.tools} == pytest.approx(
        {name: similarity for name, (similarity, _) in MIXED.items()}, abs=1e-6
    )
    ids = {name: place for place, name in enumerate(MIXED)}
    order = sorted(MIXED, key=lambda name: (-round(expected[name], 9), ids[name]))
    assert [tool.name for tool in answer.tools] == order


def test_decision_7_the_weight_is_0_1_unless_it_is_set(mixed: System) -> None:
    tools = {tool.name: tool.score for tool in mixed.search(strategy="hybrid").tools}
    assert tools["in_strong"] == pytest.approx(0.9 * 0.6 + 0.1 * 0.9, abs=1e-6)


def test_decision_7_hybrid_returns_each_tool_once(mixed: System) -> None:
    answer = mixed.search(strategy="hybrid", limit=50)
    assert sorted(tool.name for tool in answer.tools) == sorted(MIXED)
    assert answer.metadata.stage2_candidate_count == len(MIXED)


def test_decision_7_hybrid_reports_the_matched_skills(mixed: System) -> None:
    answer = mixed.search(strategy="hybrid")
    assert [skill.id for skill in answer.matched_skills] == ["strong", "weak"]
    assert answer.metadata.skill_ids_used == ["strong", "weak"]


def test_decision_7_hybrid_finds_a_skills_tools_beyond_the_pool_of_the_direct_search(system: System) -> None:
    system.skill("matched", at(0.9))
    system.tools([(f"crowd_{n}", at(0.55)) for n in range(150)])
    system.tool("far_but_lifted", at(0.5), skills=["matched"])
    answer = system.search(strategy="hybrid", limit=1)
    assert [tool.name for tool in answer.tools] == ["far_but_lifted"]
    assert answer.tools[0].score == pytest.approx(0.9 * 0.5 + 0.1 * 0.9, abs=1e-6)


def test_decision_7_the_threshold_applies_to_the_similarity_not_to_the_lifted_score(mixed: System) -> None:
    names = mixed.names(strategy="hybrid", limit=50, tool_threshold=0.65)
    assert sorted(names) == ["in_none", "in_unmatched", "in_weak"]


def test_decision_7_without_matched_skills_hybrid_is_a_direct_search(mixed: System) -> None:
    hybrid = mixed.search(strategy="hybrid", skill_threshold=0.95)
    assert hybrid.tools == mixed.search(strategy="direct").tools
    assert hybrid.metadata.fallback_reason == "no_skill_matched"


# Decision 8: modes


def test_decision_8_lexical_ranks_by_words_and_has_no_similarity(system: System) -> None:
    system.tool("far_in_meaning", at(-0.9), description="schedule a meeting with John")
    system.tool("near_in_meaning", at(0.99), description="nothing in common")
    answer = system.search(mode="lexical")
    assert [(tool.name, tool.score, tool.similarity) for tool in answer.tools] == [("far_in_meaning", 1.0, None)]
    assert answer.metadata.search_mode == "lexical"


def test_decision_8_a_lexical_hit_that_shares_fewer_words_scores_less(system: System) -> None:
    system.tool("one_word", None, description="a meeting")
    system.tool("all_words", None, description="schedule meeting john")
    first, second = system.search(mode="lexical").tools
    assert (first.name, first.score, second.name) == ("all_words", 1.0, "one_word")
    assert 0.0 < second.score < 1.0


def test_decision_8_a_setting_changes_the_default_mode(database_url: str, edge_indexes: EdgeIndexes) -> None:
    with lent_system(database_url, edge_indexes, default_mode="lexical") as system:
        system.tool("meeting", at(0.9))
        assert system.search().metadata.search_mode == "lexical"
        assert system.search(mode="semantic").metadata.search_mode == "semantic"
        assert system.parts.tool_search.tools(QUERY, LAPTOP)[1].search_mode == "lexical"
        assert system.parts.tool_search.skills(QUERY, LAPTOP)[1].search_mode == "lexical"


# Decision 10: tools without skills (also search-contract EC-008)


def test_decision_10_a_tool_without_skills_is_found_by_a_fallback(mixed: System) -> None:
    assert "in_none" not in mixed.names(limit=50)
    assert "in_none" in mixed.names(limit=50, skill_threshold=0.95)


# Decision 11: exact names


NAMED = [
    ("create_event", "create_event"),
    ("create_event", "please use create_event, now"),
    ("create_event", 'call "create_event"!'),
    ("create_event", "(create_event)."),
    ("create_event", "CREATE_EVENT"),
    ("createEvent", "what does createEvent do"),
    ("browser.open-tab", "run browser.open-tab for me"),
    ("mcp__files__read", "mcp__files__read: the file"),
    ("Create a new calendar event", "create a new calendar event"),
    ("Create a new calendar event", "I want to “create a new calendar event” today"),
    ("über_suche", "nimm ÜBER_SUCHE"),
    ("搜索", "搜索"),
]


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
@pytest.mark.parametrize(("name", "query"), NAMED)
def test_decision_11_a_tool_that_is_named_exactly_comes_first(
    system: System, name: str, query: str, strategy: str
) -> None:
    system.skill("crowded", at(0.9), description=f"Skill for {query} {query}")
    system.skill("home", at(0.1), description="Nothing to do with it.")
    system.tools([(f"rival_{n}", None) for n in range(5)], skills=["crowded"], description=f"{query} {query} {query}")
    system.tool(name, None, skills=["home"])
    first = system.search(query, mode="lexical", strategy=strategy).tools[0]
    assert first.name == name


ODD_NAMES = [
    ("@acme/deploy", "run @acme/deploy"),
    ("@acme/deploy", 'please run "@acme/deploy"!'),
    ("c++", "c++"),
    ("c++", "compile it with `C++`, quickly"),
    ("summarise the open issues of a repository", "now «Summarise the open issues of a repository»: skillroute"),
    ("my  tool", "my  tool"),
    ("my  tool", "call 'my tool', then stop"),
]


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
@pytest.mark.parametrize(("name", "query"), ODD_NAMES)
def test_decision_11_an_exact_name_comes_first_however_it_is_spelt_or_quoted(
    system: System, name: str, query: str, strategy: str
) -> None:
    system.skill("crowded", at(0.9), description=f"Skill for {query} {query}")
    system.skill("home", at(0.1), description="Nothing to do with it.")
    system.tools([(f"rival_{n}", None) for n in range(5)], skills=["crowded"], description=f"{query} {query} {query}")
    system.tool(name, None, skills=["home"], type="prompt")
    assert system.names(query, mode="lexical", strategy=strategy)[0] == name


@pytest.mark.parametrize(("name", "query"), ODD_NAMES)
def test_decision_11_hybrid_puts_a_named_tool_without_a_skill_before_those_of_the_best_skill(
    system: System, name: str, query: str
) -> None:
    # GIVEN a skill that matches better than any other, and its tools, and the named tool in no skill
    system.skill("crowded", at(0.9), description=f"Skill for {query} {query}")
    system.tools([(f"rival_{n}", None) for n in range(5)], skills=["crowded"], description=f"{query} {query} {query}")
    system.tool(name, None)
    # WHEN
    answer = system.search(query, mode="lexical", strategy="hybrid")
    # THEN
    assert [skill.score for skill in answer.matched_skills] == [1.0]
    assert answer.tools[0].name == name


def test_decision_11_an_exact_name_comes_first_while_the_model_is_away(system: System) -> None:
    system.tool("create_event", at(0.1))
    system.tools([(f"rival_{n}", at(0.9)) for n in range(5)], description="create_event create event create_event")
    system.embedder.away = True
    assert system.names("create_event")[0] == "create_event"


def test_decision_11_of_two_names_in_a_query_both_come_before_the_rest(system: System) -> None:
    system.tools([(f"rival_{n}", None) for n in range(5)], description="create_event delete_event")
    system.tool("create_event")
    system.tool("delete_event")
    names = system.names("create_event and delete_event", mode="lexical", strategy="direct")
    assert sorted(names[:2]) == ["create_event", "delete_event"]


def test_decision_11_a_name_within_a_longer_word_is_not_that_name(system: System) -> None:
    system.tool("event", description="unrelated")
    system.tool("create_events_now", description="create events now")
    assert system.names("create_events_now", mode="lexical", strategy="direct")[0] == "create_events_now"
    scores = {t.name: t.score for t in system.search("create_events_now", mode="lexical", strategy="direct").tools}
    assert scores.get("event", 0.0) < 1.0


def test_decision_11_semantic_ranks_by_meaning_alone(system: System) -> None:
    system.tool("create_event", at(0.4))
    system.tool("rival", at(0.9))
    assert system.names("create_event", mode="semantic") == ["rival", "create_event"]


def test_decision_11_the_name_stays_behind_a_filter(system: System) -> None:
    system.tool("create_event", None, type="prompt")
    system.tool("other", None, description="create event")
    assert system.names("create_event", mode="lexical", item_type="tool") == ["other"]


# Decision 12: three schemas


def test_decision_12_all_three_are_null_when_not_loaded(system: System) -> None:
    system.tool("full", at(0.9), input_schema={"a": 1}, output_schema={"b": 2}, annotations={"c": 3})
    (tool,) = system.search(include_schemas=False).tools
    assert (tool.input_schema, tool.output_schema, tool.annotations) == (None, None, None)


# Decision 26: tenancy


@pytest.fixture
def tenants(system: System) -> System:
    """A skill and a tool for everyone, for organisation a and for organisation b; equally near."""
    for org in (None, "a", "b"):
        who = org or "all"
        system.skill(f"skill_{who}", at(0.9), org=org, description="Skill to schedule a meeting.")
        system.tool(f"tool_{who}", at(0.8), skills=[f"skill_{who}"], org=org, description="schedule a meeting")
    return system


VIEWS = [
    pytest.param(of_org(None), ["all"], id="global"),
    pytest.param(ORG_A, ["all", "a"], id="a"),
    pytest.param(ORG_B, ["all", "b"], id="b"),
    pytest.param(of_org("c"), ["all"], id="c"),
]


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
@pytest.mark.parametrize(("caller", "seen"), VIEWS)
def test_decision_26_search_shows_global_items_and_the_callers_own(
    tenants: System, caller: Caller, seen: list[str], strategy: str, mode: str
) -> None:
    answer = tenants.search(caller=caller, strategy=strategy, mode=mode, skill_limit=10, limit=50)
    assert sorted(tool.name for tool in answer.tools) == sorted(f"tool_{who}" for who in seen)
    skills = [] if strategy == "direct" else sorted(f"skill_{who}" for who in seen)
    assert sorted(skill.id for skill in answer.matched_skills) == skills


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
@pytest.mark.parametrize(("caller", "seen"), VIEWS)
def test_decision_26_the_single_stages_show_global_items_and_the_callers_own(
    tenants: System, caller: Caller, seen: list[str], mode: Any
) -> None:
    skills, _ = tenants.parts.tool_search.skills(QUERY, caller, limit=50, mode=mode)
    tools, _ = tenants.parts.tool_search.tools(QUERY, caller, limit=50, mode=mode)
    assert sorted(skill.id for skill in skills) == sorted(f"skill_{who}" for who in seen)
    assert sorted(tool.name for tool in tools) == sorted(f"tool_{who}" for who in seen)


def test_decision_26_naming_anothers_skill_or_tool_does_not_show_it(tenants: System) -> None:
    search = tenants.parts.tool_search
    assert search.tools(QUERY, ORG_A, skill_ids=["skill_b"])[0] == []
    assert "tool_b" not in tenants.names("tool_b", caller=ORG_A, mode="lexical", strategy="direct")


def test_decision_26_naming_a_tool_does_not_show_anothers_skill_of_it(system: System) -> None:
    system.skill("secret_of_b", at(0.9), org="b", description="A secret of organisation b.")
    system.tool("shared_tool", at(0.8), skills=["secret_of_b"])
    answer = system.search("shared_tool", caller=ORG_A, mode="lexical")
    assert answer.matched_skills == []
    assert [tool.name for tool in answer.tools] == ["shared_tool"]
    assert system.parts.tool_search.skills("shared_tool", ORG_A, mode="lexical")[0] == []


def test_decision_26_a_global_tool_names_no_skill_of_an_organisation(system: System) -> None:
    system.skill("secret_of_b", at(0.9), org="b")
    system.skill("everybodys", at(0.8))
    system.tool("shared_tool", at(0.8), skills=["secret_of_b", "everybodys"])
    for caller in (ORG_A, ORG_B):
        [hit] = system.search(caller=caller, strategy="direct").tools
        assert hit.skill_ids == ["everybodys"]
        assert system.parts.tool_search.tools(QUERY, caller, skill_ids=["secret_of_b"])[0] == []
        assert listed(system, caller, skill_id="secret_of_b") == []


def test_decision_26_a_global_skill_counts_no_tools_of_an_organisation(system: System) -> None:
    system.skill("everybodys", at(0.9))
    system.tool("shared_tool", at(0.8), skills=["everybodys"])
    system.tool("private_tool", at(0.8), skills=["everybodys"], org="b")
    [match] = system.search(caller=ORG_A).matched_skills
    assert match.tool_count == 1


def test_decision_26_skills_of_others_alone_are_no_skills(system: System) -> None:
    system.skill("of_b", at(0.9), org="b")
    system.tool("near", at(0.9))
    assert system.search(caller=ORG_A).metadata.fallback_reason == "no_skills"


def test_decision_26_a_fallback_shows_nobody_elses_tools(tenants: System) -> None:
    assert sorted(tenants.names(caller=ORG_A, skill_threshold=0.99, limit=50)) == ["tool_a", "tool_all"]


def listed(system: System, caller: Caller, **where: Any) -> list[str]:
    items, total = system.parts.catalogue.read.page(ItemFilter(**where), caller, limit=100, offset=0)
    assert total == len(items)
    return [each.content.key.name for each in items]


@pytest.mark.parametrize(("caller", "seen"), VIEWS)
def test_decision_26_the_catalogue_lists_global_items_and_the_callers_own(
    tenants: System, caller: Caller, seen: Sequence[str]
) -> None:
    assert listed(tenants, caller) == [f"tool_{who}" for who in seen]
    assert listed(tenants, caller, type="tool") == [f"tool_{who}" for who in seen]
    assert listed(tenants, caller, name="tool_b") == (["tool_b"] if "b" in seen else [])
    assert listed(tenants, caller, skill_id="skill_b") == (["tool_b"] if "b" in seen else [])


def test_decision_26_anothers_item_cannot_be_read_or_deleted(tenants: System) -> None:
    of_b = tenants.tool("private", None, org="b")
    for forbidden in (tenants.parts.catalogue.read.get, tenants.parts.catalogue.read.delete):
        with pytest.raises(NotFound):
            forbidden(of_b, ORG_A)
    assert tenants.parts.catalogue.read.get(of_b, ORG_B).org_id == "b"


def test_decision_26_a_global_item_can_be_read_but_not_deleted_by_an_organisation(tenants: System) -> None:
    shared = tenants.tool("shared", None)
    assert tenants.parts.catalogue.read.get(shared, ORG_A).org_id is None
    with pytest.raises(Forbidden, match="global"):
        tenants.parts.catalogue.read.delete(shared, ORG_A)
    assert tenants.parts.catalogue.read.get(shared, ORG_A)
    tenants.parts.catalogue.read.delete(shared, of_org(None))


def test_decision_26_a_global_caller_cannot_touch_an_organisations_item(tenants: System) -> None:
    of_a = tenants.tool("private", None, org="a")
    with pytest.raises(NotFound):
        tenants.parts.catalogue.read.get(of_a, of_org(None))
    with pytest.raises(NotFound):
        tenants.parts.catalogue.read.delete(of_a, of_org(None))


def test_decision_26_the_same_key_is_another_item_in_another_organisation(system: System) -> None:
    ids = {}
    for caller in (of_org(None), ORG_A, ORG_B):
        report = system.parts.catalogue.sync([item("same", description=f"of {caller.org_id}")], caller)
        assert [outcome.status for outcome in report.outcomes] == ["created"]
        ids[caller.org_id] = report.outcomes[0].id
    assert len(set(ids.values())) == 3
    changed = system.parts.catalogue.sync([item("same", description="changed by a")], ORG_A)
    assert [(outcome.status, outcome.id) for outcome in changed.outcomes] == [("updated", ids["a"])]
    descriptions = {each.content.description for each in system.parts.catalogue.read.page(
        ItemFilter(), ORG_B, limit=10, offset=0)[0]}  # fmt: skip
    assert descriptions == {"of None", "of b"}


def test_decision_26_the_organisation_never_comes_from_the_body(system: System) -> None:
    report = system.parts.catalogue.sync([item("sneaky", org_id="b")], ORG_A)
    written = report.outcomes[0].id
    assert written is not None
    stored = system.parts.catalogue.read.get(written, ORG_A)
    assert (stored.org_id, stored.content.metadata) == ("a", {})
    assert listed(system, ORG_B) == []


def test_decision_26_the_filter_runs_inside_the_index(tenants: System) -> None:
    tenants.search(caller=ORG_A)
    for collection in (SKILL_DOCUMENTS, TOOL_DOCUMENTS):
        (search,) = tenants.index.searches(collection)
        assert search.where is not None
        assert search.where.any_of["org_id"] == ["", "a"]


def test_table_embedder_gives_unknown_texts_the_first_axis() -> None:
    (vector,) = TableEmbedder().embed(["anything"], timeout_s=1)
    assert vector == at(1.0)
