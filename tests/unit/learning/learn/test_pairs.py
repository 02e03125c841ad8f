"""Tools that tasks call together."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.learning.learn import pairs as learned
from skillroute.learning.learn.evidence import Evidence
from skillroute.learning.learn.pairs import MAX_PAIRS_OF_A_TOOL
from skillroute.learning.states.model import Pair

from tests.worlds.evidence import said

MINUTE = 1 / 24 / 60


def pairs(evidence: Sequence[Evidence]) -> list[Pair]:
    """Return what is learned where those alone search who are in the evidence."""
    return learned.pairs(evidence, min(2, len({each.caller for each in evidence})))


def task(*tools: int, caller: str, day: float = 0.0, gap: float = 1.0) -> list[Evidence]:
    return [said(tool, caller=caller, days=day + place * gap * MINUTE) for place, tool in enumerate(tools)]


def test_tools_that_three_tasks_of_two_callers_called_are_a_pair_both_ways() -> None:
    evidence = [*task(1, 2, caller="ann"), *task(1, 2, caller="ann", day=1), *task(2, 1, caller="bob")]
    assert pairs(evidence) == [Pair(1, 2, 3), Pair(2, 1, 3)]


def test_two_tasks_are_too_few_and_so_is_one_caller_of_two() -> None:
    two = [*task(1, 2, caller="ann"), *task(1, 2, caller="bob")]
    flood = [each for day in range(50) for each in task(3, 4, caller="mallory", day=day)]
    assert pairs([*two, *flood]) == []


def test_a_caller_counts_once_a_day_for_a_pair() -> None:
    hourly = [each for hour in range(12) for each in task(1, 2, caller="mallory", day=hour / 24)]
    assert pairs([*hourly, *task(1, 2, caller="bob")]) == []
    daily = [each for day in range(2) for each in task(1, 2, caller="mallory", day=day)]
    expected = [Pair(1, 2, 3), Pair(2, 1, 3)]
    assert pairs([*hourly, *daily, *task(1, 2, caller="bob")]) == expected


def test_callers_without_a_name_count_once_a_day_together() -> None:
    searches = [said(tool, caller="", search=f"{n}/{tool}") for n in range(50) for tool in (1, 2)]
    assert pairs(searches) == []


def test_more_than_twenty_tools_are_no_task() -> None:
    many = [each for caller in "abc" for each in task(*range(1, 22), caller=caller)]
    assert pairs(many) == []
    fewer = [each for caller in "abc" for each in task(*range(1, 21), caller=caller)]
    assert {pair.searches for pair in pairs(fewer)} == {3}


def test_a_pause_ends_a_task() -> None:
    evidence = [each for caller in "abc" for each in task(1, 2, caller=caller, gap=11.0)]
    assert pairs(evidence) == []


def test_callers_without_a_name_are_taken_together_for_one_search_only() -> None:
    apart = [said(tool, caller="", days=day) for day in range(5) for tool in (1, 2)]
    together = [said(tool, caller="", search=f"{n}/{tool}", days=n) for n in range(3) for tool in (3, 4)]
    assert pairs([*apart, *together]) == [Pair(3, 4, 3), Pair(4, 3, 3)]


def test_a_tool_has_a_few_pairs_the_most_frequent() -> None:
    evidence = [
        each
        for other in range(2, 9)
        for day in range(other + 1)
        for each in task(1, other, caller="ab"[day % 2], day=day + 20 * other)
    ]
    of_one = [pair for pair in pairs(evidence) if pair.tool_id == 1]
    assert [pair.with_id for pair in of_one] == [8, 7, 6]
    assert len(of_one) == MAX_PAIRS_OF_A_TOOL


def test_what_failed_is_no_part_of_a_task() -> None:
    evidence = [each for caller in "abc" for each in (said(1, caller=caller), said(2, caller=caller, is_good=False))]
    assert pairs(evidence) == []
