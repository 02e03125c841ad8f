"""BR-001 to BR-009 of search-contract, bullet by bullet, over a real database and a real index.

`at(0.87)` is a vector whose cosine to every query is 0.87.
"""

from __future__ import annotations

import pytest
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.search.model import SearchRequest
from skillroute.search.plan import plan
from skillroute.skills.collection import SKILL_DOCUMENTS

from tests.builders import QUERY, System
from tests.doubles import LogRecords, at, once

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}, "at": {"type": "string"}}}


@pytest.fixture
def calendar(system: System) -> System:
    """Two matching skills and one that does not match; tools in each, and one tool in none."""
    system.skill("calendar_management", at(0.87), name="Calendar Management", description="Tools for calendars.")
    system.skill("communication", at(0.62), description="Tools for talking to people.")
    system.skill("database", at(0.1), description="Tools for tables of data.")
    system.tool("create_event", at(0.92), skills=["calendar_management"], input_schema=SCHEMA)
    system.tool("send_invite", at(0.78), skills=["communication", "calendar_management"])
    system.tool("list_events", at(0.5), skills=["calendar_management"])
    system.tool("run_query", at(0.95), skills=["database"])
    system.tool("stray", at(0.99))
    return system


# BR-001: two stages and enrichment


def test_br_001_the_query_is_embedded_exactly_once_for_both_stages(calendar: System) -> None:
    answer = calendar.search()
    assert answer.matched_skills and answer.tools
    assert calendar.embedder.texts == [QUERY]


def test_br_001_the_query_is_embedded_exactly_once_by_the_hybrid_strategy(calendar: System) -> None:
    calendar.search(strategy="hybrid")
    assert calendar.embedder.texts == [QUERY]


def test_br_001_stage_1_searches_the_collection_mcp_skills(calendar: System) -> None:
    calendar.search(skill_limit=2, skill_threshold=0.45)
    (stage1,) = calendar.index.searches(SKILL_DOCUMENTS)
    assert (SKILL_DOCUMENTS, stage1.limit, stage1.threshold) == ("mcp_skills", 2, 0.45)


def test_br_001_stage_1_returns_at_most_skill_limit_skills(calendar: System) -> None:
    assert [skill.id for skill in calendar.search(skill_limit=1).matched_skills] == ["calendar_management"]


def test_br_001_stage_1_returns_skills_with_a_score_of_at_least_skill_threshold(calendar: System) -> None:
    matched = calendar.search(skill_threshold=0.62).matched_skills
    assert [skill.id for skill in matched] == ["calendar_management", "communication"]
    assert [skill.id for skill in calendar.search(skill_threshold=0.63).matched_skills] == ["calendar_management"]


def test_br_001_stage_2_searches_the_collection_mcp_unified_search(calendar: System) -> None:
    calendar.search(tool_threshold=0.35)
    (stage2,) = calendar.index.searches(TOOL_DOCUMENTS)
    assert (TOOL_DOCUMENTS, stage2.threshold) == ("mcp_unified_search", 0.35)


def test_br_001_stage_2_filters_by_the_skills_of_stage_1(calendar: System) -> None:
    calendar.search()
    (stage2,) = calendar.index.searches(TOOL_DOCUMENTS)
    assert stage2.where is not None
    assert stage2.where.any_of["skill_keys"] == ["calendar_management", "communication"]


def test_br_001_every_returned_tool_belongs_to_a_matched_skill(calendar: System) -> None:
    answer = calendar.search(limit=50, tool_threshold=0.0)
    matched = {skill.id for skill in answer.matched_skills}
    assert {tool.name for tool in answer.tools} == {"create_event", "send_invite", "list_events"}
    assert all(matched & set(tool.skill_ids) for tool in answer.tools)


def test_br_001_stage_2_returns_at_most_limit_tools(calendar: System) -> None:
    assert calendar.names(limit=2) == ["create_event", "send_invite"]


def test_br_001_stage_2_returns_tools_with_a_score_of_at_least_tool_threshold(calendar: System) -> None:
    assert calendar.names(tool_threshold=0.78) == ["create_event", "send_invite"]
    assert calendar.names(tool_threshold=0.79) == ["create_event"]


def test_br_001_stage_3_loads_the_full_input_schema(calendar: System) -> None:
    first = calendar.search().tools[0]
    assert first.input_schema == SCHEMA
    assert first.input_schema is not None
    assert list(first.input_schema["properties"]) == ["title", "at"]


