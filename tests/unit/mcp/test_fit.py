"""Answers within a budget of tokens, as the embedding model's tokenizer counts them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import validate
from skillroute.core.embedding.packaged import default_model, models_dir
from skillroute.core.embedding.tokens import TokenCounter
from skillroute.mcp.fit import byte_limit, fit, token_limit
from skillroute.mcp.rpc import to_text
from skillroute.mcp.shown import DETAILS, Detail, forms
from skillroute.mcp.tools.search_tools import _OUTPUT, MIN_TOKENS, TOKENS_OF_A_NEED, answer
from skillroute.search.answer.explanation import LimitedSearchResponse
from skillroute.search.model import MAX_NEEDS, EnrichedTool, SearchMetadata, SearchResponse, SkillMatch
from skillroute.search.needs.answer import NeedAnswered, NeededTool, NeedsMetadata, NeedsSearchResponse


@cache
def counter() -> TokenCounter:
    return TokenCounter(models_dir() / default_model() / "tokenizer.json")


def found(tools: list[EnrichedTool], degraded: Any = (), skills: Any = (), **more: Any) -> SearchResponse:
    known = {"schemas_omitted": [], "descriptions_cut": False, "no_match": False}
    known |= {"language": None, "language_unknown_to_model": False}
    metadata = SearchMetadata.model_construct(degraded=list(degraded), **(known | more))
    return SearchResponse.model_construct(query="q", tools=tools, matched_skills=list(skills), metadata=metadata)


def tool(name: str, description: str = "", **more: Any) -> EnrichedTool:
    known = {"server": "mail", "type": "tool", "score": 0.5, "db_id": 7, "input_schema": None}
    return EnrichedTool.model_construct(name=name, description=description, **(known | more))


TEXT = st.text(max_size=40) | st.text('ab _-./"\\\n{}天é🙂', max_size=200) | st.sampled_from(["x" * 5000, " " * 5000])
SCHEMAS = st.none() | st.dictionaries(
    st.sampled_from(["properties", "required", "type", "description"]),
    TEXT | st.dictionaries(TEXT, st.dictionaries(st.sampled_from(["type", "description"]), TEXT), max_size=4),
    max_size=3,
)
TOOLS = st.lists(
    st.builds(
        tool,
        st.text(min_size=1, max_size=256),
        TEXT,
        server=st.none() | st.text(min_size=1, max_size=256),
        type=st.sampled_from(["tool", "prompt", "resource"]),
        score=st.floats(0, 1),
        db_id=st.integers(1, 2**63 - 1),
        input_schema=SCHEMAS,
        output_schema=SCHEMAS,
        annotations=SCHEMAS,
    ),
    max_size=8,
)
DEGRADED = st.lists(
    st.sampled_from(["embedding_unavailable", "vectors_missing", "tool_search_failed", "index_stale"]), max_size=4
)
SKILLS = st.lists(
    st.builds(
        lambda id_: SkillMatch(id=id_, name="n", description="d", score=0.1, tool_count=0),
        st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True) | st.just("a_" * 32),
    ),
    max_size=2,
)


@settings(max_examples=max(200, settings.default.max_examples))
@given(TOOLS, DEGRADED, SKILLS, st.sampled_from(DETAILS), st.integers(MIN_TOKENS, 1500), st.booleans())
@example([], [], [SkillMatch(id="a_" * 32, name="n", description="d", score=0.1, tool_count=0)], "full", 100, False)
@example([tool("x" * 256)] * 8, ["embedding_unavailable", "vectors_missing", "index_stale"], [], "full", 100, True)
def test_a_budget_is_never_exceeded_and_an_answer_never_empty_when_something_fits(
    tools: list[EnrichedTool], degraded: list[str], skills: list[SkillMatch], most: Detail, budget: int, no_match: bool
) -> None:
    notes = {"no_match": True, "schemas_omitted": ["1"] * 50, "descriptions_cut": True} if no_match else {}
    notes |= {"language": "pt", "language_unknown_to_model": True} if no_match else {}
    response = found(tools, degraded, skills, **notes)

    shown = answer(response, most, [byte_limit(), token_limit(counter(), budget)], by_budget=True)

    assert counter()(to_text(shown)) <= budget
    validate(shown, _OUTPUT)
    assert len(shown["tools"]) + shown.get("omitted", 0) == len(tools)
    if not shown["tools"]:
        for each in tools:
            alone = {"tools": [forms(each, most)[0]], "omitted": len(tools) - 1, "degraded": [*dict.fromkeys(degraded)]}
            if no_match:
                alone = answer(response, "name", [byte_limit()], by_budget=False) | alone
            said = {name: value for name, value in alone.items() if value}
            assert counter()(to_text(said)) > budget


def needed(confidences: list[float | None], tools: list[EnrichedTool], **more: Any) -> NeedsSearchResponse:
    """Return an answer to as many needs as there are confidences; nothing fits those with less than a half."""
    needs = [
        NeedAnswered(need="n", confidence=one, confidence_first_five=one, no_match=one is None or one < 0.5)
        for one in confidences
    ]
    response = found(tools, **more)
    metadata = NeedsMetadata.model_construct(**dict(response.metadata), needs=needs)
    serving = [NeededTool.model_construct(**dict(each), needs=[*range(len(needs))]) for each in tools]
    return NeedsSearchResponse.model_construct(**dict(response) | {"tools": serving, "metadata": metadata})


@settings(max_examples=max(200, settings.default.max_examples))
@given(
    TOOLS,
    st.lists(st.none() | st.floats(0, 1), min_size=1, max_size=MAX_NEEDS),
    st.sampled_from(DETAILS),
    st.integers(0, 500),
)
@example([tool("x" * 256)] * 8, [0.4321] * MAX_NEEDS, "full", 0)
def test_what_is_said_of_needs_is_within_the_budget(
    tools: list[EnrichedTool], confidences: list[float | None], most: Detail, more: int
) -> None:
    budget = MIN_TOKENS + TOKENS_OF_A_NEED * len(confidences) + more
    degraded = ["embedding_unavailable", "vectors_missing", "index_stale"]
    response = needed(confidences, tools, degraded=degraded, schemas_omitted=["1"] * 50, descriptions_cut=True)
    shown = answer(response, most, [byte_limit(), token_limit(counter(), budget)], by_budget=True)
    assert counter()(to_text(shown)) <= budget
    validate(shown, _OUTPUT)
    assert shown.get("no_match", []) == [n for n, one in enumerate(confidences) if one is None or one < 0.5]
    assert all(each["needs"] == [*range(len(confidences))] for each in shown["tools"])


@given(TOOLS, st.sampled_from(DETAILS))
def test_without_a_budget_every_result_is_shown_in_the_detail_that_is_asked_for(
    tools: list[EnrichedTool], most: Detail
) -> None:
    shown = answer(found(tools), most, [byte_limit()], by_budget=False)
    assert shown["tools"] == [forms(each, most)[-1] for each in tools]


def test_more_budget_says_more_of_the_same_results() -> None:
    schema = {"properties": {"to": {"type": "string", "description": "Whom it goes to. " * 5}}, "required": ["to"]}
    tools = [
        tool(f"send_{number}", "Send a letter. " * 9, input_schema=schema, db_id=number + 1) for number in range(5)
    ]

    def details(budget: int) -> list[str]:
        shown = answer(found(tools), "full", [byte_limit(), token_limit(counter(), budget)], by_budget=True)["tools"]
        assert [each["id"] for each in shown] == [1, 2, 3, 4, 5][: len(shown)]
        marks = {"input_schema": "full", "signature": "signature", "description": "brief", "id": "name"}
        return [next(detail for field, detail in marks.items() if field in each) for each in shown]

    assert details(100) == ["name"] * 2
    assert details(130) == ["name"] * 3
    assert details(180) == ["name"] * 5
    assert details(210) == ["brief", *["name"] * 4]
    assert details(280) == ["signature", "signature", "brief", "name", "name"]
    assert details(380) == ["signature"] * 5
    assert details(630) == ["full"] * 3 + ["signature"] * 2
    assert details(830) == ["full"] * 5


def test_where_bytes_run_out_less_is_shown_of_the_last_results_and_how_many_these_are() -> None:
    schema = {"properties": {"a": {"type": "string"}}}
    tools = [tool(f"t{number}", "x" * 400_000, db_id=number, input_schema=schema) for number in range(1, 6)]
    shown = answer(found(tools), "full", [byte_limit()], by_budget=False)
    assert ["input_schema" in each for each in shown["tools"]] == [True, True, False, False, False]
    assert ["signature" in each for each in shown["tools"]] == [False, False, True, True, True]
    assert shown["shortened"] == 3
    assert "shortened" not in answer(found(tools[:2]), "full", [byte_limit()], by_budget=False)


def test_a_tool_whose_schemas_are_not_here_has_no_signature() -> None:
    """Without arguments `send()` would say that it takes none."""
    shown = answer(found([tool("send")], schemas_omitted=["send"]), "signature", [byte_limit()], by_budget=False)
    assert "signature" not in shown["tools"][0]
    assert shown["schemas_omitted"] == 1
    [empty] = answer(found([tool("send", input_schema={})]), "signature", [byte_limit()], by_budget=False)["tools"]
    assert empty["signature"] == "send()"


def test_cut_descriptions_are_noted() -> None:
    shown = answer(found([tool("send")], descriptions_cut=True), "full", [byte_limit()], by_budget=False)
    assert shown["descriptions_cut"] is True


def test_the_nearest_tools_come_with_a_hint_where_none_fits() -> None:
    shown = answer(found([tool("send")], no_match=True), "name", [byte_limit()], by_budget=False)
    assert [each["name"] for each in shown["tools"]] == ["send"]
    assert shown["hint"].startswith("No tool fits, these are the nearest: ")
    assert "hint" not in answer(found([tool("send")]), "name", [byte_limit()], by_budget=False)


def test_results_without_room_say_to_raise_the_budget() -> None:
    shown = answer(found([tool("x-" * 200)]), "name", [byte_limit(), token_limit(counter(), 100)], by_budget=True)
    assert shown == {"tools": [], "omitted": 1, "hint": "No result has room: raise budget_tokens."}


def test_nothing_of_a_type_says_that_there_may_be_others() -> None:
    shown = answer(found([], no_match=True), "name", [byte_limit()], by_budget=False, item_type="prompt")
    assert shown["hint"] == "Nothing of type prompt is found: without item_type there may be something."


def test_a_server_that_has_nothing_is_named() -> None:
    nothing = LimitedSearchResponse.model_construct(**dict(found([], no_match=True)), unknown_servers=["gitbub"])
    shown = answer(nothing, "name", [byte_limit()], by_budget=False)
    assert shown["hint"] == "No server is called gitbub: leave server out, or see list_tool_groups."


def test_what_a_tokenizer_sees_differently_as_a_whole_is_taken_back() -> None:
    """A measure by which two results together are more than the sum of both."""

    def measure(text: str) -> int:
        return len(text) * 10 if text.count("name") > 1 else 1

    results = [[{"name": "a"}, {"name": "a", "more": 1}], [{"name": "b"}, {"name": "b", "more": 1}]]
    shown = fit(results, lambda each: {"tools": each}, [token_limit(measure, 40)], [1])
    assert shown == {"tools": [{"name": "a"}]}


def test_equal_answers_are_equal_bytes() -> None:
    tools = [tool("send", "Send.", input_schema={"properties": {"b": {}, "a": {}}})]
    first, again = (
        to_text(answer(found(tools), "full", [byte_limit(), token_limit(counter(), 500)], by_budget=True))
        for _ in range(2)
    )
    assert first == again


def test_tokens_are_counted_to_the_end_of_a_text() -> None:
    count = counter()
    assert count("schedule a meeting") == 3
    assert count("word " * 3000) == 3000, "the model reads fewer"
    assert count("x" * 10_000) >= 100, "a word of any length is one unknown token to the model"
    assert count("half of a pair: \ud800") > 0


def test_little_is_counted_of_what_is_far_too_large() -> None:
    looked_at = 0

    def count(text: str) -> int:
        nonlocal looked_at
        looked_at += len(text)
        return len(text) // 4

    schema = {"properties": {f"argument_{number}": {"type": "string"} for number in range(5_000)}}
    tools = [tool(f"t{number}", "x" * 7_000, input_schema=schema, db_id=number) for number in range(1, 51)]
    answer(found(tools), "full", [byte_limit(), token_limit(count, 2000)], by_budget=True)
    assert looked_at < 50 * 2_000


@pytest.mark.parametrize("tools", [[], [tool("send_email")]])
def test_a_request_in_a_language_that_the_model_does_not_know_is_to_be_asked_in_english(
    tools: list[EnrichedTool],
) -> None:
    response = found(
        tools,
        skills=[SkillMatch(id="mail", name="n", description="d", score=0.1, tool_count=1)],
        language="es",
        language_unknown_to_model=True,
        no_match=True,
    )
    shown = answer(response, "name", [byte_limit()], by_budget=False)
    assert shown["language"] == "es"
    assert shown["hint"] == "This seems to be Spanish; only English is understood: ask in English."


def test_a_language_that_the_model_may_know_is_told_without_a_hint() -> None:
    shown = answer(found([tool("send_email")], language="es"), "name", [byte_limit()], by_budget=False)
    assert (shown["language"], "hint" in shown) == ("es", False)
