"""Learned fusion: features, ranks and probabilities; the committed weights."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.documents.index.bm25 import Bm25Encoder
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.embedding.packaged import models_dir, packaged_models
from skillroute.core.ranking.learned_fusion import (
    FEATURES,
    ClauseEvidence,
    Evidence,
    FusedRequest,
    Fusion,
    features,
    fusion_for,
    load_fusions,
)

SEARCH = "skillroute.search.ranking"
REQUEST = FusedRequest(words=4, weight=10.0)
OF_FOUR_CLAUSES = FusedRequest(words=40, weight=10.0, clauses=4)

candidates = st.lists(
    st.builds(
        Evidence,
        st.floats(0, 1, allow_subnormal=False),
        st.floats(0, 22, allow_subnormal=False),
        st.floats(-1, 0, allow_subnormal=False),
        st.booleans(),
    ),
    max_size=12,
)


def of(name: str, request: FusedRequest, *evidence: Evidence) -> list[float]:
    return [row[FEATURES.index(name)] for row in features(request, evidence)]


def test_features_by_hand() -> None:
    first, second, third = Evidence(0.8, 0.0), Evidence(0.5, 11.0), Evidence(0.5, 22.0)
    rows = [dict(zip(FEATURES, row, strict=True)) for row in features(REQUEST, [first, second, third])]
    length = math.log(4) / 5
    assert rows[1] == pytest.approx(
        {
            "cosine": 0.5,
            "short_margin": (1 - length) * -0.3,
            "uncovered_margin": 0.0,  # the third has all there can be
            "bm25_rank": 0.5,
            "long_share": length * 0.5,
            "long_coverage": length * 0.5,
            "clause_margin": 0.0,
            "clause_first": 0.0,
        }
    )
    assert (rows[2]["bm25_rank"], rows[0]["bm25_rank"]) == (1.0, 0.0)
    # Of equals none is before the other.
    assert of("bm25_rank", REQUEST, second, second, third) == [0.5, 0.5, 1.0]


def test_a_request_without_a_known_word_has_no_coverage() -> None:
    assert of("long_coverage", FusedRequest(0, 0.0), Evidence(0.4, 0.0)) == [0.0]
    assert of("short_margin", FusedRequest(0, 0.0), Evidence(0.4, 0.0)) == [0.0]
    assert features(REQUEST, []) == []


def test_clauses_by_hand() -> None:
    """A candidate counts by the clause that it suits most; three clauses weigh a third, four a half."""
    first = ClauseEvidence.of({"a": 0.9, "b": 0.6}, {"c": 4.0, "b": 4.0, "a": 3.0})
    assert first.candidates == {"a", "b", "c"}
    assert [first.margin(key) for key in "abc"] == pytest.approx([0.0, -0.3, -0.3])  # c counts as the last does
    assert first.first_by_words == {"b", "c"}
    nothing = ClauseEvidence.of({}, {})
    assert (nothing.margin("a"), nothing.candidates) == (0.0, set())
    evidence = Evidence(0.5, 1.0, clause_margin=-0.3, leads_clause=True)
    for clauses, weight in ((0, 0.0), (3, 1 / 3), (4, 0.5)):
        request = FusedRequest(4, 10.0, clauses)
        assert of("clause_margin", request, evidence) == pytest.approx([-0.3 * weight])
        assert of("clause_first", request, evidence) == pytest.approx([weight])


@given(candidates)
def test_what_is_known_of_a_candidate_decides_and_not_its_place(evidence: list[Evidence]) -> None:
    there = features(REQUEST, evidence)
    assert features(REQUEST, evidence[::-1]) == there[::-1]


@given(candidates)
@pytest.mark.parametrize("model", sorted(load_fusions(SEARCH)))
def test_probabilities_are_in_the_order_of_the_weighted_sums(model: str, evidence: list[Evidence]) -> None:
    fusion = fusion_for(SEARCH, model)
    sums = [sum(w * x for w, x in zip(fusion.weights, row, strict=True)) for row in features(REQUEST, evidence)]
    chances = fusion.probabilities(REQUEST, evidence)
    assert all(0.0 <= chance <= 1.0 for chance in chances)
    by_sum = sorted(zip(sums, chances, strict=True))
    assert all(lower[1] <= higher[1] for lower, higher in pairwise(by_sum))


@given(candidates, st.integers(1, 300), st.integers(0, 8), st.floats(0, 1), st.floats(0, 1))
@pytest.mark.parametrize("model", sorted(load_fusions(SEARCH)))
def test_more_of_any_signal_never_makes_a_candidate_less_likely(
    model: str, evidence: list[Evidence], words: int, clauses: int, nearer: float, more_words: float
) -> None:
    """Among the same rivals, one that is nearer, or shares more of the words, is not put behind its former self."""
    fusion, request = fusion_for(SEARCH, model), FusedRequest(words, 10.0, clauses)
    rivals = [*evidence, Evidence(1.0, 22.0)]  # the best of both, so that the best stays what it is
    own = Evidence(0.5 * nearer, 11.0 * more_words, -0.5)
    for better in (
        own._replace(cosine=own.cosine + 0.1),
        own._replace(bm25=own.bm25 + 1.0),
        own._replace(clause_margin=own.clause_margin + 0.1),
        own._replace(leads_clause=True),
    ):
        *_, before, after = fusion.probabilities(request, [*rivals, own, better])
        assert after >= before - 1e-12


@pytest.mark.parametrize("model", sorted(load_fusions(SEARCH)))
def test_committed_weights_take_both_signals_for_better_than_none(model: str) -> None:
    best, worst = fusion_for(SEARCH, model).probabilities(REQUEST, [Evidence(0.7, 15.0), Evidence(0.2, 0.0)])
    assert best > 0.5 > worst


@pytest.mark.parametrize("model", sorted(load_fusions(SEARCH)))
def test_committed_weights_put_what_suits_a_clause_before_what_suits_none(model: str) -> None:
    suits, suits_none = Evidence(0.4, 3.0, 0.0, True), Evidence(0.4, 3.0, -0.3, False)
    first, second = fusion_for(SEARCH, model).probabilities(OF_FOUR_CLAUSES, [suits, suits_none])
    assert first > second


def test_packaged_models_have_weights_of_their_own_and_others_the_general_ones() -> None:
    for name in packaged_models():
        assert OnnxEmbedder(models_dir() / name).model.name in load_fusions(SEARCH)
    assert fusion_for(SEARCH, "nobody's") is load_fusions(SEARCH)["*"]


def test_weights_name_features() -> None:
    curve = {"slope": 1.0, "rivalry": -0.5, "intercept": -1.0}
    weights = {name: float(place) for place, name in enumerate(sorted(FEATURES))}
    assert Fusion.read({"weights": weights, **curve}) == Fusion([weights[name] for name in FEATURES], 1.0, -0.5, -1.0)
    for other in ({**weights, "cosin": 2.0}, {"cosine": 2.0}):
        with pytest.raises(ValueError, match="cosin"):
            Fusion.read({"weights": other, **curve})


def test_the_most_that_bm25_gives_a_word_is_that_of_the_encoder() -> None:
    """A text that is one word many times comes near it, and none gets above."""
    encoder = Bm25Encoder()
    [word] = encoder.query("calendar").values
    [impact] = encoder.document("calendar " * 10_000).values
    evidence = Evidence(0.0, word * impact)
    assert of("long_coverage", FusedRequest(1000, word), evidence) == [pytest.approx(1.0, abs=0.1)]
    assert of("long_coverage", FusedRequest(1000, word), evidence)[0] <= 1.0


def test_probabilities_by_hand() -> None:
    """Two candidates of sums 1.2 and 0.4: each against the weight of both."""
    fusion = Fusion([2.0, *[0.0] * (len(FEATURES) - 1)], slope=1.5, rivalry=-1.0, intercept=0.5)
    rivals = math.log(math.exp(1.2) + math.exp(0.4))
    expected = [1 / (1 + math.exp(-(1.5 * value - rivals + 0.5))) for value in (1.2, 0.4)]
    assert fusion.probabilities(REQUEST, [Evidence(0.6, 0.0), Evidence(0.2, 0.0)]) == pytest.approx(expected)
    assert fusion.probabilities(REQUEST, []) == []