def test_br_001_stage_3_does_not_run_without_include_schemas(calendar: System) -> None:
    answer = calendar.search(include_schemas=False)
    assert [tool.input_schema for tool in answer.tools] == [None] * 3
    assert calendar.database.schema_loads == []


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
def test_br_001_results_are_sorted_by_score_descending(calendar: System, strategy: str) -> None:
    scores = [tool.score for tool in calendar.search(strategy=strategy, limit=50, tool_threshold=0.0).tools]
    assert len(scores) >= 3
    assert scores == sorted(scores, reverse=True)


def test_br_001_schemas_are_loaded_only_for_returned_tools(calendar: System) -> None:
    answer = calendar.search(limit=2)
    assert answer.metadata.stage2_candidate_count == 3
    assert calendar.database.schema_loads == [[tool.db_id for tool in answer.tools]]


# BR-002: skill matching


def test_br_002_a_skills_score_is_its_cosine_similarity(calendar: System) -> None:
    scores = [skill.score for skill in calendar.search().matched_skills]
    assert scores == pytest.approx([0.87, 0.62], abs=1e-6)


def test_br_002_a_score_of_exactly_the_default_threshold_matches(system: System) -> None:
    system.skill("exactly", at(0.4))
    system.skill("below", at(0.3999))
    assert [skill.id for skill in system.search().matched_skills] == ["exactly"]


def test_br_002_the_threshold_can_be_raised_and_lowered(system: System) -> None:
    system.skill("near", at(0.7))
    system.skill("far", at(0.2))
    assert [s.id for s in system.search(skill_threshold=0.2).matched_skills] == ["near", "far"]
    assert [s.id for s in system.search(skill_threshold=0.7).matched_skills] == ["near"]
    assert system.search(skill_threshold=0.71).matched_skills == []


def test_br_002_three_skills_match_unless_the_request_says_otherwise(system: System) -> None:
    for number in range(5):
        system.skill(f"skill_{number}", at(0.9 - number / 10))
    assert [skill.id for skill in system.search().matched_skills] == ["skill_0", "skill_1", "skill_2"]
    assert len(system.search(skill_limit=5).matched_skills) == 5


def test_br_002_each_skill_carries_its_tool_count(calendar: System) -> None:
    counts = {skill.id: skill.tool_count for skill in calendar.search().matched_skills}
    assert counts == {"calendar_management": 3, "communication": 1}


def test_br_002_only_active_skills_are_included(calendar: System) -> None:
    calendar.sql("UPDATE mcp.skill_categories SET is_active = false WHERE id = 'calendar_management'")
    answer = calendar.search()
    assert [skill.id for skill in answer.matched_skills] == ["communication"]
    assert [tool.name for tool in answer.tools] == ["send_invite"]


def test_br_002_deleted_skills_are_not_included(calendar: System) -> None:
    calendar.search()
    calendar.sql("UPDATE mcp.skill_categories SET is_active = false, deleted_at = now() WHERE id = 'communication'")
    assert [skill.id for skill in calendar.search().matched_skills] == ["calendar_management"]


def test_br_002_a_higher_tool_count_does_not_rank_a_skill_higher(system: System) -> None:
    system.skill("large", at(0.6))
    system.skill("small", at(0.61))
    system.tools([(f"tool_{n}", at(0.5)) for n in range(20)], skills=["large"])
    matched = system.search().matched_skills
    assert [(skill.id, skill.tool_count) for skill in matched] == [("small", 0), ("large", 20)]


def test_br_002_a_skill_says_id_name_description_score_and_tool_count(calendar: System) -> None:
    assert calendar.search().matched_skills[0].model_dump() == {
        "id": "calendar_management",
        "name": "Calendar Management",
        "description": "Tools for calendars.",
        "score": pytest.approx(0.87, abs=1e-6),
        "tool_count": 3,
    }


# BR-003: tool search with a skill filter


def test_br_003_a_tool_passes_when_any_of_its_skills_matched(calendar: System) -> None:
    answer = calendar.search(skill_threshold=0.8)
    assert [skill.id for skill in answer.matched_skills] == ["calendar_management"]
    assert "send_invite" in [tool.name for tool in answer.tools], "calendar_management is its second skill"


