"""Learned requests: each of three searches or more, of enough callers, with its share and its common words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skillroute.core.embedding.model import Vector
from skillroute.learning.learn import requests
from skillroute.learning.learn.evidence import Evidence, counted
from skillroute.learning.learn.requests import FULL_SHARE, HALF_LIFE_DAYS, RELATED
from skillroute.learning.model import MAX_REQUESTS_OF_A_TOOL
from skillroute.learning.states.model import LearnedRequest

from tests.worlds.evidence import EAST, NOON, NORTH, UP, said


def learned_requests(evidence: Sequence[Evidence], now: datetime) -> list[LearnedRequest]:
    """Return what is learned where those alone search who are in the evidence."""
    return requests.learned_requests(evidence, now, min(2, len({each.caller for each in evidence})))


def test_where_others_search_as_well_one_caller_teaches_nothing() -> None:
    assert requests.learned_requests([said(1) for _ in range(9)], NOON, 2) == []


def test_the_mean_of_old_searches_and_a_new_one_is_not_the_new_one() -> None:
    old = [said(1, [0.8, 0.6, 0.0], caller=caller, days=-300) for caller in "ab"]
    [request] = learned_requests([*old, said(1, EAST, caller="c")], NOON)
    assert request.vector[0] < 0.995


def test_nothing_is_learned_of_nothing() -> None:
    assert learned_requests([], NOON) == []


@pytest.mark.parametrize("searches", [0, 1, 2])
def test_fewer_than_three_searches_teach_nothing(searches: int) -> None:
    assert learned_requests([said(1, caller=f"{n}") for n in range(searches)], NOON) == []


def test_one_search_with_many_reports_is_one_search() -> None:
    assert learned_requests([said(1, caller=f"{n}", search="a/0") for n in range(9)], NOON) == []


def test_one_caller_of_several_teaches_nothing_alone() -> None:
    flood = [said(1, caller="mallory") for _ in range(50)]
    assert learned_requests([*flood, said(2, NORTH, caller="ann")], NOON) == []


def test_the_only_caller_of_a_laptop_teaches() -> None:
    [request] = learned_requests([said(1) for _ in range(3)], NOON)
    assert (request.tool_id, request.searches, request.callers) == (1, 3, 1)


def test_a_request_is_the_mean_of_its_searches() -> None:
    near = [0.8, 0.6, 0.0]
    [request] = learned_requests(
        [said(1, EAST, caller="ann"), said(1, EAST, caller="bob"), said(1, near, caller="eve")], NOON
    )
    assert request.vector == pytest.approx([0.9778, 0.2095, 0.0], abs=1e-3)
    assert request.vector not in (EAST, near)


def test_searches_that_are_far_from_each_other_are_requests_of_their_own() -> None:
    kinds = [said(1, vector, caller=f"{n % 3}") for vector in (EAST, NORTH, UP) for n in range(6)]
    found = learned_requests(kinds, NOON)
    assert sorted(max(range(3), key=request.vector.__getitem__) for request in found) == [0, 1, 2]
    assert [request.nth for request in found] == [0, 1, 2]


def test_a_tool_has_no_more_requests_than_it_may() -> None:
    many = [said(1, [1.0, n / 100, 0.0], caller=f"{n % 5}") for n in range(500)]
    assert 1 <= len(learned_requests(many, NOON)) <= MAX_REQUESTS_OF_A_TOOL


def test_the_share_is_that_of_successes_near_a_request() -> None:
    right = [said(1, caller=f"{n % 4}") for n in range(8)]
    wrong = [said(2, caller=f"{n % 4}") for n in range(4)]
    shares = {request.tool_id: request.share for request in learned_requests([*right, *wrong], NOON)}
    assert shares == pytest.approx({1: 1.0, 2: 4 / 12 / FULL_SHARE})


def test_failures_of_the_tool_lower_its_share_and_those_of_others_do_not() -> None:
    good = [said(1, caller=f"{n % 2}") for n in range(4)]
    bad = [said(1, caller=f"{n % 2}", is_good=False) for n in range(12)]
    others = [said(2, caller=f"{n % 2}", is_good=False) for n in range(50)]
    [request] = learned_requests([*good, *bad, *others], NOON)
    assert request.share == pytest.approx(4 / 16 / FULL_SHARE)


def test_a_flood_of_one_caller_lowers_a_share_by_one_voice() -> None:
    good = [said(1, caller=caller) for caller in "abc" for _ in range(3)]
    flood = [said(tool, caller="mallory", is_good=tool != 1) for tool in (1, 2, 3) for _ in range(100)]
    shares = {request.tool_id: request.share for request in learned_requests([*good, *flood], NOON)}
    assert shares == {1: pytest.approx(min(1.0, 3 / 4 / FULL_SHARE))}


def test_a_caller_has_its_whole_voice_from_three_searches_on() -> None:
    lone = [said(1, caller="ann") for _ in range(2)] + [said(1, caller="bob")]
    often = [said(1, caller="eve", is_good=False) for _ in range(60)]
    [request] = learned_requests([*lone, *often], NOON)
    assert request.share == pytest.approx(3 / 6 / FULL_SHARE)


def test_one_who_called_a_tool_for_something_else_agrees_to_nothing() -> None:
    flood = [said(1, EAST, caller="mallory") for _ in range(5)]
    assert learned_requests([*flood, said(1, NORTH, caller="ann")], NOON) == []
    assert len(learned_requests([*flood, said(1, EAST, caller="ann")], NOON)) == 1


def test_one_with_whom_the_others_agree_no_more_without_a_third_agrees_to_nothing() -> None:
    flood = [said(1, NORTH, caller="mallory") for _ in range(2)]
    others = [said(1, vector, caller="bob") for vector in (EAST, [0.0, -0.6, 0.8])]
    assert learned_requests([*flood, *others], NOON) == []


directions = st.sampled_from([EAST, NORTH, UP, [0.8, 0.6, 0.0], [0.0, -0.6, 0.8]])


@st.composite
def reports(draw: st.DrawFn, callers: list[str], most: int) -> list[Evidence]:
    said_of = st.tuples(st.integers(1, 4), directions, st.sampled_from(callers), st.booleans(), st.floats(-40.0, 0.0))
    return [
        said(tool, vector, caller=caller, is_good=is_good, days=days)
        for tool, vector, caller, is_good, days in draw(st.lists(said_of, max_size=most))
    ]


@given(reports(["mallory"], 60), reports(["ann", "bob"], 12))
def test_whatever_one_caller_of_several_reports_it_is_not_learned_of_that_caller_alone(
    forged: list[Evidence], honest: list[Evidence]
) -> None:
    """Decision 44: what goes into an organisation's state is what two of its callers agree on."""
    honest = [*honest, said(9, UP, caller="ann")]
    evidence = counted(sorted([*forged, *honest], key=lambda each: each.asked_at), 2)
    agreeing: dict[int, list[Vector]] = {}
    for each in honest:
        if each.is_good:
            agreeing.setdefault(each.tool_id, []).append(each.vector)
    for request in learned_requests(evidence, NOON):
        assert request.callers >= 2
        near = [sum(a * b for a, b in zip(request.vector, vector, strict=True)) for vector in agreeing[request.tool_id]]
        assert max(near) >= RELATED - 1e-5, "nobody else asked for anything like it"


