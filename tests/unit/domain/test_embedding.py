"""Vectors as bytes, their length, and their weighted mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.embedding.model import EmbeddingModel, dot, from_bytes, normalise, to_bytes, weighted_mean

floats32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
vectors = st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=3, max_size=3)


@given(st.lists(floats32, max_size=20))
def test_bytes_give_back_what_float32_can_hold(vector: list[float]) -> None:
    assert from_bytes(to_bytes(vector)) == vector
    assert len(to_bytes(vector)) == 4 * len(vector)


def test_bytes_are_little_endian() -> None:
    assert to_bytes([1.0]) == b"\x00\x00\x80\x3f"
    assert to_bytes([0.1, -2.5]) == np.array([0.1, -2.5], dtype="<f4").tobytes()


def test_bytes_of_no_whole_number_of_floats_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple"):
        from_bytes(b"\x00\x00\x80")


@given(vectors)
def test_a_normalised_vector_has_norm_1_and_the_same_direction(vector: list[float]) -> None:
    unit = normalise(vector)
    if unit is None:
        assert not any(vector)
    else:
        assert math.fsum(x * x for x in unit) == pytest.approx(1.0, abs=1e-9)
        assert math.fsum(a * b for a, b in zip(unit, vector, strict=True)) >= 0


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]])
def test_a_vector_without_a_direction_has_none(vector: list[float]) -> None:
    assert normalise(vector) is None


@given(st.lists(st.tuples(vectors, st.floats(0.01, 1.0)), min_size=1, max_size=8))
def test_the_weighted_mean_is_the_contract_s_formula(members: list[tuple[list[float], float]]) -> None:
    matrix = np.array([vector for vector, _ in members])
    weights = np.array([weight for _, weight in members])
    expected = (matrix * weights[:, None]).sum(0) / weights.sum()
    mean = weighted_mean(members)
    if np.linalg.norm(expected) < 1e-6:
        return  # too near to nothing to have a direction that both agree on
    assert mean == pytest.approx(list(expected / np.linalg.norm(expected)), abs=1e-6)


def test_members_without_weight_do_not_count() -> None:
    assert weighted_mean([([1.0, 0.0], 0.0), ([0.0, 2.0], 0.5), ([1.0, 0.0], -1.0)]) == [0.0, 1.0]


def test_nothing_to_mean_is_none() -> None:
    assert weighted_mean([]) is None
    assert weighted_mean([([1.0], 0.0)]) is None
    assert weighted_mean([([1.0], 0.5), ([-1.0], 0.5)]) is None


def test_vectors_of_two_lengths_are_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="shorter"):
        weighted_mean([([1.0, 0.0], 1.0), ([1.0], 1.0)])


def test_it_reads_its_members_once() -> None:
    members = iter([([1.0, 0.0], 1.0)] * 3)
    assert weighted_mean(members) == [1.0, 0.0]
    assert next(members, None) is None


def test_a_model_is_its_name_and_its_dimension() -> None:
    assert EmbeddingModel("m", 3) == EmbeddingModel("m", 3)
    assert EmbeddingModel("m", 3) != EmbeddingModel("m", 4)
    assert str(EmbeddingModel("m", 3)) == "m (3 dimensions)"


def test_the_dot_product_of_unit_vectors_is_their_cosine() -> None:
    assert dot([0.6, 0.8], [0.6, 0.8]) == pytest.approx(1.0)
    assert dot([1.0, 0.0], [0.0, 1.0]) == 0.0
    assert dot([0.6, 0.8], [-1.0, 0.0]) == -0.6