def test_br_003_a_tools_score_is_its_cosine_similarity(calendar: System) -> None:
    scores = [tool.score for tool in calendar.search().tools]
    assert scores == pytest.approx([0.92, 0.78, 0.5], abs=1e-6)


def test_br_003_a_score_of_exactly_the_default_threshold_matches(system: System) -> None:
    system.skill("any_skill", at(0.9))
    system.tool("exactly", at(0.3), skills=["any_skill"])
    system.tool("below", at(0.2999), skills=["any_skill"])
    assert system.names() == ["exactly"]


def test_br_003_five_tools_are_returned_unless_the_request_says_otherwise(system: System) -> None:
    system.skill("any_skill", at(0.9))
    system.tools([(f"tool_{n}", at(0.9 - n / 100)) for n in range(60)], skills=["any_skill"])
    assert system.names() == [f"tool_{n}" for n in range(5)]
    assert len(system.names(limit=50)) == 50


def test_br_003_each_tool_carries_all_its_skills_and_the_primary_one(calendar: System) -> None:
    tools = {tool.name: tool for tool in calendar.search().tools}
    assert tools["send_invite"].skill_ids == ["communication", "calendar_management"]
    assert tools["send_invite"].primary_skill_id == "communication"


def test_br_003_a_tool_of_no_matched_skill_is_not_returned_however_near_it_is(calendar: System) -> None:
    assert "run_query" not in calendar.names(limit=50)


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_br_003_only_active_tools_are_returned(calendar: System, strategy: str, mode: str) -> None:
    query = "create_event or send_invite"
    assert "create_event" in calendar.names(query, strategy=strategy, mode=mode)
    calendar.sql("UPDATE mcp.tools SET is_active = false WHERE name = 'create_event'")
    names = calendar.names(query, strategy=strategy, mode=mode)
    assert "create_event" not in names
    assert "send_invite" in names


def test_br_003_an_inactive_tool_no_longer_counts_for_its_skill(calendar: System) -> None:
    calendar.search()
    calendar.sql("UPDATE mcp.tools SET is_active = false WHERE name = 'create_event'")
    assert calendar.search().matched_skills[0].tool_count == 2


# BR-004: schema enrichment


def test_br_004_input_schema_output_schema_and_annotations_are_attached(system: System) -> None:
    system.tool("full", at(0.9), input_schema={"a": 1}, output_schema={"b": 2}, annotations={"readOnlyHint": True})
    (tool,) = system.search().tools
    assert (tool.input_schema, tool.output_schema, tool.annotations) == ({"a": 1}, {"b": 2}, {"readOnlyHint": True})


def test_br_004_each_tool_gets_its_own_schema(system: System) -> None:
    system.tool("first", at(0.9), input_schema={"title": "first"})
    system.tool("second", at(0.8), input_schema={"title": "second"})
    assert {t.name: t.input_schema for t in system.search().tools} == {
        "first": {"title": "first"},
        "second": {"title": "second"},
    }


def test_br_004_all_schemas_come_in_one_query(calendar: System) -> None:
    calendar.search()
    assert len(calendar.database.schema_loads) == 1
    assert len(calendar.database.schema_loads[0]) == 3


def test_br_004_a_tool_without_schemas_has_null(system: System) -> None:
    system.tool("plain", at(0.9))
    (tool,) = system.search().tools
    assert (tool.input_schema, tool.output_schema, tool.annotations) == (None, None, None)


def test_br_004_a_tool_whose_row_is_gone_is_returned_with_null(system: System) -> None:
    system.tool("gone", at(0.9), input_schema=SCHEMA)
    system.tool("still_there", at(0.8), input_schema=SCHEMA)
    system.database.before_read = lambda: system.sql("DELETE FROM mcp.tools WHERE name = 'gone'")
    answer = system.search()
    assert [(t.name, t.input_schema) for t in answer.tools] == [("gone", None), ("still_there", SCHEMA)]


def test_br_004_at_most_limit_schemas_are_loaded(system: System) -> None:
    system.tools([(f"tool_{n}", at(0.9)) for n in range(10)], input_schema=SCHEMA)
    system.search(limit=3)
    assert [len(ids) for ids in system.database.schema_loads] == [3]


