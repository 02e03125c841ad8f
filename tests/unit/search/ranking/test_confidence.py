"""Confidence in the results of mode hybrid: features, curves, and the committed weights."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.embedding.onnx import OnnxEmbedder
from skillroute.core.embedding.packaged import models_dir, packaged_models
from skillroute.search.ranking.confidence import (
    FEATURES,
    Confidence,
    Curve,
    Standing,
    ahead_of_ten,
    features,
    load_confidences,
)

CURVE = {
    "likelihood": 1.0,
    "cosine": 2.0,
    "length": 0.5,
    "ahead": 0.25,
    "words_found": 3.0,
    "other_action": -1.5,
    "intercept": -1.0,
}
KNOWN = Standing(0.8, 0.6, 7, ahead=2.0, words_found=0.4, other_action=True)
shares = st.floats(0, 1)


def test_features_by_hand() -> None:
    assert features(KNOWN) == pytest.approx((math.log(4), 0.6, math.log(7), 2.0, 0.4, 1.0))


def test_the_surest_and_the_least_sure_result_and_a_request_without_a_word_have_features() -> None:
    for probability in (0.0, 1.0):
        assert all(map(math.isfinite, features(Standing(probability, 0.0, 0))))


def test_a_curve_by_hand() -> None:
    value = math.log(4) + 2.0 * 0.6 + 0.5 * math.log(7) + 0.25 * 2.0 + 3.0 * 0.4 - 1.5 - 1.0
    assert Curve.read(CURVE)(KNOWN) == pytest.approx(1 / (1 + math.exp(-value)))


@pytest.mark.parametrize(
    ("probabilities", "ahead"),
    [
        ([], 0.0),
        ([0.9], 0.0),
        ([0.5, 0.8], math.log(4) / 2),
        ([0.5] * 9 + [0.8], 0.9 * math.log(4)),
        ([0.01] * 40 + [0.5] * 9 + [0.8], 0.9 * math.log(4)),
    ],
    ids=["none", "one", "two", "ten", "more"],
)
def test_the_likeliest_is_ahead_of_ten_and_of_no_more(probabilities: list[float], ahead: float) -> None:
    assert ahead_of_ten(probabilities) == pytest.approx(ahead)


def test_committed_weights_by_golden_values() -> None:
    """What `training/confidence.py` wrote, to four digits of each weight."""
    confidence = load_confidences()["tool-minilm-l6-int8-v2"]
    other = replace(KNOWN, other_action=False)
    assert confidence.first_five(other) == pytest.approx(0.813, abs=1e-3)
    assert confidence.first_five(KNOWN) == pytest.approx(0.469, abs=1e-3)
    assert confidence.first(KNOWN) == pytest.approx(confidence.first(other))
    assert confidence.no_match_below == 0.247


@given(shares, st.floats(0, 15), st.floats(0, 15), shares, shares)
@pytest.mark.parametrize("model", sorted(load_confidences()))
def test_what_speaks_for_a_result_never_means_less_confidence_and_another_action_never_more(
    model: str, probability: float, ahead: float, more_ahead: float, found: float, more_found: float
) -> None:
    five = load_confidences()[model].first_five
    before = Standing(probability, 0.5, 8, ahead=min(ahead, more_ahead), words_found=min(found, more_found))
    after = replace(before, ahead=max(ahead, more_ahead), words_found=max(found, more_found))
    assert five(replace(before, other_action=True)) <= five(before) <= five(after)


@given(shares, shares, shares, shares, st.integers(1, 200))
@pytest.mark.parametrize("model", sorted(load_confidences()))
def test_a_likelier_or_nearer_result_never_means_less_confidence(
    model: str, probability: float, more_probability: float, cosine: float, more_cosine: float, words: int
) -> None:
    confidence = load_confidences()[model]
    before = Standing(min(probability, more_probability), min(cosine, more_cosine), words)
    after = Standing(max(probability, more_probability), max(cosine, more_cosine), words)
    for curve in (confidence.first, confidence.first_five):
        assert 0.0 <= curve(before) <= curve(after) <= 1.0


@pytest.mark.parametrize("model", sorted(load_confidences()))
def test_committed_weights_tell_a_good_result_from_a_poor_one(model: str) -> None:
    confidence = load_confidences()[model]
    good, poor = Standing(0.8, 0.8, 8), Standing(0.05, 0.1, 8)
    assert confidence.first(good) > 0.6
    assert confidence.first(poor) < 0.2
    assert confidence.first_five(good) > 0.7 > confidence.no_match_below > confidence.first_five(poor)


def test_packaged_models_have_curves_of_their_own() -> None:
    for name in packaged_models():
        assert OnnxEmbedder(models_dir() / name).model.name in load_confidences()


@pytest.mark.parametrize("other", [{"cosin": 1.0}, {"cosine": None}], ids=["more", "fewer"])
def test_weights_of_other_features_are_refused(other: dict[str, float | None]) -> None:
    stored = {name: value for name, value in (CURVE | other).items() if value is not None}
    with pytest.raises(ValueError, match=f"the features are {sorted(FEATURES)}".replace("[", r"\[")):
        Confidence.read({"first": CURVE, "first_five": stored, "no_match_below": 0.1})


def test_the_committed_file_has_nothing_that_is_not_read() -> None:
    stored = json.loads(
        files("skillroute.search.ranking").joinpath("confidence_weights.json").read_text(encoding="utf-8")
    )
    for curves in stored["models"].values():
        assert curves.keys() == {"first", "first_five", "no_match_below"}
