"""The rules of JSON Schema in one piece say what the draft's eight documents say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from skillroute_local.schema_rules import in_one_piece, rules_2020_12

DRAFT = Draft202012Validator(Draft202012Validator.META_SCHEMA)
KEYWORDS = sorted(in_one_piece()["properties"])
TYPES = ["string", "integer", "object", "array", "null", "boolean", "number"]

simple = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 3),
    st.floats(0, 2),
    st.sampled_from([*TYPES, "text", "#", "#a", "a b", ""]),
)
anything = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*KEYWORDS, "name"]), inner, max_size=4)
    ),
    max_leaves=12,
)
schemas = st.dictionaries(st.sampled_from(KEYWORDS), anything, min_size=1, max_size=4)


def faults(rules: Any, schema: Any) -> set[tuple[Any, ...]]:
    return {(tuple(error.absolute_path), error.validator, error.message) for error in rules.iter_errors(schema)}


@given(schema=st.one_of(schemas, anything))
def test_the_same_is_found_in_the_same_places(schema: Any) -> None:
    assert faults(rules_2020_12(), schema) == faults(DRAFT, schema)


@pytest.mark.parametrize("keyword", KEYWORDS)
@pytest.mark.parametrize("value", [-1, "text", {}, [], True, None, {"a": {"type": "nonsense"}}, [{"minimum": "x"}]])
def test_every_keyword_is_judged_the_same(keyword: str, value: Any) -> None:
    assert faults(rules_2020_12(), {keyword: value}) == faults(DRAFT, {keyword: value})


def test_what_is_wrong_deep_within_is_found() -> None:
    schema = {"properties": {"a": {"anyOf": [{"items": {"type": "nonsense"}}]}}}
    assert [path for path, *_ in faults(rules_2020_12(), schema)] == [("properties", "a", "anyOf", 0, "items", "type")]
    assert rules_2020_12().is_valid({"properties": {"a": {"anyOf": [{"items": {"type": TYPES}}]}}})


def test_the_vocabularies_have_no_name_twice() -> None:
    """Else the later one would take the place of the earlier."""
    registry = in_one_piece()
    assert len(registry["properties"]) == 61
    assert len(registry["$defs"]) == 8