def test_br_004_a_failed_lookup_leaves_the_tool_with_null(calendar: System) -> None:
    calendar.database.down = True
    answer = calendar.search()
    assert [tool.name for tool in answer.tools] == ["create_event", "send_invite", "list_events"]
    assert [tool.input_schema for tool in answer.tools] == [None] * 3


def test_br_004_schemas_are_remembered_between_searches(calendar: System) -> None:
    calendar.search()
    again = calendar.search()
    assert again.tools[0].input_schema == SCHEMA
    assert len(calendar.database.schema_loads) == 1


def test_br_004_a_changed_schema_is_not_served_from_memory(calendar: System) -> None:
    calendar.search()
    calendar.tool("create_event", at(0.92), skills=["calendar_management"], input_schema={"new": True})
    assert calendar.search().tools[0].input_schema == {"new": True}


# BR-005: item types


@pytest.fixture
def all_types(system: System) -> System:
    system.skill("any_skill", at(0.9))
    system.tool("a_tool", at(0.7), skills=["any_skill"])
    system.tool("a_prompt", at(0.8), skills=["any_skill"], type="prompt")
    system.tool("a_resource", at(0.9), skills=["any_skill"], type="resource")
    return system


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
def test_br_005_null_searches_all_types(all_types: System, strategy: str) -> None:
    types = [tool.type for tool in all_types.search(item_type=None, strategy=strategy).tools]
    assert types == ["resource", "prompt", "tool"]


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
@pytest.mark.parametrize("item_type", ["tool", "prompt", "resource"])
def test_br_005_a_type_returns_items_of_that_type_only(all_types: System, item_type: str, strategy: str) -> None:
    answer = all_types.search(item_type=item_type, strategy=strategy)
    assert [(tool.type, tool.name) for tool in answer.tools] == [(item_type, f"a_{item_type}")]


def test_br_005_a_fallback_filters_by_type_too(all_types: System) -> None:
    answer = all_types.search(item_type="prompt", skill_threshold=0.95)
    assert answer.metadata.fallback_reason == "no_skill_matched"
    assert [tool.name for tool in answer.tools] == ["a_prompt"]


@pytest.mark.parametrize("item_type", ["tool", "prompt", "resource"])
def test_br_005_a_lexical_search_filters_by_type_too(all_types: System, item_type: str) -> None:
    query = "a_tool or a_prompt or a_resource"
    answer = all_types.search(query, item_type=item_type, mode="lexical", strategy="direct")
    assert [tool.type for tool in answer.tools] == [item_type]


def test_br_005_the_type_is_a_condition_of_the_index_search(all_types: System) -> None:
    all_types.search(item_type="tool")
    (stage2,) = all_types.index.searches(TOOL_DOCUMENTS)
    assert stage2.where is not None
    assert stage2.where.any_of["type"] == ["tool"]


def test_br_005_skills_have_no_type_so_stage_1_matches_them_for_every_type(all_types: System) -> None:
    for item_type in ("tool", "prompt", "resource"):
        assert [skill.id for skill in all_types.search(item_type=item_type).matched_skills] == ["any_skill"]


# BR-006: fallback to unfiltered search


def test_br_006_when_all_skills_are_below_the_threshold_all_tools_are_searched(calendar: System) -> None:
    answer = calendar.search(skill_threshold=0.9)
    assert [tool.name for tool in answer.tools] == ["stray", "run_query", "create_event", "send_invite", "list_events"]
    assert answer.matched_skills == []


def test_br_006_the_fallback_is_logged_as_a_warning(calendar: System, log: LogRecords) -> None:
    calendar.search(skill_threshold=0.9)
    (warning,) = log.having("No skills matched, falling back to unfiltered search")
    assert warning.levelname == "WARNING"


def test_br_006_a_search_that_matches_skills_logs_no_fallback(calendar: System, log: LogRecords) -> None:
    calendar.search()
    assert log.having("No skills matched, falling back to unfiltered search") == []


def test_br_006_the_fallback_keeps_the_tool_threshold_and_the_limit(calendar: System) -> None:
    assert calendar.names(skill_threshold=0.9, tool_threshold=0.95) == ["stray", "run_query"]
    assert calendar.names(skill_threshold=0.9, limit=1) == ["stray"]


def test_br_006_the_fallback_says_that_no_skill_ids_were_used(calendar: System) -> None:
    metadata = calendar.search(skill_threshold=0.9).metadata
    assert (metadata.skill_ids_used, metadata.stage1_skill_count) == (None, 0)


