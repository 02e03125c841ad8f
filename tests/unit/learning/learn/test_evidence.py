"""What of the evidence counts: no caller outweighs the others."""

from __future__ import annotations

from skillroute.learning.learn.evidence import MAX_OF_A_TOOL, counted

from tests.worlds.evidence import said


def test_one_caller_of_several_is_no_more_than_half_of_what_counts_for_a_tool() -> None:
    flood = [said(1, caller="mallory", days=day) for day in range(30) for _ in range(50)]
    few = [said(1, caller=caller, days=31) for caller in ("ann", "bob", "eve", "dan")]
    kept = counted([*flood, *few], 2)
    assert (len(kept), kept[-4:]) == (8, few)
    assert kept[:4] == flood[-4:]


def test_a_tool_of_which_one_caller_alone_reports_counts_a_little() -> None:
    flood = [said(1, caller="mallory", days=day) for day in range(30)]
    assert len(counted([*flood, said(2, caller="ann")], 2)) == MAX_OF_A_TOOL + 1


def test_all_that_the_only_caller_reports_counts() -> None:
    flood = [said(1) for _ in range(500)]
    assert counted(flood, 1) == flood