def test_what_is_long_ago_counts_less() -> None:
    old = [said(1, caller=f"{n % 2}", days=-4 * HALF_LIFE_DAYS) for n in range(8)]
    new = [said(2, caller=f"{n % 2}") for n in range(4)]
    shares = {request.tool_id: request.share for request in learned_requests([*old, *new], NOON)}
    assert shares[2] == 1.0
    assert shares[1] == pytest.approx((8 / 16) / (8 / 16 + 4) / FULL_SHARE)


def test_words_are_those_of_three_searches_and_two_callers() -> None:
    texts = ["weather in Oslo tomorrow", "the weather in Rome", "Weather, please", "secret plan of ann"]
    evidence = [said(1, caller=caller, text=text) for text, caller in zip(texts, "aabb", strict=True)]
    [request] = learned_requests(evidence, NOON)
    assert request.words == ["weather"]


def test_a_word_of_one_caller_is_not_shown_however_often_it_comes() -> None:
    evidence = [said(1, caller="ann", text="project bluebird") for _ in range(9)] + [
        said(1, caller="bob", text="a plan")
    ]
    [request] = learned_requests(evidence, NOON)
    assert request.words == []


def test_texts_may_be_left_out() -> None:
    [request] = learned_requests([said(1, caller=caller, text=None) for caller in "abc"], NOON)
    assert request.words == []


def test_the_same_evidence_teaches_the_same() -> None:
    evidence = [said(n % 3, [1.0, n / 50, 0.0], caller=f"{n % 4}", days=n / 10) for n in range(90)]
    assert learned_requests(evidence, NOON) == learned_requests(evidence, NOON)
    assert learned_requests(evidence, NOON + timedelta(days=9)) != learned_requests(evidence, NOON + timedelta(days=90))
