"""Groups of tools that are unlike are split."""

from __future__ import annotations

import numpy as np
import pytest
from skillroute.core.ranking.k_means import Matrix, normalised
from skillroute_local.proposing.cohesion import alike, split_unlike


def around(axis: int, count: int, spread: float = 0.3) -> Matrix:
    rng = np.random.default_rng(axis)
    noise = rng.normal(0.0, spread / 4, (count, 16))
    noise[:, axis] += 1.0
    return normalised(noise)


def test_alike_is_the_mean_cosine_of_pairs() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    assert alike(vectors) == pytest.approx(1 / 3)
    assert alike(vectors[:1]) == 1.0


def test_a_group_of_two_kinds_is_split_and_the_others_are_not() -> None:
    # GIVEN three groups, the last of which holds two kinds of tools
    vectors = np.concatenate([around(axis, 6) for axis in range(4)])
    labels = np.repeat([0, 1, 2, 2], 6)

    # WHEN the unlike ones are split
    found = split_unlike(vectors, labels, np.ones(24), min_size=3)

    # THEN only that one is, into its kinds
    assert found[:12].tolist() == labels[:12].tolist()
    assert [len(set(found[start : start + 6].tolist())) for start in (12, 18)] == [1, 1]
    assert len(set(found.tolist())) == 4


def test_what_no_split_makes_more_alike_stays() -> None:
    rng = np.random.default_rng(1)
    scattered = normalised(rng.normal(size=(12, 64)))
    vectors = np.concatenate(
        [np.pad(around(0, 6), ((0, 0), (0, 48))), np.pad(around(1, 6), ((0, 0), (0, 48))), scattered]
    )
    labels = np.repeat([0, 1, 2], [6, 6, 12])
    found = split_unlike(vectors, labels, np.ones(24), min_size=3)
    assert found.tolist() == labels.tolist()


def test_no_group_is_large_enough() -> None:
    vectors = around(0, 3)
    assert split_unlike(vectors, np.array([0, 1, 2]), np.ones(3), min_size=2).tolist() == [0, 1, 2]
