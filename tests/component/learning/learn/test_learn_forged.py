"""Forged outcomes: what one caller reports moves no answer, and what two agree on no more than two callers may."""

from __future__ import annotations

import pytest
from skillroute.core.caller import Caller
from skillroute.core.embedding.model import to_bytes
from skillroute.learning.learn.evidence import MAX_OF_A_DAY, MAX_OF_A_TOOL
from skillroute.learning.model import caller_hash

from tests.component.learning.conftest import MEMBERS, TABLE, TEXTS, Used, near


def forge(used: Used, caller: str, tools: list[int], *, searches: int = 5_000, days: int = 30) -> None:
    """Report two outcomes of each of so many searches: its tool succeeded, and the one that is meant is wrong."""
    name = caller_hash(Caller(org_id="a", name=caller))
    made = used.system.rows(
        "INSERT INTO mcp.receipts (search_id, nth, org_id, caller, may_teach, door, asked_at, query, query_hash, "
        "model, vector, shown, no_match) SELECT gen_random_uuid(), 0, 'a', :name, true, 'http', "
        "now() - make_interval(days => 1 + n % :days, mins => n % 60), (:texts::text[])[1 + n % :of], '', :model, "
        "decode((:vectors::text[])[1 + n % :of], 'hex'), "
        "(SELECT jsonb_agg(jsonb_build_array(t.id, t.content_hash, 0.5)) FROM mcp.tools t "
        " WHERE t.id IN (:meant, (:tools::bigint[])[1 + n % :tools_of])), false "
        "FROM generate_series(0, :searches - 1) AS n RETURNING search_id::text",
        name=name,
        days=days,
        texts=TEXTS,
        of=len(TEXTS),
        model=used.model,
        vectors=[to_bytes(TABLE[text]).hex() for text in TEXTS],
        meant=used.meant,
        tools=tools,
        tools_of=len(tools),
        searches=searches,
    )
    used.system.rows(
        "INSERT INTO mcp.outcomes (search_id, tool_id, org_id, caller, may_teach, outcome, source) "
        "SELECT r.search_id, (s ->> 0)::bigint, 'a', :name, true, "
        "CASE WHEN (s ->> 0)::bigint = :meant THEN 'wrong' ELSE 'succeeded' END, 'person' "
        "FROM mcp.receipts r, jsonb_array_elements(r.shown) AS s WHERE r.caller = :name RETURNING 1",
        name=name,
        meant=used.meant,
    )
    assert len(made) == searches


def first_five(used: Used) -> list[list[str]]:
    return [used.found(text, limit=5) for text in TEXTS]


@pytest.fixture
def bad(used: Used) -> int:
    """The tool that a forger wants to be found, next to what nobody asks for."""
    return used.system.tool("bad", near(0.0), description="Takes it all.")


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize("many", [True, False])
def test_10_000_forged_outcomes_of_one_caller_move_none(used: Used, bad: int, *, is_live: bool, many: bool) -> None:
    """Decision 44: what an organisation learned stays what its members agree on.

    One caller praises a tool of its own, or many tools, on many days, and calls that of the others wrong; before
    anything was learned of honest use, and afterwards.
    """
    used.use()
    if is_live:
        assert used.learn().is_live
    before = first_five(used)
    forge(used, "mal", [bad, *used.rivals[:60]] if many else [bad])
    assert used.system.left("outcomes") == {"outcomes": 10_000 + 120}
    assert used.learn().details
    assert (bad in used.live(), used.meant in used.live()) == (False, True), used.learn()
    assert first_five(used) == (before if is_live else [["diary", *names[:4]] for names in before])
    assert not any("bad" in used.found(text) for text in TEXTS)


def test_a_flood_counts_as_much_as_its_beginning(used: Used, bad: int) -> None:
    forge(used, "mal", [bad])
    details = used.learn().details
    assert used.system.left("outcomes") == {"outcomes": 10_000}
    # Of two tools, three searches of each on each of 30 days.
    assert details["counted"] <= 2 * MAX_OF_A_TOOL * 31 < MAX_OF_A_DAY * 31


def test_two_who_collude_teach_what_two_callers_may(used: Used, bad: int) -> None:
    """No more than their caps: what five others agree on stays first."""
    used.use()
    assert used.learn().is_live
    for caller in ("mal", "mia"):
        forge(used, caller, [bad])
    used.learn()
    assert [names[0] for names in first_five(used)] == ["diary"] * len(TEXTS)


def test_an_agreement_is_on_the_same_request(used: Used, bad: int) -> None:
    """One who called a tool for something else agrees to nothing that another says of it."""
    used.use()
    for day in range(1, 13):
        search = used.asked("a far request", bad, caller=MEMBERS[0], org="a", days_ago=day, vector=near(-0.9))
        used.system.outcome(search, "succeeded", bad, org="a", caller=MEMBERS[0])
    forge(used, "mal", [bad])
    used.learn()
    assert bad not in used.live()
