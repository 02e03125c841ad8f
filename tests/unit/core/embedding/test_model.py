"""Vectors as bytes, their length, and their weighted mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.embedding.model import EmbeddingModel, blend, dot, from_bytes, normalise, to_bytes, weighted_mean

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


# What is blended (docs/adr/0067)

units = st.lists(st.floats(-1.0, 1.0, allow_subnormal=False), min_size=3, max_size=3).map(normalise)
_UNUSED = 3


@given(units, units, units, st.floats(0.05, 0.95))
def test_the_cosine_to_what_is_blended_is_the_mean_of_the_cosines(
    one: list[float] | None, other: list[float] | None, query: list[float] | None, weight: float
) -> None:
    if one is None or other is None or query is None:
        return
    mixed = blend([*one, 0.0], [*other, 0.0], weight, unused=_UNUSED)
    assert math.hypot(*mixed) == pytest.approx(1.0, abs=1e-9)
    wanted = (1 - weight) * dot(query, one) + weight * dot(query, other)
    assert dot([*query, 0.0], mixed) == pytest.approx(wanted, abs=1e-7)


def test_what_is_blended_twice_keeps_both_lengths() -> None:
    once = blend([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], 0.5, unused=_UNUSED)
    twice = blend(once, [0.0, 0.0, 1.0, 0.0], 0.1, unused=_UNUSED)
    assert twice[:3] == pytest.approx([0.45, 0.45, 0.1])
    assert math.hypot(*twice) == pytest.approx(1.0)


def test_of_a_model_without_an_unused_place_the_mean_is_scaled() -> None:
    assert blend([1.0, 0.0], [0.0, 1.0], 0.5, unused=None) == pytest.approx([math.sqrt(0.5)] * 2)
    assert blend([1.0, 0.0], None, 0.5, unused=None) == [1.0, 0.0]


def test_what_was_written_in_the_unused_place_does_not_make_two_tools_alike() -> None:
    model = EmbeddingModel("tool-minilm-l6-int8-v2", 384)
    assert model.unused is not None
    vector = [0.0] * 384
    vector[0], vector[model.unused] = 0.6, 0.8
    assert model.direction(vector)[0] == pytest.approx(1.0)
    assert model.direction(vector)[model.unused] == 0.0
    assert EmbeddingModel("text-embedding-3-small", 384).direction(vector) is vector
