"""Which learned requests are near to a query."""

from __future__ import annotations

import random

import numpy as np
import pytest
from skillroute.core.embedding.model import to_bytes
from skillroute.learning.states.matrix import OwnBeforeGlobal, RequestMatrix
from skillroute.search.learned import LEAST_COSINE

from tests.worlds.evidence import EAST, NORTH


def test_the_nearest_request_of_each_tool_is_found_with_its_share() -> None:
    matrix = RequestMatrix(
        [
            (1, to_bytes(NORTH), 0.2),
            (1, to_bytes([0.8, 0.6, 0.0]), 0.9),
            (2, to_bytes(EAST), 1.0),
            (3, to_bytes(NORTH), 1.0),
        ]
    )
    found = matrix.near(EAST)
    assert found.keys() == {"1", "2"}
    assert (found["1"].cosine, found["1"].share) == (pytest.approx(0.8), 0.9)
    assert found["2"].cosine <= 1.0


def test_it_finds_what_a_comparison_one_by_one_finds_the_first_of_equal_ones() -> None:
    chance = random.Random(3)
    # Few numbers, so that many requests of a tool are as near as others; some tools have none that is near.
    rows = [
        (tool, to_bytes([chance.choice([0.0, 0.25, 0.5, 0.75, 1.25]), 0.0, 0.0]), chance.random())
        for tool in range(7, 60)
        for _ in range(chance.randrange(1, 9))
    ]
    expected: dict[str, tuple[float, float]] = {}
    for tool, vector, share in rows:
        cosine = min(1.0, np.frombuffer(vector, "<f4")[0].item())
        if cosine >= LEAST_COSINE and cosine > expected.get(str(tool), (0.0, 0.0))[0]:
            expected[str(tool)] = cosine, share
    assert 0 < len(expected) < 53
    assert RequestMatrix(rows).near(EAST) == expected


def test_what_is_not_near_is_left_out() -> None:
    at, below = [LEAST_COSINE + 0.001, 0.9, 0.0], [LEAST_COSINE - 0.001, 0.9, 0.0]
    assert RequestMatrix([(1, to_bytes(at), 1.0)]).near(EAST)
    assert not RequestMatrix([(1, to_bytes(below), 1.0)]).near(EAST)


def test_an_empty_one_is_near_to_nothing() -> None:
    assert (len(RequestMatrix([])), RequestMatrix([]).near(EAST)) == (0, {})


def test_tools_that_are_used_together_are_known_of_each_in_their_order() -> None:
    matrix = RequestMatrix([], [(1, 2, 9), (1, 3, 4), (2, 1, 9)])
    assert [matrix.used_with(key) for key in ("1", "2", "3")] == [[("2", 9), ("3", 4)], [("1", 9)], []]


# An organisation's and the global one


def test_of_a_tool_that_an_organisation_has_something_of_the_global_requests_do_not_count() -> None:
    own = RequestMatrix([(1, to_bytes([0.5, 0.0, 0.0]), 0.2), (2, to_bytes(NORTH), 0.3)])
    shared = RequestMatrix([(1, to_bytes(EAST), 1.0), (2, to_bytes(EAST), 1.0), (3, to_bytes(EAST), 0.4)])
    assert OwnBeforeGlobal(own, shared).near(EAST) == {"1": (0.5, 0.2), "3": (1.0, 0.4)}
    assert len(shared.near(EAST)) == 3, "nothing of it goes"


def test_tools_that_are_used_together_are_known_of_both() -> None:
    own = RequestMatrix([], [(1, 2, 5), (1, 3, 4)])
    shared = RequestMatrix([], [(1, 3, 9), (1, 12, 5), (2, 1, 3)])
    both = OwnBeforeGlobal(own, shared)
    assert [both.used_with(key) for key in ("1", "2", "3")] == [[("3", 9), ("2", 5), ("12", 5)], [("1", 3)], []]


def test_a_matrix_says_how_large_it_is_and_an_empty_one_is_nothing() -> None:
    assert RequestMatrix([]).n_bytes == 0
    assert RequestMatrix([(1, to_bytes(EAST), 1.0)]).n_bytes > 4 * len(EAST)
    assert RequestMatrix([], [(1, 2, 9)]).n_bytes > 0