def test_br_006_without_any_skill_all_tools_are_searched(system: System) -> None:
    system.tool("lonely", at(0.9))
    answer = system.search()
    assert [tool.name for tool in answer.tools] == ["lonely"]
    assert answer.metadata.fallback_reason == "no_skills"


def test_br_006_the_fallback_answers_as_a_direct_search_does(calendar: System) -> None:
    direct = calendar.search(strategy="direct")
    fallback = calendar.search(skill_threshold=0.9)
    assert fallback.tools == direct.tools


def test_br_006_a_fallback_still_loads_schemas(calendar: System) -> None:
    tools = {tool.name: tool for tool in calendar.search(skill_threshold=0.9).tools}
    assert tools["create_event"].input_schema == SCHEMA


# BR-007: metadata


TIMES = ("query_embedding_time_ms", "skill_search_time_ms", "tool_search_time_ms", "schema_load_time_ms")


def test_br_007_each_stage_that_ran_took_time(calendar: System) -> None:
    metadata = calendar.search().metadata.model_dump()
    assert all(metadata[name] > 0.0 for name in (*TIMES, "index_sync_time_ms")), metadata


def test_br_007_the_total_is_at_least_the_sum_of_the_stages(calendar: System) -> None:
    metadata = calendar.search().metadata.model_dump()
    assert metadata["total_time_ms"] >= sum(metadata[name] for name in (*TIMES, "index_sync_time_ms")) - 0.01


def test_br_007_stages_that_did_not_run_took_no_time(calendar: System) -> None:
    metadata = calendar.search(strategy="direct", mode="lexical", include_schemas=False).metadata
    assert metadata.query_embedding_time_ms == 0.0
    assert metadata.skill_search_time_ms == 0.0
    assert metadata.schema_load_time_ms == 0.0
    assert metadata.tool_search_time_ms > 0.0


def test_br_007_the_counts_are_those_of_the_answer(calendar: System) -> None:
    answer = calendar.search(limit=2)
    assert answer.metadata.stage1_skill_count == len(answer.matched_skills) == 2
    assert answer.metadata.stage2_candidate_count == 3
    assert answer.metadata.final_count == len(answer.tools) == 2


def test_br_007_candidates_below_the_threshold_are_not_counted(calendar: System) -> None:
    assert calendar.search(tool_threshold=0.6).metadata.stage2_candidate_count == 2


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
def test_br_007_the_strategy_is_named(calendar: System, strategy: str) -> None:
    assert calendar.search(strategy=strategy).metadata.strategy_used == strategy


def test_br_007_the_skills_used_are_named_in_the_order_of_their_scores(calendar: System) -> None:
    assert calendar.search().metadata.skill_ids_used == ["calendar_management", "communication"]


def test_br_007_each_search_is_counted(calendar: System, counted) -> None:  # type: ignore[no-untyped-def]
    calendar.search()
    calendar.search(strategy="direct")
    assert counted("Search") == 2


# BR-008: the direct strategy


def test_br_008_direct_skips_stage_1_entirely(calendar: System) -> None:
    calendar.search(strategy="direct")
    asked = [call for call in calendar.index.calls if call.collection is SKILL_DOCUMENTS]
    assert [call.method for call in asked if call.method not in {"upsert", "count"}] == []


def test_br_008_direct_searches_tools_without_a_skill_filter(calendar: System) -> None:
    names = calendar.names(strategy="direct")
    assert names == ["stray", "run_query", "create_event", "send_invite", "list_events"]
    (stage2,) = calendar.index.searches(TOOL_DOCUMENTS)
    assert stage2.where is not None
    assert "skill_keys" not in stage2.where.any_of


def test_br_008_direct_applies_the_item_type(all_types: System) -> None:
    assert all_types.names(strategy="direct", item_type="prompt") == ["a_prompt"]


def test_br_008_direct_applies_the_tool_threshold(calendar: System) -> None:
    assert calendar.names(strategy="direct", tool_threshold=0.9) == ["stray", "run_query", "create_event"]


def test_br_008_direct_returns_no_matched_skills_and_uses_none(calendar: System) -> None:
    answer = calendar.search(strategy="direct")
    assert answer.matched_skills == []
    assert answer.metadata.skill_ids_used is None
    assert answer.metadata.stage1_skill_count == 0


