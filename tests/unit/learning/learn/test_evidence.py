"""What of the evidence counts: each caller within its bounds, and a person before programs."""

from __future__ import annotations

from skillroute.learning.learn.evidence import MAX_OF_A_DAY, MAX_OF_A_TOOL, counted

from tests.worlds.evidence import said


def test_a_caller_counts_for_a_tool_a_few_times_a_day_however_often_it_reports() -> None:
    flood = [said(1) for _ in range(10_000)]
    others = [said(2), said(1, days=1)]
    assert counted([*flood, *others], 2) == [*flood[:MAX_OF_A_TOOL], *others]


def test_one_caller_of_several_is_no_more_than_half_of_what_counts_for_a_tool() -> None:
    flood = [said(1, caller="mallory", days=day) for day in range(30) for _ in range(50)]
    few = [said(1, caller=caller, days=31) for caller in ("ann", "bob", "eve", "dan")]
    kept = counted([*flood, *few], 2)
    assert (len(kept), kept[-4:]) == (8, few)
    assert kept[0].asked_at.day == flood[-1].asked_at.day - 1


def test_a_tool_of_which_one_caller_alone_reports_counts_a_little() -> None:
    flood = [said(1, caller="mallory", days=day) for day in range(30)]
    assert len(counted([*flood, said(2, caller="ann")], 2)) == MAX_OF_A_TOOL + 1


def test_a_caller_counts_so_often_a_day_for_all_tools_together() -> None:
    flood = [said(tool, caller="mallory") for tool in range(1000)]
    assert len(counted(flood, 2)) == MAX_OF_A_DAY


def test_what_a_person_marked_goes_before_what_a_program_reported_of_the_same_tool_and_search() -> None:
    program = said(1, search="a/0", is_good=True)
    person = said(1, search="a/0", is_good=False, caller="bob", source="person")
    other_tool = said(2, search="a/0")
    assert counted([program, person, other_tool], 2) == [person, other_tool]


def test_all_that_the_only_caller_reports_counts() -> None:
    flood = [said(1) for _ in range(500)]
    assert counted(flood, 1) == flood
