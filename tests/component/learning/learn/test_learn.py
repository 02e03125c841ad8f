"""Learning over real parts: receipts and outcomes in PostgreSQL, measured by searches of the embedded index."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from skillroute.core.caller import Caller
from skillroute.core.errors.model import DatabaseUnavailable, EmbeddingUnavailable
from skillroute.learning.learn.evidence import MAX_OF_A_TOOL, EvidenceRepository
from skillroute.learning.learn.learn import Learn
from skillroute.learning.learn.measure import Ask

from tests.builders import of_org
from tests.component.learning.conftest import MEMBERS, TEXTS, Used, near


def test_a_tool_that_was_not_found_is_found_and_first_once_it_is_learned(used: Used) -> None:
    assert "diary" not in used.found()
    used.use()
    report = used.learn()
    assert (report.is_live, report.reason) == (True, "nDCG@5 is higher")
    assert used.found()[0] == "diary"
    assert used.live() == [used.meant]


def test_a_tool_that_was_found_is_ranked_higher(used: Used) -> None:
    [low] = used.system.tools([("low", near(0.6))], description="Something else.")
    before = used.found().index("low")
    used.use(low)
    used.learn()
    assert (before > 1, used.found()[0]) == (True, "low")


def test_the_report_is_kept_with_its_state(used: Used) -> None:
    used.use()
    report = used.learn()
    [[state, is_live, kept]] = used.system.rows("SELECT id, is_live, report FROM mcp.learned_states")
    assert (state, is_live, kept) == (report.state_id, True, report.details)
    assert (kept["callers"], kept["counted"], kept["tools"]) == (5, kept["outcomes"], 1)
    compared = kept["compared_with_none"]
    assert compared["before"]["recall@5"] == 0.0
    assert compared["after"]["recall@5"] == 1.0


def test_what_is_not_better_is_kept_with_its_reason_and_does_not_go_live(used: Used) -> None:
    first = used.search().tools[0]
    before = used.answer()
    used.use(int(first.id), texts=TEXTS[:1])
    report = used.learn()
    assert (report.is_live, report.reason) == (False, "nDCG@5 is not higher than before")
    assert used.system.rows("SELECT is_live, was_better FROM mcp.learned_states") == [[False, False]]
    assert used.answer() == before


def test_a_dry_run_stores_nothing(used: Used) -> None:
    used.use()
    before = used.answer()
    report = used.learn(dry_run=True)
    assert (report.state_id, report.is_live) == (None, True)
    assert used.system.left("learned_states", "learned_requests", "learned_pairs") == {
        "learned_states": 0,
        "learned_requests": 0,
        "learned_pairs": 0,
    }
    assert used.answer() == before


def test_too_few_searches_teach_nothing_and_say_how_many_there_are(used: Used) -> None:
    used.use(days=2)
    report = used.learn()
    assert (report.state_id, report.reason) == (
        None,
        "4 searches can be measured, and 20 are needed, of 100 that count",
    )
    assert used.system.left("learned_states") == {"learned_states": 0}


def test_without_outcomes_nothing_is_learned(used: Used) -> None:
    report = used.learn()
    assert (report.state_id, report.details["outcomes"]) == (None, 0)


def test_a_newer_state_takes_the_place_of_an_older_one(used: Used) -> None:
    used.use()
    first, second = used.learn(), used.learn()
    assert second.is_live
    live = used.system.rows("SELECT id FROM mcp.learned_states WHERE is_live")
    assert live == [[second.state_id]]
    assert first.state_id != second.state_id


@pytest.mark.parametrize("chosen", ["first", "none"])
def test_what_a_person_chose_stays_whatever_is_learned_later(used: Used, chosen: str) -> None:
    """Decision 44: it can be switched off, and taken back."""
    used.use()
    first = used.learn()
    states = used.system.parts.learning.states
    states.switch(of_org("a"), first.state_id if chosen == "first" else None)
    later = used.learn()
    assert (later.is_live, later.state_id is None) == (False, False)
    assert "a person chose" in later.reason
    live = used.system.rows("SELECT id FROM mcp.learned_states WHERE is_live")
    assert live == ([[first.state_id]] if chosen == "first" else [])
    states.go_on(of_org("a"))
    assert used.learn().is_live


def test_a_live_state_that_finds_worse_than_nothing_learned_is_switched_off(used: Used) -> None:
    used.use()
    harmful = used.lives(used.rivals[0])

    def ask_as(org: str | None, model: object) -> Ask:
        return lambda searched, learned: [] if learned is not None else list(searched.tools)

    report = Learn(used.system.database, lambda: used.system.embedder.model, ask_as)("a")
    assert (report.is_live, used.system.rows("SELECT id FROM mcp.learned_states WHERE is_live")) == (False, [])
    assert report.state_id != harmful
    assert report.reason == "nDCG@5 is not higher than before; what is live finds worse than nothing learned, and goes"


@pytest.mark.parametrize("what", ["changed", "forgotten"])
def test_what_goes_while_a_run_measures_does_not_come_back_with_it(used: Used, what: str) -> None:
    used.use()

    def ask_as(org: str | None, model: object) -> Ask:
        if what == "changed":
            used.system.sql(f"UPDATE mcp.tools SET description = 'Another.' WHERE id = {used.meant}")
        else:
            used.system.parts.learning.review.forget(of_org("a"), used.meant)
        return lambda searched, learned: [] if learned is None else list(searched.tools)

    report = Learn(used.system.database, lambda: used.system.embedder.model, ask_as)("a")
    assert (report.is_live, report.details["requests"] > 0, used.live()) == (True, True, [])


def test_what_a_person_marked_goes_before_what_a_program_reports_later(used: Used) -> None:
    """Of a search's tool one outcome counts, and of a caller three of a tool and day."""
    for caller in MEMBERS:
        for _ in range(5):
            search = used.asked(TEXTS[0], used.meant, caller=caller, org="a", days_ago=1)
            used.system.outcome(search, "wrong", used.meant, org="a", caller=caller, source="person")
            used.system.outcome(search, "succeeded", used.meant, org="a", caller=caller)
    model = str(used.system.embedder.model)
    found = used.system.database.read(lambda session: EvidenceRepository(session).of("a", model, 2))
    assert [each.is_good for each in found] == [False] * MAX_OF_A_TOOL * len(MEMBERS)


