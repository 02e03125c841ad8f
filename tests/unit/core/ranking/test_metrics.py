"""The formulas, against values worked out by hand."""

from __future__ import annotations

import math

import pytest
from skillroute.core.ranking.intervals import difference
from skillroute.core.ranking.metrics import comp, ndcg, percentile, recall, reciprocal_rank

THIRD = 1 / math.log2(3)
"""What the second place is worth."""


@pytest.mark.parametrize(
    ("ranked", "needs", "k", "expected"),
    [
        ("ab", ["a"], 1, 1.0),
        ("ba", ["a"], 1, 0.0),
        ("ba", ["a"], 2, 1.0),
        ("ab", ["bc", "d"], 5, 0.5),  # one of two needs, by any of its tools
        ("abc", ["ab"], 5, 1.0),  # a second tool for a need that is served adds nothing
        ("a", ["ab", "ac", "d"], 5, 2 / 3),  # one tool serves two needs
        ("", ["a"], 5, 0.0),
    ],
)
def test_recall_is_the_share_of_needs_that_the_first_k_serve(
    ranked: str, needs: list[str], k: int, expected: float
) -> None:
    assert recall(ranked, needs, k) == pytest.approx(expected)


@pytest.mark.parametrize(("ranked", "expected"), [("xab", 1.0), ("xyzab", 1.0), ("xyzvab", 0.0), ("a", 0.0)])
def test_comp_asks_for_every_need_within_the_first_five(ranked: str, expected: float) -> None:
    assert comp(ranked, ["a", "b"], 5) == expected


@pytest.mark.parametrize(
    ("ranked", "needs", "expected"),
    [
        ("ax", ["a"], 1.0),
        ("xa", ["a"], THIRD),
        ("xxa", ["a"], 1 / 2),
        ("axb", ["a", "b"], (1 + 1 / 2) / (1 + THIRD)),
        ("ab", ["ab"], 1.0),  # an equal of what is served already gains nothing and costs nothing
        ("ab", ["ab", "c"], 1 / (1 + THIRD)),
        ("xxxxxa", ["a"], 0.0),
        ("", ["a"], 0.0),
    ],
)
def test_ndcg_is_worth_more_at_the_top(ranked: str, needs: list[str], expected: float) -> None:
    assert ndcg(ranked, needs, 5) == pytest.approx(expected)


def test_ndcg_takes_one_tool_for_two_needs_as_the_best_order() -> None:
    needs = ["ab", "ac"]
    assert ndcg("a", needs, 5) == pytest.approx(1.0)
    assert ndcg("bc", needs, 5) == pytest.approx((1 + THIRD) / 2)


def test_ndcg_of_more_needs_than_places_is_that_of_the_places() -> None:
    assert ndcg("ab", ["a", "b", "c"], 2) == pytest.approx(1.0)


@pytest.mark.parametrize(("ranked", "expected"), [("ab", 1.0), ("xxb", 1 / 3), ("xxxb", 0.0), ("", 0.0)])
def test_the_reciprocal_rank_is_of_the_first_right_tool(ranked: str, expected: float) -> None:
    assert reciprocal_rank(ranked, ["a", "b"], 3) == pytest.approx(expected)


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1.0), (0.5, 10.0), (0.95, 19.0), (0.951, 20.0), (1.0, 20.0)])
def test_a_percentile_is_one_of_the_values(share: float, expected: float) -> None:
    assert percentile([float(value) for value in range(20, 0, -1)], share) == expected


class TestDifference:
    def test_the_same_values_differ_by_nothing(self) -> None:
        found = difference([0.0, 1.0, 0.5], [0.0, 1.0, 0.5], seed=1)
        assert (found.mean, found.low, found.high) == (0.0, 0.0, 0.0)

    def test_what_is_better_by_the_same_everywhere_is_surely_better(self) -> None:
        found = difference([0.25] * 8, [0.75] * 8, seed=1)
        assert (found.mean, found.low, found.high) == (0.5, 0.5, 0.5)

    def test_the_interval_is_that_of_the_mean(self) -> None:
        # GIVEN 400 pairs of which a half gain 1: the standard error of the mean is 0.5 / 20
        found = difference([0.0] * 400, [1.0, 0.0] * 200, seed=1)
        assert found.mean == 0.5
        assert found.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.006)
        assert found.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.006)

    def test_the_same_seed_gives_the_same_interval(self) -> None:
        values, others = [0.0, 1.0, 0.0, 0.5], [1.0, 0.5, 0.0, 1.0]
        assert difference(values, others, seed=3) == difference(values, others, seed=3)

    def test_it_is_of_pairs_and_not_of_means(self) -> None:
        # GIVEN the same gain for very different requests
        paired = difference([0.0, 0.2, 0.4, 0.6], [0.1, 0.3, 0.5, 0.7], seed=1)
        assert paired.low == pytest.approx(0.1)
        assert paired.high == pytest.approx(0.1)
