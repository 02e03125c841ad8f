"""What people look at of use, and have deleted: each organisation its own (decision 26)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.errors.model import Forbidden, NotFound
from skillroute.learning.review.model import ReceiptPlace
from skillroute.learning.review.review import ReviewUse

from tests.builders import System, of_org

ACME, GLOBEX = of_org("acme"), of_org("globex")
KEEPER = Caller(scopes=frozenset({Scope.SKILLS}))
EAST, NORTH = [1.0, 0.0], [0.0, 1.0]


def unserved(system: System, caller: Caller = LAPTOP, **given: Any) -> dict[str | None, tuple[int, int]]:
    """Return how often each group was asked, and by how many."""
    found = system.parts.learning.review.unserved(caller, **{"days": 30, "limit": 100, "offset": 0} | given)
    return {group.query: (group.searches, group.callers) for group in found.groups}


def judged(system: System, caller: Caller = LAPTOP, **given: Any) -> dict[str, list[str]]:
    """Return the right tools of each judged text."""
    found, _ = system.parts.learning.review.judged(caller, **{"days": 30, "limit": 100, "offset": 0} | given)
    return {one.query: list(one.titles) for one in found}


# Requests that found nothing


def test_requests_that_found_nothing_are_grouped_by_meaning(system: System) -> None:
    one, other = system.tools([("fly", None), ("mow", None)], server="home")
    system.receipt("book a flight", one, other, no_match=True, vector=EAST)
    system.receipt("book a flight", one, no_match=True, vector=EAST, caller="ben")
    system.receipt("a seat on a plane", no_match=True, vector=EAST)
    system.receipt("trim the hedge", no_match=True, vector=NORTH)
    system.receipt("water the plants", one, vector=NORTH)
    found = system.parts.learning.review.unserved(LAPTOP, days=30, limit=1, offset=0)
    [group] = found.groups
    assert (group.query, group.wordings, group.searches, group.callers) == (
        "book a flight",
        ["a seat on a plane"],
        3,
        2,
    )
    assert ([found.tools[id_].name for id_ in group.tools], found.total) == (["fly", "mow"], 2)
    assert unserved(system, offset=1) == {"trim the hedge": (1, 1)}


def test_requests_that_nothing_fits_are_among_them_unless_a_tool_was_called_after_all(system: System) -> None:
    tool = system.tool("fly")
    refused, called, elsewhere = (system.receipt(text, tool) for text in ("refused", "called", "elsewhere"))
    for search in (refused, called):
        system.outcome(search, "nothing_fits")
    system.outcome(called, "succeeded", tool)
    system.outcome(elsewhere, "nothing_fits", org="acme")
    shown = system.receipt("shown with no_match", tool, no_match=True)
    system.outcome(shown, "called", tool)
    assert unserved(system) == {"refused": (1, 1)}


def test_requests_without_text_or_vector_are_counted_by_their_hash(system: System) -> None:
    for _ in range(2):
        system.receipt("secret", no_match=True, keeps_text=False)
    system.receipt("other", no_match=True, caller=None)
    assert unserved(system) == {None: (2, 1), "other": (1, 0)}


def test_requests_of_other_organisations_and_of_long_ago_are_not_seen(system: System) -> None:
    system.receipt("ours", no_match=True, org="acme")
    system.receipt("theirs", no_match=True, org="globex")
    system.receipt("global", no_match=True)
    system.receipt("old", no_match=True, days_ago=9)
    assert unserved(system, ACME) == {"ours": (1, 1)}
    assert unserved(system, days=8) == {"global": (1, 1)}


def test_requests_of_callers_without_an_organisation_are_read_by_the_operator_alone(system: System) -> None:
    tool = system.tool("fly")
    system.outcome(system.receipt("book a flight", tool), "called", tool)
    system.receipt("global", no_match=True)
    system.receipt("ours", no_match=True, org="acme")
    for read in (unserved, judged):
        with pytest.raises(Forbidden, match="scope admin"):
            read(system, KEEPER)
    member = Caller(org_id="acme", scopes=KEEPER.scopes)
    assert (unserved(system, member), judged(system, member)) == ({"ours": (1, 1)}, {})
    assert (unserved(system), judged(system)) == ({"global": (1, 1)}, {"book a flight": ["fly"]})


def test_tools_that_another_organisation_took_over_the_id_of_are_not_named(system: System) -> None:
    tool = system.tool("theirs", org="globex")
    system.receipt("ours", tool, no_match=True, org="acme")
    assert system.parts.learning.review.unserved(ACME, days=30, limit=9, offset=0).tools == {}


# Judged requests


def test_a_request_is_judged_by_the_last_outcome_of_each_caller(system: System) -> None:
    right, wrong, other = system.tools([("right", None), ("wrong", None), ("other", None)], server="s")
    for _ in range(2):
        search = system.receipt("fly", right, wrong, other)
        system.outcome(search, "called", right)
        system.outcome(search, "called", wrong)
        system.outcome(search, "wrong", wrong)
        system.outcome(search, "failed", other)
    system.outcome(search, "succeeded", right, caller="ben")
    found, total = system.parts.learning.review.judged(LAPTOP, days=30, limit=10, offset=0)
    assert ([(one.query, one.titles, one.searches) for one in found], total) == ([("fly", ["s/right"], 2)], 1)


def test_a_tool_that_others_report_wrong_as_often_is_not_right(system: System) -> None:
    tool = system.tool("tool")
    system.outcome(system.receipt("fly", tool), "called", tool)
    system.outcome(system.receipt("fly", tool), "wrong", tool, caller="ben")
    assert judged(system) == {}


def test_a_request_that_nothing_fits_needs_nothing_that_is_there(system: System) -> None:
    tool = system.tool("tool")
    system.outcome(system.receipt("nothing", tool), "nothing_fits")
    system.outcome(system.receipt("once nothing", tool), "nothing_fits")
    system.outcome(system.receipt("once nothing", tool), "called", tool)
    several = system.receipt("first need", tool)
    system.receipt("second need", search_id=several, nth=1)
    system.outcome(several, "nothing_fits")
    system.outcome(several, "called", tool)
    assert judged(system) == {"nothing": [], "once nothing": ["tool"], "first need": ["tool"]}


def test_outcomes_that_count_for_nothing_judge_nothing(system: System) -> None:
    shown, hidden = system.tools([("shown", None), ("hidden", None)])
    search = system.receipt("fly", shown, org="acme")
    system.outcome(search, "called", hidden, org="acme")
    system.outcome(search, "called", shown, org="globex")
    system.outcome(search, "called", shown, org="acme", may_teach=False)
    system.outcome(uuid4(), "called", shown, org="acme")
    system.outcome(system.receipt("no text", shown, org="acme", keeps_text=False), "called", shown, org="acme")
    assert (judged(system, ACME), judged(system, GLOBEX)) == ({}, {})
    system.outcome(search, "called", shown, org="acme")
    assert (judged(system, ACME), judged(system, GLOBEX), judged(system)) == ({"fly": ["shown"]}, {}, {})


def test_a_request_whose_right_tools_are_gone_is_left_out(system: System) -> None:
    tool = system.tool("tool")
    system.outcome(system.receipt("fly", tool), "called", tool)
    system.sql(f"DELETE FROM mcp.tools WHERE id = {tool}")
    assert judged(system) == {}


def test_judged_requests_come_in_pages_the_most_frequent_first(system: System) -> None:
    tool = system.tool("tool")
    for text in ("b", "a", "c", "c"):
        system.outcome(system.receipt(text, tool), "called", tool)
    assert list(judged(system, limit=2)) == ["c", "a"]
    assert list(judged(system, limit=2, offset=2)) == ["b"]
    assert system.parts.learning.review.judged(LAPTOP, days=30, limit=2, offset=9) == ([], 3)


# Receipts


def test_receipts_are_read_page_by_page_the_oldest_first(system: System) -> None:
    tool = system.tool("tool")
    for days_ago, text in enumerate(("new", "middle", "old")):
        last = system.receipt(text, tool, days_ago=days_ago, org="acme", caller="ann" if days_ago else "ben")
    system.outcome(last, "called", tool, org="acme")
    system.outcome(last, "called", tool, org="globex")
    system.receipt("theirs", org="globex")
    review, texts, after = system.parts.learning.review, [], None
    for remaining in (3, 2, 1):
        found = review.receipts(ACME, None, after, limit=1)
        assert (found.total, found.remaining) == (3, remaining)
        [one] = found.rows
        texts.append((one.query, [(each.tool_id, each.outcome) for each in one.outcomes]))
        after = ReceiptPlace(one.asked_at, one.search_id, one.nth)
    assert texts == [("old", [(tool, "called")]), ("middle", []), ("new", [])]
    assert [one.query for one in review.receipts(ACME, "ann", None, limit=9).rows] == ["old", "middle"]
    assert review.receipts(GLOBEX, "ben", None, limit=9).rows == []


def test_the_receipts_and_outcomes_of_a_caller_are_deleted_and_no_others(system: System) -> None:
    review = ReviewUse(system.database, batch=2)
    tool = system.tool("tool")
    for org in ("acme", "globex"):
        for _ in range(5):
            search = system.receipt("fly", tool, org=org)
            system.outcome(search, "called", tool, org=org)
            system.outcome(search, "called", tool, org=org, caller="ben")
        system.receipt("fly", tool, org=org, caller="ben")
    assert review.delete(ACME, "ann") == (5, 5, 0)
    assert review.delete(ACME, "ann") == (0, 0, 0)
    assert system.left("receipts", "outcomes") == {"receipts": 7, "outcomes": 15}
    assert review.receipts(ACME, "ann", None, limit=9).rows == []
    assert len(review.receipts(GLOBEX, "ann", None, limit=9).rows) == 5


def test_what_one_caller_alone_taught_goes_with_its_receipts_in_all_states_of_the_organisation(system: System) -> None:
    review = ReviewUse(system.database, batch=2)
    tool, other, third = system.tools([("tool", None), ("other", None), ("third", None)])
    alone = system.learned(tool, other, third, org="acme", callers=1)
    former = system.learned(tool, org="acme", is_live=False, callers=1)
    together = system.learned(tool, org="acme", is_live=False, callers=2)
    theirs, shared = (system.learned(tool, org=org, callers=1) for org in ("globex", None))
    for state in (alone, together, theirs):
        system.rows(
            "INSERT INTO mcp.learned_pairs (state_id, tool_id, with_id, searches) VALUES (:state, :tool, :other, 3)",
            state=state,
            tool=tool,
            other=other,
        )
    system.receipt("fly", tool, org="acme")
    assert review.delete(ACME, "ann") == (1, 0, 4)
    assert review.delete(ACME, "ann") == (0, 0, 0)
    left = {table: {row[0] for row in system.rows(f"SELECT state_id FROM mcp.{table}")}
            for table in ("learned_requests", "learned_pairs")}  # fmt: skip
    assert left == {"learned_requests": {together, theirs, shared}, "learned_pairs": {together, theirs}}
    changed = [id_ for id_, revision in system.rows("SELECT id, revision FROM mcp.learned_states") if revision]
    assert sorted(changed) == sorted([alone, former])


# Forgetting


def test_what_was_learned_of_a_tool_is_forgotten_in_all_states_of_the_organisation_alone(system: System) -> None:
    tool, kept = system.tools([("tool", None), ("kept", None)])
    live = system.learned(tool, kept, org="acme")
    former = system.learned(tool, org="acme", is_live=False)
    without = system.learned(kept, org="acme", is_live=False)
    theirs = system.learned(tool, org="globex")
    system.rows(
        "INSERT INTO mcp.learned_pairs (state_id, tool_id, with_id, searches) VALUES (:state, :kept, :tool, 3)",
        state=live,
        kept=kept,
        tool=tool,
    )
    for org in ("acme", "globex"):
        system.outcome(system.receipt("fly", tool, org=org), "called", tool, org=org)
    forgotten = system.parts.learning.review.forget(ACME, tool)
    assert forgotten._asdict() == {"requests": 2, "pairs": 1, "states": 2, "outcomes": 1}
    assert system.left("learned_requests", "learned_pairs", "outcomes") == {
        "learned_requests": 3,
        "learned_pairs": 0,
        "outcomes": 1,
    }
    revisions = dict(system.rows("SELECT id, revision FROM mcp.learned_states"))
    assert revisions == {live: 1, former: 1, without: 0, theirs: 0}


def test_a_tool_of_another_organisation_is_not_there_to_be_forgotten(system: System) -> None:
    tool = system.tool("theirs", org="globex")
    system.learned(tool, org="globex")
    with pytest.raises(NotFound):
        system.parts.learning.review.forget(ACME, tool)
    assert system.left("learned_requests") == {"learned_requests": 1}


def test_what_all_organisations_go_by_is_forgotten_by_the_operator_alone(system: System) -> None:
    tool = system.tool("fly")
    system.learned(tool)
    system.outcome(system.receipt("fly", tool), "called", tool)
    for item_id in (tool, 999):
        with pytest.raises(Forbidden):
            system.parts.learning.review.forget(KEEPER, item_id)
    assert system.left("learned_requests", "outcomes") == {"learned_requests": 1, "outcomes": 1}
    assert system.parts.learning.review.forget(LAPTOP, tool).requests == 1
