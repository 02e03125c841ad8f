"""How a reranker's logits and the first stage's scores become one probability (docs/adr/0050)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.reranking.blend import ALONE, Blend, blend_for

SEARCHES = ("tools", "registry", "messages")
SCORES = st.lists(st.tuples(st.floats(0, 1), st.floats(-30, 30)), min_size=1, max_size=20)


def test_in_searches_of_mail_a_reranker_without_weights_counts_alone() -> None:
    assert blend_for("messages", "bedrock/cohere.rerank-v3-5:0") == ALONE
    assert ALONE([0.9, 0.0], [0.0, 2.0]) == pytest.approx([0.5, 1 / (1 + math.exp(-2.0))])


@pytest.mark.parametrize("search", ["tools", "registry"])
def test_elsewhere_it_counts_as_much_as_the_first_stage(search: str) -> None:
    blend = blend_for(search, "bedrock/cohere.rerank-v3-5:0")
    assert blend([0.5, 0.9], [1.0, 1.0]) == pytest.approx([1 / (1 + math.exp(-1.0)), 9 / (9 + math.exp(-1.0))])


def test_sum_and_curve_are_those_of_the_formula() -> None:
    blend = Blend(first=2.0, reranker=0.5, slope=0.8, rivalry=-0.3, intercept=-1.0)
    sums = [2.0 * math.log(0.75 / 0.25) + 0.5 * 3.0, 2.0 * math.log(0.5 / 0.5) + 0.5 * -1.0]
    assert blend.sums([0.75, 0.5], [3.0, -1.0]) == pytest.approx(sums)
    rivals = math.log(sum(map(math.exp, sums)))
    expected = [1 / (1 + math.exp(-(0.8 * value - 0.3 * rivals - 1.0))) for value in sums]
    assert blend([0.75, 0.5], [3.0, -1.0]) == pytest.approx(expected)


def test_nothing_to_blend_is_nothing() -> None:
    assert Blend(1.0, 1.0, rivalry=-1.0)([], []) == []


@pytest.mark.parametrize("search", SEARCHES)
@given(SCORES)
def test_weights_make_probabilities_and_more_of_either_is_never_less(
    search: str, candidates: list[tuple[float, float]]
) -> None:
    blend = blend_for(search, "any/reranker")
    scores, logits = map(list, zip(*candidates, strict=True))
    chances = blend(scores, logits)
    assert all(0.0 <= chance <= 1.0 for chance in chances)
    sums = blend.sums(scores, logits)
    by_sum = sorted(range(len(sums)), key=lambda place: sums[place])
    assert [chances[place] for place in by_sum] == sorted(chances)
    assert blend.sums([scores[0]], [logits[0] + 1.0]) >= blend.sums([scores[0]], [logits[0]])
    assert blend.sums([min(1.0, scores[0] + 0.1)], [logits[0]]) >= blend.sums([scores[0]], [logits[0]])
