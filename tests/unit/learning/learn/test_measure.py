"""What is held out, what is measured of it, and when what was learned goes live."""

from __future__ import annotations

import pytest
from skillroute.learning.learn.measure import (
    HELD_OUT,
    MAX_HELD_OUT,
    MIN_HELD_OUT,
    HeldOut,
    is_worse,
    judge,
    measured,
    split,
)
from skillroute.search.learned import LearnedRequests

from tests.worlds.evidence import EAST, said


def test_the_last_searches_are_held_out_and_nothing_is_learned_of_them() -> None:
    evidence = [said(n, days=n) for n in range(100)]
    first, asked = split(evidence)
    assert [each.tool_id for each in first] == list(range(80))
    assert [each.tools for each in asked] == [frozenset({str(n)}) for n in range(80, 100)]
    assert HELD_OUT == 0.2


def test_a_failure_that_came_after_the_split_is_not_learned_from() -> None:
    evidence = [said(n, days=n) for n in range(8)]
    late = said(1, days=9, is_good=False)
    first, _ = split([*evidence, late])
    assert late not in first


def test_a_search_that_led_to_two_tools_is_asked_once_with_both() -> None:
    one = [said(n, days=n) for n in range(6)]
    both = [said(8, search="x/0", days=9), said(9, search="x/0", days=9), said(7, search="x/0", days=9, is_good=False)]
    _, asked = split([*one, *both])
    assert asked[-1].tools == {"8", "9"}


def test_the_newest_are_asked_of_very_many() -> None:
    first, asked = split([said(n, days=n / 100) for n in range(4000)])
    assert (len(first), len(asked)) == (4000 - MAX_HELD_OUT, MAX_HELD_OUT)
    assert asked[-1].tools == {"3999"}


def test_a_flood_of_one_caller_is_measured_no_more_than_the_next_active_one() -> None:
    honest = [said(1, caller=caller, days=n / 10) for n in range(100) for caller in ("ann", "bob")]
    flood = [said(2, caller="mallory", days=n / 200) for n in range(2000)]
    _, asked = split(sorted([*honest, *flood], key=lambda each: each.asked_at))
    of_mallory = sum(each.tools == {"2"} for each in asked)
    assert len(asked) == pytest.approx(3 * of_mallory, abs=2)
    assert of_mallory >= 20


def test_a_flood_is_measured_no_more_than_the_second_most_active_caller() -> None:
    honest = [said(1, caller="ann", days=n / 10) for n in range(150)]
    flood = [said(2, caller="mallory", days=20 + n / 100) for n in range(9000)]
    _, asked = split([*honest, *flood])
    assert sorted(min(each.tools) for each in asked) == ["1"] * 30 + ["2"] * 30


def test_one_who_asks_nearly_everything_is_measured_enough() -> None:
    people = [said(1, caller=caller) for caller in ("ann", "bob") for _ in range(2)]
    service = [said(2, caller="service", days=n) for n in range(1000)]
    assert len(split([*people, *service])[1]) == MIN_HELD_OUT


def test_callers_who_search_once_are_measured_together() -> None:
    first, asked = split([said(n, caller=f"caller {n}", days=n) for n in range(100)])
    assert (len(first), len(asked)) == (80, 20)


def test_nothing_is_held_out_of_too_little() -> None:
    assert split([]) == ([], [])
    first, asked = split([said(1), said(2)])
    assert (len(first), asked) == (2, [])


def test_the_measures_are_those_of_the_scorecard() -> None:
    asked = [HeldOut("one", EAST, frozenset({"1"})), HeldOut("two", EAST, frozenset({"9"}))]

    def ask(searched: HeldOut, learned: LearnedRequests | None) -> list[str]:
        return ["2", "1", "3"] if searched.text == "one" else ["2"]

    found = measured(ask, asked, None)
    assert found["recall@1"] == [0.0, 0.0]
    assert found["recall@5"] == [1.0, 0.0]
    assert found["ndcg@5"] == pytest.approx([0.6309, 0.0], abs=1e-4)


def of(*values: float) -> dict[str, list[float]]:
    return {"recall@1": [*values], "recall@5": [*values], "ndcg@5": [*values]}


def test_what_is_surely_better_goes_live() -> None:
    verdict = judge(of(*[0.5] * 50), of(*[0.6] * 50))
    assert verdict.is_better
    assert verdict.as_json()["differences"]["ndcg@5"] == {"mean": 0.1, "low": 0.1, "high": 0.1}


@pytest.mark.parametrize(
    ("after", "why"),
    [
        ([0.5] * 50, "nDCG@5 is not higher than before"),
        ([0.4] * 50, "nDCG@5 is not higher than before"),
        ([1.0] * 26 + [0.1] * 24, "nDCG@5 is higher, but not surely: more outcomes are needed"),
    ],
)
def test_what_is_not_better_or_not_surely_does_not(after: list[float], why: str) -> None:
    verdict = judge(of(*[0.5] * 50), of(*after))
    assert (verdict.is_better, verdict.reason) == (False, why)


@pytest.mark.parametrize(("after", "worse"), [(0.6, False), (0.5, False), (0.496, False), (0.494, True)])
def test_what_is_live_gives_way_to_what_is_no_more_than_half_a_point_below(after: float, worse: bool) -> None:
    assert is_worse(judge(of(*[0.5] * 50), of(*[after] * 50))) is worse