def test_where_texts_are_left_out_vectors_teach_and_are_measured(used: Used) -> None:
    used.use()
    used.system.sql("UPDATE mcp.receipts SET query = NULL")
    assert used.learn().is_live
    assert used.found()[0] == "diary"
    assert used.system.rows("SELECT DISTINCT words FROM mcp.learned_requests") == [[[]]]


def test_another_organisations_answers_are_the_same_to_the_byte(used: Used) -> None:
    """Decision 44: nothing of what one organisation teaches reaches another, or callers without one."""
    used.system.tool("theirs", near(0.7), org="b", description="Something else.")
    before = {org: [used.answer(text=text, org=org) for text in TEXTS] for org in ("b", None)}
    used.use()
    assert used.learn().is_live
    assert {org: [used.answer(text=text, org=org) for text in TEXTS] for org in ("b", None)} == before
    assert used.learn("b").details["outcomes"] == used.learn(None).details["outcomes"] == 0


def test_the_global_catalogue_teaches_members_and_they_do_not_teach_it(used: Used) -> None:
    used.use(org=None)
    assert used.learn(None).is_live
    assert [used.found(org=org)[0] for org in ("a", "b", None)] == ["diary"] * 3


@pytest.mark.parametrize(
    "fault",
    ["no receipt", "another organisation", "not shown", "may not teach", "asked by one who may not", "changed since"],
)
def test_outcomes_that_fit_no_receipt_of_the_organisation_count_for_nothing(used: Used, fault: str) -> None:
    """Decision 44: an outcome of another organisation's search teaches neither of them."""
    for day in range(1, 13):
        for caller in MEMBERS:
            fields: dict[str, Any] = {"org": "b" if fault == "another organisation" else "a", "days_ago": day}
            if fault == "asked by one who may not":
                fields["may_teach"] = False
            shown = used.rivals[0] if fault == "not shown" else used.meant
            search = used.asked(TEXTS[0], shown, caller=caller, **fields)
            used.system.outcome(search, "succeeded", used.meant, org="a", caller=caller)
    if fault == "changed since":
        used.system.sql(f"UPDATE mcp.tools SET description = 'Another.' WHERE id = {used.meant}")
    if fault == "no receipt":
        used.system.sql("DELETE FROM mcp.receipts")
    if fault == "may not teach":
        used.system.sql("UPDATE mcp.outcomes SET may_teach = false")
    for org in ("a", "b"):
        assert used.learn(org).details["outcomes"] == 0


def test_use_through_the_routes_of_searches_and_outcomes_teaches(lend_used: Callable[..., Used]) -> None:
    used = lend_used(receipts="on")
    [high] = used.system.tools([("high", near(0.9))], description="Something else.")
    callers = [Caller(org_id="a", name=name, scopes=of_org("a").scopes) for name in MEMBERS]
    for text in TEXTS:
        for caller in callers:
            answer = used.system.search(text, caller=caller, include_schemas=False)
            used.system.outcome(_id(answer), "called", high, org="a", caller=caller.name)
    recorder = used.system.parts.receipts
    assert recorder is not None
    assert recorder.flush()
    # Of the thirty, three of each caller for the tool on this day.
    assert used.learn(dry_run=True).details["outcomes"] == 3 * len(MEMBERS)


def _id(answer: Any) -> Any:
    assert answer.metadata.search_id is not None
    return answer.metadata.search_id


def test_without_the_model_or_the_database_it_says_so(used: Used) -> None:
    learn = Learn(used.system.database, lambda: None, lambda org, model: lambda searched, learned: [])
    with pytest.raises(EmbeddingUnavailable, match="not known yet"):
        learn("a")
    used.system.database.down = True
    with pytest.raises(DatabaseUnavailable):
        used.learn()
