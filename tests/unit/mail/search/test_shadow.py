"""The shadow's figures (message-search, section 5)."""

from __future__ import annotations

import math

import pytest
from skillroute.mail.search.shadow import compare


def test_the_same_list() -> None:
    same = compare([3, 1, 2], [3, 1, 2])

    assert (same.overlap_jaccard, same.ndcg_at_10, same.mrr_delta) == (1.0, 1.0, 0.0)
    assert (same.serving_only, same.shadow_only) == ([], [])


def test_both_empty() -> None:
    empty = compare([], [])

    assert (empty.overlap_jaccard, empty.ndcg_at_10, empty.mrr_delta) == (1.0, 1.0, 0.0)


@pytest.mark.parametrize(("serving", "shadow"), [([1, 2], []), ([], [1, 2]), ([1], [2])])
def test_nothing_in_common(serving: list[int], shadow: list[int]) -> None:
    apart = compare(serving, shadow)

    assert (apart.overlap_jaccard, apart.ndcg_at_10, apart.mrr_delta) == (0.0, 0.0, -1.0)
    assert (apart.serving_only, apart.shadow_only) == (serving, shadow)


def test_some_in_common() -> None:
    """Wanted are 1, 2 and 3; the shadow has 2 second and 1 third."""
    some = compare([1, 2, 3], [9, 2, 1, 8])

    assert some.overlap_jaccard == 2 / 5
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert some.ndcg_at_10 == pytest.approx((1 / math.log2(3) + 1 / 2) / ideal)
    assert some.mrr_delta == pytest.approx(1 / 3 - 1)
    assert (some.serving_only, some.shadow_only) == ([3], [9, 8])


def test_only_the_first_ten_gain() -> None:
    far = compare(list(range(20)), [*range(10, 20), *range(10)])

    assert (far.ndcg_at_10, far.overlap_jaccard) == (0.0, 1.0)
    assert far.mrr_delta == pytest.approx(1 / 11 - 1)