def test_br_008_direct_is_no_fallback(calendar: System, log: LogRecords) -> None:
    assert calendar.search(strategy="direct").metadata.fallback_reason is None
    assert log.having("No skills matched, falling back to unfiltered search") == []


# BR-009: scores within 0..1


def test_br_009_a_negative_cosine_becomes_0(system: System) -> None:
    system.skill("opposite", at(-0.6))
    system.tool("opposite_tool", at(-0.5), skills=["opposite"])
    answer = system.search(skill_threshold=0.0, tool_threshold=0.0)
    assert [(skill.id, skill.score) for skill in answer.matched_skills] == [("opposite", 0.0)]
    assert [(tool.name, tool.score, tool.similarity) for tool in answer.tools] == [("opposite_tool", 0.0, 0.0)]


def test_br_009_a_negative_cosine_is_below_every_threshold_above_0(system: System) -> None:
    system.tool("opposite_tool", at(-0.9))
    assert system.names(tool_threshold=0.01) == []


def test_br_009_an_identical_vector_scores_1_and_no_more(system: System) -> None:
    vector = [0.1, 0.7, 0.3, 0.5, 0.2, 0.1, 0.3, 0.1]
    norm = sum(x * x for x in vector) ** 0.5
    unit = [x / norm for x in vector]
    system.embedder._inner.table[QUERY] = unit  # type: ignore[attr-defined]
    system.tool("same", unit)
    assert system.search().tools[0].score == 1.0


def test_br_009_scores_are_not_mapped_by_half_of_cosine_plus_one(system: System) -> None:
    system.tool("at_right_angles", at(0.0))
    assert system.names(tool_threshold=0.4) == []
    assert system.search(tool_threshold=0.0).tools[0].score == 0.0


@pytest.mark.parametrize("strategy", ["hierarchical", "direct", "hybrid"])
@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_br_009_every_score_lies_within_0_and_1(system: System, strategy: str, mode: str) -> None:
    for step in range(-10, 11):
        cosine = step / 10
        system.skill(f"skill_{step + 10}", at(cosine), description="Schedule a meeting with people.")
        system.tool(f"meeting_{step + 10}", at(cosine), skills=[f"skill_{step + 10}"])
    answer = system.search(
        strategy=strategy, mode=mode, skill_threshold=0.0, tool_threshold=0.0, skill_limit=10, limit=50
    )
    scores = [tool.score for tool in answer.tools] + [skill.score for skill in answer.matched_skills]
    assert len(scores) >= 20 or strategy != "hybrid"
    assert scores
    assert all(0.0 <= score <= 1.0 for score in scores)


def test_br_001_the_default_request_is_that_of_the_contract() -> None:
    request = SearchRequest(query=QUERY)

    planned = plan(request, "semantic")

    assert (planned.skill_limit, planned.skill_threshold, planned.tool_threshold) == (3, 0.4, 0.3)
    assert request.model_dump() == {
        "query": QUERY,
        "item_type": None,
        "limit": 5,
        # Null is the mode's own: in `semantic` the contract's, above.
        "skill_limit": None,
        "skill_threshold": None,
        "tool_threshold": None,
        "include_schemas": True,
        "strategy": "hierarchical",
        "mode": None,
        # Beside the contract, and off.
        "explain": False,
        "collapse_duplicates": False,
        "used_with": False,
        "server": None,
        "format": None,
        "needs": None,
        "no_match_below": None,
    }


def test_br_004_schemas_are_remembered_as_those_of_the_content_that_they_came_with(system: System) -> None:
    # GIVEN an item that changes after the index has seen it and before its schemas are loaded
    def write(version: int) -> None:
        system.tool("a", at(0.9), input_schema={"v": version})

    def found() -> object:
        (tool,) = system.search().tools
        return tool.input_schema

    write(1)
    system.database.before_read = once(lambda: write(2))
    assert found() == {"v": 2}, "the newer one is not wrong"
    # WHEN it changes back
    write(1)
    # THEN the other version's are not taken for its own
    assert found() == {"v": 1}
    # AND both are remembered, each as its own
    loads = len(system.database.schema_loads)
    for version in (2, 1, 2):
        write(version)
        assert found() == {"v": version}
    assert len(system.database.schema_loads) == loads
