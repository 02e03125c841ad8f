"""The weights of words: fixed, positive, the rarer the heavier."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.domain import term_weights
from skillroute.domain.term_weights import weight


@pytest.mark.parametrize(
    ("term", "of_10_000"), [("the", 6553), ("what", 261), ("register", 20), ("zebra", 10), ("", 10)]
)
def test_a_weight_is_the_inverse_document_frequency_of_bm25(term: str, of_10_000: int) -> None:
    assert weight(term) == pytest.approx(math.log(1 + (10_000 - of_10_000 + 0.5) / (of_10_000 + 0.5)))


def test_the_table_is_sorted_and_says_each_word_once() -> None:
    entries = [entry.split(":") for entry in term_weights._TABLE.split()]
    counts = [int(count) for _, count in entries]
    assert counts == sorted(counts, reverse=True)
    assert len({word for word, _ in entries}) == len(entries)
    assert counts[0] < 10_000 and counts[-1] > term_weights._UNKNOWN
    assert all(word == word.casefold() and word.isalnum() for word, _ in entries)


@given(st.text())
def test_no_word_weighs_nothing_and_none_more_than_an_unknown_one(term: str) -> None:
    assert 0.0 < weight(term) <= weight("an unknown word")
