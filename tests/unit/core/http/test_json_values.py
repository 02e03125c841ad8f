"""How many values a JSON text has, told without parsing it."""

from __future__ import annotations

import doctest
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.http import json_values
from skillroute.core.http.json_values import has_more_values

scalars = st.none() | st.booleans() | st.integers() | st.text('ab,[{\\"\n', max_size=6)
documents = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('a,[\\"', max_size=3), inner, max_size=4),
)


def counted(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(counted, inner))


def empty_within(value: Any) -> int:
    if not isinstance(value, dict | list):
        return 0
    return (not value) + sum(map(empty_within, value.values() if isinstance(value, dict) else value))


def test_the_examples_in_its_docstring_are_true() -> None:
    results = doctest.testmod(json_values)
    assert results.attempted > 0
    assert results.failed == 0


@given(documents, st.integers(0, 20), st.booleans())
def test_values_are_counted_and_what_stands_within_strings_is_not(value: Any, most: int, spaced: bool) -> None:
    text = json.dumps(value, indent=1 if spaced else None)
    number = counted(value) + empty_within(value)  # the inside of an empty one counts as well
    assert has_more_values(text, most) == (number > most)


@pytest.mark.parametrize("text", ['"', '"[[[', '"\\', '"\\"[,', '[[["', "", ",,,,", '"\\\\",,,,', '"a" "b" "'])
def test_of_what_is_no_json_something_is_told(text: str) -> None:
    assert has_more_values(text, 100) is False


def test_a_text_full_of_commas_is_one_value() -> None:
    assert not has_more_values(json.dumps({"text": '[{",\\' * 10_000}), 3)


def test_more_strings_than_values_could_have_are_too_many() -> None:
    assert has_more_values("[" + '"a",' * 100, 10)
