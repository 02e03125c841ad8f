"""Hashes change when something that counts changed, and only then."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.core.hashing import content_hash, text_hash

CONTENT = ItemContent(
    ItemKey("server", "tool", "name"), "said", {"a": 1, "b": {"c": [1, 2]}}, {}, {"x": True}, ("t", "u"), {"m": None}
)


@pytest.mark.parametrize(
    "changed",
    [
        {"key": ItemKey("other", "tool", "name")},
        {"key": ItemKey("server", "prompt", "name")},
        {"key": ItemKey("server", "tool", "other")},
        {"description": "other"},
        {"input_schema": None},
        {"input_schema": {"a": 1, "b": {"c": [2, 1]}}},
        {"input_schema": {"a": "1", "b": {"c": [1, 2]}}},
        {"output_schema": None},
        {"annotations": {"x": False}},
        {"tags": ("u", "t")},
        {"tags": ()},
        {"metadata": {}},
    ],
)
def test_everything_an_owner_says_counts(changed: dict[str, Any]) -> None:
    assert content_hash(replace(CONTENT, **changed)) != content_hash(CONTENT)


def test_the_order_of_keys_does_not_count() -> None:
    assert content_hash(replace(CONTENT, input_schema={"b": {"c": [1, 2]}, "a": 1})) == content_hash(CONTENT)


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_texts_hash_alike_only_when_they_are_cut_alike(first: list[str], second: list[str]) -> None:
    assert (text_hash(*first) == text_hash(*second)) == (first == second)


def test_the_same_letters_cut_elsewhere_are_another_text() -> None:
    assert len({text_hash("ab", "c"), text_hash("a", "bc"), text_hash("abc"), text_hash("abc", "")}) == 4
