"""The weights of words: fixed, positive, the rarer the heavier."""

from __future__ import annotations

import json
import math
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.documents.term_weights import TEXTS, UNKNOWN, counts, weight


@pytest.mark.parametrize("term", ["the", "retrieve", "stand", "xylograph", ""])
def test_a_weight_is_the_inverse_document_frequency_of_bm25(term: str) -> None:
    count = counts().get(term, UNKNOWN)
    assert weight(term) == pytest.approx(math.log(1 + (TEXTS - count + 0.5) / (count + 0.5)))


@pytest.mark.parametrize(
    ("common", "rare"), [("the", "retrieve"), ("retrieve", "calendar"), ("calendar", "poker"), ("poker", "xylograph")]
)
def test_the_rarer_a_word_the_more_it_weighs(common: str, rare: str) -> None:
    assert weight(common) < weight(rare)


def test_the_table_is_sorted_and_has_each_word_once() -> None:
    text = files("skillroute.core.documents").joinpath("term_counts.json").read_text(encoding="utf-8")
    pairs: list[tuple[str, int]] = json.loads(text, object_pairs_hook=list)
    found = [count for _, count in pairs]
    assert found == sorted(found, reverse=True)
    assert len({word for word, _ in pairs}) == len(pairs) == len(counts()) == 4000
    assert found[0] < TEXTS and found[-1] > UNKNOWN > 0
    assert all(word == word.casefold() and word.isalnum() for word, _ in pairs)


@given(st.text())
def test_no_word_weighs_nothing_and_none_more_than_an_unknown_one(term: str) -> None:
    assert 0.0 < weight(term) <= weight("an unknown word")
