"""Section 7 of message-search: what the tools take, what they mean by it, and what they say to everything else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from skillroute.core.errors.model import InvalidInput
from skillroute.mail.model import to_ts
from skillroute.mail.search.model import MAX_TEXT
from skillroute.mail.search.tools.arguments import SEARCH_MESSAGES, SEARCH_MESSAGES_PRODUCT, Tool, ToolArguments

REQUIRED = {"search_messages": {"project_key": "atlas"}, "search_messages_product": {"product_key": "suite"}}
CURSOR = "s3ff0000000000000:i7:etantivy"


def judge(tool: Tool = SEARCH_MESSAGES, **arguments: Any) -> ToolArguments:
    return tool.judge({**REQUIRED[tool.name], "query": "approval", **arguments})


def ts(*moment: int) -> int:
    return to_ts(datetime(*moment, tzinfo=UTC))  # type: ignore[misc]


both = pytest.mark.parametrize("tool", [SEARCH_MESSAGES, SEARCH_MESSAGES_PRODUCT], ids=lambda tool: tool.name)


@both
def test_what_is_not_given_has_its_default(tool: Tool) -> None:
    assert judge(tool) == ToolArguments(**REQUIRED[tool.name], query="approval")
    assert judge(tool).limit == 20


@both
def test_none_is_not_given(tool: Tool) -> None:
    nothing = {each.name: None for each in tool.arguments if not each.is_required}
    assert judge(tool, **nothing) == judge(tool)


@both
def test_everything_is_taken(tool: Tool) -> None:
    everything = {
        "limit": 3,
        "sender": "BlueLake",
        "importance": "high",
        "thread_id": "T-1",
        "date_start": "2026-01-01",
        "date_end": "2026-01-31",
        "ranking": "recency",
        "cursor": CURSOR,
    }
    everything |= (
        {"offset": 4, "mode": "hybrid", "explain": True} if tool is SEARCH_MESSAGES else {"project": "borealis"}
    )
    found = judge(tool, **everything)
    stored = everything | {
        "importance": ("high",),
        "date_start": ts(2026, 1, 1),
        "date_end": ts(2026, 2, 1) - 1,
    }
    assert {name: getattr(found, name) for name in stored} == stored


@pytest.mark.parametrize(("given", "limit"), [(None, 20), (0, 20), (-5, 20), (1, 1), (1000, 1000), (10**30, 1000)])
def test_the_limit_is_brought_into_its_range(given: int | None, limit: int) -> None:
    assert judge(limit=given).limit == limit


@pytest.mark.parametrize(
    ("cursor", "skipped"), [(None, 40), (CURSOR, 0), ("s3feccccccccccccd:i10", 0), ("nonsense", 40), ("", 40)]
)
def test_a_cursor_sets_the_offset_to_0_and_a_malformed_one_is_none(cursor: str | None, skipped: int) -> None:
    found = judge(offset=40, cursor=cursor)
    assert (found.skipped, found.has_cursor) == (skipped, skipped == 0)


@pytest.mark.parametrize(
    ("name", "alias"),
    [
        *[("sender", alias) for alias in ("from_agent", "sender_name")],
        *[("date_start", alias) for alias in ("date_from", "after", "since")],
        *[("date_end", alias) for alias in ("date_to", "before", "until")],
        *[("project", alias) for alias in ("project_key_filter", "project_slug", "proj")],
    ],
)
class TestAliases:
    def tool(self, name: str) -> Tool:
        return SEARCH_MESSAGES_PRODUCT if name == "project" else SEARCH_MESSAGES

    def test_an_alias_is_the_argument(self, name: str, alias: str) -> None:
        assert judge(self.tool(name), **{alias: "2026-01-01"}) == judge(self.tool(name), **{name: "2026-01-01"})

    def test_two_that_agree_are_fine(self, name: str, alias: str) -> None:
        found = judge(self.tool(name), **{alias: "2026-01-01", name: "2026-01-01"})
        assert found == judge(self.tool(name), **{name: "2026-01-01"})

    def test_two_that_disagree_are_an_error_that_names_both(self, name: str, alias: str) -> None:
        with pytest.raises(InvalidInput, match=f"^{name}: .*{alias}"):
            judge(self.tool(name), **{alias: "2026-01-01", name: "2026-01-02"})

    def test_a_wrong_value_is_an_error_of_the_name_that_was_used(self, name: str, alias: str) -> None:
        with pytest.raises(InvalidInput) as refused:
            judge(self.tool(name), **{alias: 7})
        assert refused.value.field == alias


def test_two_aliases_may_disagree_as_well() -> None:
    with pytest.raises(InvalidInput, match=r"^since: |^after: .*since"):
        judge(after="2026-01-01", since="2026-01-02")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"sender": "BlueLake"}, {"from_agent": " bluelake"}),
        ({"date_start": "2026-01-01"}, {"since": "2026-01-01T00:00:00Z"}),
        ({"date_end": "2026-01-01T12:00:00+02:00"}, {"until": "2026-01-01T10:00:00"}),
    ],
)
def test_two_spellings_of_the_same_agree(one: dict[str, str], other: dict[str, str]) -> None:
    assert judge(**one, **other) == judge(**one)


@pytest.mark.parametrize(
    ("given", "first", "last"),
    [
        ("2026-03-31", ts(2026, 3, 31), ts(2026, 4, 1) - 1),
        (" 2026-03-31 ", ts(2026, 3, 31), ts(2026, 4, 1) - 1),
        ("20260331", ts(2026, 3, 31), ts(2026, 4, 1) - 1),
        ("2024-02-29", ts(2024, 2, 29), ts(2024, 3, 1) - 1),
        ("9999-12-31", ts(9999, 12, 31), ts(9999, 12, 31, 23, 59, 59, 999_999)),
        ("0001-01-01", ts(1, 1, 1), ts(1, 1, 2) - 1),
        *[
            (given, ts(2026, 3, 31, 14, 30), ts(2026, 3, 31, 14, 30))
            for given in (
                "2026-03-31T14:30",
                "2026-03-31T14:30:00",
                "2026-03-31 14:30:00",
                "2026-03-31T14:30:00Z",
                "2026-03-31t14:30:00z",
                "2026-03-31T14:30:00.000000+00:00",
                "2026-03-31T16:30:00+02:00",
                "20260331T143000Z",
            )
        ],
        ("2026-03-31T23:59:59.999999", ts(2026, 4, 1) - 1, ts(2026, 4, 1) - 1),
        # Beyond what a moment in UTC can be called, and still in order.
        ("9999-12-31T23:59:59-14:00", ts(9999, 12, 31, 23, 59, 59) + 14 * 3_600_000_000, None),
        ("0001-01-01T00:00:00+14:00", ts(1, 1, 1) - 14 * 3_600_000_000, None),
    ],
)
def test_a_date_is_a_whole_day_in_utc_and_a_time_is_a_moment(given: str, first: int, last: int | None) -> None:
    found = judge(date_start=given, date_end=given)
    assert (found.date_start, found.date_end) == (first, first if last is None else last)


@pytest.mark.parametrize(
    ("given", "levels"),
    [
        ("high", ("high",)),
        ("high,urgent", ("high", "urgent")),
        ("URGENT , High", ("high", "urgent")),
        (" low,,low, ", ("low",)),
        ("urgent,high,normal,low", ("low", "normal", "high", "urgent")),
    ],
)
def test_importance_is_separated_by_commas_in_any_case(given: str, levels: tuple[str, ...]) -> None:
    assert judge(importance=given).importance == levels


@pytest.mark.parametrize("query", ["", "  \n\t", "\0"])
def test_a_blank_query_is_no_error(query: str) -> None:
    assert judge(query=query).query == ""


def test_a_query_is_folded() -> None:
    assert judge(query="  POL-358 \n approval ").query == "POL-358 approval"


@pytest.mark.parametrize(
    ("arguments", "field", "said"),
    [
        ({"query": None}, "query", "is required"),
        ({"query": 1}, "query", "must be a string"),
        ({"query": ["approval"]}, "query", "must be a string"),
        ({"query": "x" * (MAX_TEXT + 1)}, "query", f"at most {MAX_TEXT} characters"),
        ({"project_key": None}, "project_key", "is required"),
        ({"project_key": " "}, "project_key", "must not be blank"),
        ({"project_key": "x" * 257}, "project_key", "at most 256 characters"),
        ({"project_key": "a\0b"}, "project_key", "NUL"),
        ({"project_key": "\ud800"}, "project_key", "surrogate"),
        ({"project_key": 7}, "project_key", "must be a string"),
        ({"limit": "20"}, "limit", "must be a whole number"),
        ({"limit": 2.0}, "limit", "must be a whole number"),
        ({"limit": True}, "limit", "must be a whole number"),
        ({"offset": -1}, "offset", "must be from 0"),
        ({"offset": 10**12}, "offset", "must be from 0 to 1000000000"),
        ({"offset": False}, "offset", "must be a whole number"),
        ({"offset": "0"}, "offset", "must be a whole number"),
        ({"ranking": "newest"}, "ranking", "must be one of relevance, recency"),
        ({"ranking": ""}, "ranking", "must be one of relevance, recency"),
        ({"mode": "fuzzy"}, "mode", "must be one of semantic, lexical, hybrid, hybrid_rerank"),
        ({"mode": 1}, "mode", "must be one of"),
        ({"importance": "critical"}, "importance", "must be any of low, normal, high, urgent"),
        ({"importance": "high,critical"}, "importance", "must be any of low, normal, high, urgent"),
        ({"importance": " , "}, "importance", "must be any of low, normal, high, urgent"),
        ({"importance": ["high"]}, "importance", "must be a string"),
        ({"sender": ""}, "sender", "must not be blank"),
        ({"thread_id": "  "}, "thread_id", "must not be blank"),
        ({"cursor": 7}, "cursor", "must be a string"),
        ({"explain": "yes"}, "explain", "must be true or false"),
        ({"explain": 1}, "explain", "must be true or false"),
        *[
            ({"date_start": wrong}, "date_start", "ISO 8601 date or time, such as 2026-03-31")
            for wrong in (
                "yesterday",
                "",
                "2026-02-30",
                "31.03.2026",
                "2026-03-31T25:00",
                "2026-03-31x14:30",
                "2026-03-31T",
                "2026-03-31T14:30:00 Z Z",
                "10000-01-01",
                "٢٠٢٦-٠٣-٣١",
                1767225600000000,
            )
        ],
    ],
)
def test_what_is_wrong_names_the_field_and_what_is_allowed(arguments: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        judge(**arguments)
    assert refused.value.field == field
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("limits", "limit"),
        ("Sender", "sender"),
        ("treadid", "thread_id"),
        ("project", "project_key"),
        ("colour", None),
        ("\ud800" * 5000, None),
    ],
)
def test_an_unknown_argument_is_named_with_the_nearest_known_one(name: str, near: str | None) -> None:
    with pytest.raises(InvalidInput) as refused:
        judge(**{name: 1})
    assert refused.value.field == name
    assert (f"did you mean {near}?" in refused.value.message) is (near is not None)
    assert "allowed are project_key, query, limit" in refused.value.message


@pytest.mark.parametrize("name", ["offset", "mode", "explain", "project_key"])
def test_the_products_tool_does_not_take_what_it_does_not_have(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{name}: is not an argument of search_messages_product"):
        judge(SEARCH_MESSAGES_PRODUCT, **{name: 1})


def test_the_arguments_are_the_contracts() -> None:
    assert [each.name for each in SEARCH_MESSAGES.arguments] == [
        "project_key", "query", "limit", "offset", "ranking", "mode",
        "sender", "importance", "thread_id", "date_start", "date_end", "cursor", "explain",
    ]  # fmt: skip
    assert [each.name for each in SEARCH_MESSAGES_PRODUCT.arguments] == [
        "product_key", "query", "limit", "project",
        "sender", "importance", "thread_id", "date_start", "date_end", "ranking", "cursor",
    ]  # fmt: skip


@both
def test_the_schema_is_one_and_names_every_argument_and_alias(tool: Tool) -> None:
    Draft202012Validator.check_schema(tool.schema)
    names = {name for each in tool.arguments for name in (each.name, *each.aliases)}
    assert set(tool.schema["properties"]) == names
    assert tool.schema["required"] == [each.name for each in tool.arguments if each.is_required]


_VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text(), max_size=2),
    st.sampled_from(["2026-01-01", "high", "recency", "lexical", CURSOR]),
)  # fmt: skip


@both
@given(data=st.data())
def test_whatever_the_schema_refuses_is_refused_and_nothing_fails_otherwise(tool: Tool, data: st.DataObject) -> None:
    names = st.sampled_from([*tool.schema["properties"], "colour"])
    arguments = data.draw(st.dictionaries(names, _VALUES, max_size=6)) | {"query": data.draw(_VALUES)}
    # None is "not given" on the wire as in Python, and a float without a fraction an integer to JSON Schema alone.
    given_ = {name: value for name, value in arguments.items() if value is not None}
    conforms = Draft202012Validator(tool.schema).is_valid(given_)
    try:
        tool.judge(arguments)
    except InvalidInput as refused:
        assert refused.field in {*arguments, *REQUIRED[tool.name]}
    else:
        assert conforms
