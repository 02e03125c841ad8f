"""What may go to a model, and what may come back."""

from __future__ import annotations

import pytest
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.embedding.wire import MAX_TEXT_BYTES, acceptable, clipped, unit_vector
from skillroute.core.errors.model import EmbeddingUnavailable

MODEL = EmbeddingModel("a-model", 2)


@pytest.mark.parametrize("text", ["send mail", " send mail ", "画面", "x" * MAX_TEXT_BYTES])
def test_an_ordinary_text_stays_as_it_is(text: str) -> None:
    assert acceptable(text) == clipped(text) == text


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0", " " * 10_000 + "too late"])
def test_a_text_without_a_visible_character_becomes_a_dash(text: str) -> None:
    assert acceptable(text) == "-"


@pytest.mark.parametrize(("character", "kept"), [("x", 8000), ("é", 4000), ("画", 2666), ("📸", 2000)])
def test_a_long_text_is_cut_between_characters(character: str, kept: int) -> None:
    assert clipped(character * 9000) == character * kept


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert acceptable("\ud800 mail") == "? mail"


def test_a_vector_is_scaled_to_norm_1() -> None:
    assert unit_vector([3, 4.0], MODEL) == [0.6, 0.8]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (None, "not a list of numbers"),
        ("12", "not a list of numbers"),
        ({"0": 1.0, "1": 1.0}, "not a list of numbers"),
        (["1", "2"], "not a list of numbers"),
        ([1.0, None], "not a list of numbers"),
        ([[1.0], [2.0]], "not a list of numbers"),
        ([1.0, 10**400], "not a list of numbers"),
        ([], "0 dimensions, 2 are configured"),
        ([1.0, 2.0, 3.0], "3 dimensions, 2 are configured"),
        ([0.0, 0.0], "zero or not finite"),
        ([1.0, float("nan")], "zero or not finite"),
        ([1.0, float("inf")], "zero or not finite"),
    ],
)
def test_anything_but_a_vector_of_the_model_is_refused(values: object, message: str) -> None:
    with pytest.raises(EmbeddingUnavailable, match=f"^a-model answered with .*{message}"):
        unit_vector(values, MODEL)
