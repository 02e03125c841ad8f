"""What can be stored passes at once, what cannot is named with its place: both ways of looking agree."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from skillroute.core.errors.model import InvalidInput
from skillroute.core.input.json_input import MAX_DEPTH, changed_places, check_json, validated

texts = st.text("a\\u0é", max_size=8) | st.sampled_from(["\x00", "\\u0000", "\\\\u0000", "\ud800", "\\\x00"])
values = st.recursive(
    st.none() | st.integers() | st.sampled_from([1.5, math.nan, math.inf]) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
)


def can_be_stored(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" not in value and "\ud800" not in value
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(can_be_stored, value)) and all(map(can_be_stored, value.values()))
    return all(map(can_be_stored, value)) if isinstance(value, list) else True


@given(values)
def test_exactly_what_cannot_be_stored_is_refused(value: Any) -> None:
    if can_be_stored(value):
        assert check_json(value) == len(json.dumps(value, ensure_ascii=False).encode())
    else:
        with pytest.raises(InvalidInput):
            check_json(value)


@pytest.mark.parametrize("depth", [1, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 5_000])
@pytest.mark.parametrize("innermost", [0, "a", [], {}, [0]])
def test_levels_are_counted_down_to_the_innermost_value(depth: int, innermost: Any) -> None:
    value = innermost
    for number in range(depth):
        value = [value] if number % 2 else {"a": value}
    if depth + (innermost == [0]) <= MAX_DEPTH:
        assert check_json(value)
    else:
        with pytest.raises(InvalidInput, match="deeper"):
            check_json(value)


def test_the_first_thing_that_is_wrong_is_named() -> None:
    with pytest.raises(InvalidInput) as refused:
        check_json({"a": [1, {"b": "\x00"}], "c": math.nan})
    assert refused.value.field == "a.1.b"


def test_what_is_wrong_as_a_whole_is_called_what_the_caller_calls_it() -> None:
    with pytest.raises(InvalidInput) as refused:
        check_json("\x00", whole="message")
    assert refused.value.field == "message"
    # AND a field of the name that it has by default is a field
    with pytest.raises(InvalidInput) as refused:
        check_json({"item": "\x00"}, whole="message")
    assert refused.value.field == "item"


class Box(BaseModel):
    sides: list[int] = Field(max_length=3)
    name: str


def test_the_first_field_that_a_model_refuses_is_named_with_its_place() -> None:
    assert validated(Box, {"sides": [1], "name": "b"}, whole="box") == Box(sides=[1], name="b")
    with pytest.raises(InvalidInput) as refused:
        validated(Box, {"sides": [1, "two"], "name": 3}, whole="box")
    assert refused.value.field == "sides.1"
    assert refused.value.__cause__ is None, "what was sent is not repeated"


def test_what_is_no_object_at_all_is_refused_as_a_whole() -> None:
    with pytest.raises(InvalidInput) as refused:
        validated(Box, 7, whole="box")
    assert refused.value.field == "box"


def test_places_of_changed_texts_are_named_and_endless_nesting_ends_the_walk() -> None:
    endless: Any = "A"
    for _ in range(100 * MAX_DEPTH):
        endless = [endless]
    value = {"name": "A", "same": "b", "remotes": [{"url": "c"}, {"url": "D"}], "deep": endless}
    assert list(changed_places(value, str.lower)) == ["name", "remotes.1.url"]
    assert list(changed_places(value["remotes"], str.lower, "server.remotes")) == ["server.remotes.1.url"]
