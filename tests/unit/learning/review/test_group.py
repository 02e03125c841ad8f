"""Requests grouped by meaning: which join, which stay apart, and what a group says."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from skillroute.core.embedding.model import Vector, dot, normalise, to_bytes
from skillroute.learning.review.group import MIN_COSINE, grouped
from skillroute.learning.review.model import Wording

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def wording(
    query: str | None,
    vector: Vector | None = None,
    searches: int = 1,
    *,
    callers: tuple[str, ...] = (),
    model: str = "test",
    days_ago: int = 0,
    tools: dict[int, int] | None = None,
) -> Wording:
    packed = None if vector is None else to_bytes(vector)
    at = NOW - timedelta(days=days_ago)
    return Wording(query, model, packed, searches, frozenset(callers), at, tools or {})


def at_angle(cosine: float) -> Vector:
    return [cosine, math.sqrt(1 - cosine**2)]


def test_requests_of_one_meaning_are_one_group_and_others_stay_apart() -> None:
    groups = grouped(
        [
            wording("book a flight", [1.0, 0.0], 4, callers=("ann", "ben"), tools={1: 4, 2: 1}, days_ago=3),
            wording("mow the lawn", [0.0, 1.0], 3),
            wording("fly me to Rome", at_angle(0.81), 2, callers=("ben", "cy"), tools={2: 6}),
            wording("a trip by train", at_angle(0.79), 1),
        ]
    )
    assert [(group.query, group.wordings, group.searches) for group in groups] == [
        ("book a flight", ["fly me to Rome"], 6),
        ("mow the lawn", [], 3),
        ("a trip by train", [], 1),
    ]
    assert (groups[0].callers, groups[0].last_at, groups[0].tools) == (3, NOW, [2, 1])


def test_a_request_joins_the_nearest_of_two_groups() -> None:
    first, second, between = [1.0, 0.0], [0.6, 0.8], [math.cos(math.pi / 6), math.sin(math.pi / 6)]
    assert MIN_COSINE < dot(between, first) < dot(between, second)
    groups = grouped([wording("a", first, 3), wording("b", second, 2), wording("c", between)])
    assert {group.query: list(group.wordings) for group in groups} == {"a": [], "b": ["c"]}


def test_vectors_of_two_models_are_not_compared() -> None:
    groups = grouped([wording("a", [1.0, 0.0]), wording("b", [1.0, 0.0], model="other")])
    assert [group.wordings for group in groups] == [[], []]


def test_a_request_without_a_vector_or_without_a_direction_is_a_group_of_its_own() -> None:
    groups = grouped([wording("a"), wording("b"), wording("c", [0.0, 0.0]), wording("d", [math.inf, 0.0])])
    assert sorted(str(group.query) for group in groups) == ["a", "b", "c", "d"]


def test_no_more_than_three_other_wordings_and_five_tools_are_named() -> None:
    tools = {number: 10 - number for number in range(1, 8)}
    [group] = grouped([wording(f"w{number}", [1.0, 0.0], tools=tools) for number in range(6)])
    assert (group.wordings, group.searches, group.tools) == (["w1", "w2", "w3"], 6, [1, 2, 3, 4, 5])


def test_a_group_without_texts_has_its_counts_alone() -> None:
    [group] = grouped([wording(None, [1.0, 0.0], 2), wording(None, [1.0, 0.0])])
    assert (group.query, group.wordings, group.searches) == (None, [], 3)


@pytest.mark.parametrize("dimension", [128, 384, 1536])
def test_comparing_signs_first_loses_none_that_is_alike(dimension: int) -> None:
    random = Random(dimension)
    for _ in range(20):
        one = normalise([random.gauss(0, 1) for _ in range(dimension)])
        noise = normalise([random.gauss(0, 1) for _ in range(dimension)])
        assert one is not None and noise is not None
        mixed = normalise([0.8 * a + 0.57 * b for a, b in zip(one, noise, strict=True)])
        assert mixed is not None
        expected = 1 if dot(one, mixed) >= MIN_COSINE + 1e-6 else 2
        if abs(dot(one, mixed) - MIN_COSINE) > 1e-6:
            assert len(grouped([wording("a", one), wording("b", mixed)])) == expected
