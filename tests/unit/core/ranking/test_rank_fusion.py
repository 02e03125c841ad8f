"""Reciprocal rank fusion, for whoever fuses."""

from __future__ import annotations

import doctest

from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.ranking import rank_fusion
from skillroute.core.ranking.rank_fusion import of_first, rrf

RANKS = st.none() | st.integers(1, 1000)


def test_the_examples_in_its_docstring_are_true() -> None:
    results = doctest.testmod(rank_fusion)
    assert results.attempted > 0
    assert results.failed == 0


def test_the_constant_is_its_authors() -> None:
    assert rrf(1, 2) == 1 / 61 + 1 / 62


@given(st.lists(RANKS, min_size=1, max_size=4), st.integers(1, 1000))
def test_first_everywhere_is_one_and_nowhere_zero(ranks: list[int | None], k: int) -> None:
    share = of_first(rrf(*ranks, k=k), len(ranks), k)
    assert 0.0 <= share <= 1.0
    assert (share == 0.0) is (set(ranks) == {None})
    if set(ranks) == {1}:
        assert abs(share - 1.0) < 1e-12
