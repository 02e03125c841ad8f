"""What of the evidence counts: each caller within its bounds, and a person before programs."""

from __future__ import annotations

from skillroute.learning.learn.evidence import MAX_OF_A_DAY, MAX_OF_A_TOOL, callers_needed, counted

from tests.worlds.evidence import said


def test_a_caller_counts_for_a_tool_a_few_times_a_day_however_often_it_reports() -> None:
    flood = [said(1, caller="mallory") for _ in range(10_000)]
    others = [said(1, caller="ann"), said(2, caller="mallory"), said(1, caller="mallory", days=1)]
    kept = counted([*flood, *others])
    assert kept == [*flood[:MAX_OF_A_TOOL], *others]


def test_a_caller_counts_so_often_a_day_for_all_tools_together() -> None:
    flood = [said(tool, caller="mallory") for tool in range(1000)]
    assert len(counted(flood)) == MAX_OF_A_DAY


def test_what_a_person_marked_goes_before_what_a_program_reported_of_the_same_tool_and_search() -> None:
    program = said(1, search="a/0", is_good=True)
    person = said(1, search="a/0", is_good=False, caller="bob", source="person")
    other_tool = said(2, search="a/0")
    assert counted([program, person, other_tool]) == [person, other_tool]


def test_two_callers_must_agree_where_there_are_two() -> None:
    assert callers_needed([]) == 0
    assert callers_needed([said(1), said(1)]) == 1
    assert callers_needed([said(1), said(1, caller="bob"), said(1, caller="eve")]) == 2
