"""Live states as searches go by them: whose they are, what they may bring, when they are forgotten and looked after."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.learning.states.live import LOOK_EVERY_S, LiveStates

from tests.builders import of_org
from tests.component.learning.conftest import TEXTS, Used, near
from tests.component.registry.search.searched import Registry
from tests.doubles import FakeClock, LogRecords


def test_a_state_that_is_live_serves_its_organisation_alone(used: Used) -> None:
    """Decision 44."""
    before = {org: used.answer(org=org) for org in ("b", None)}
    used.lives(used.meant)
    assert used.found()[0] == "diary"
    assert {org: used.answer(org=org) for org in ("b", None)} == before


def test_a_state_of_the_global_catalogue_serves_everyone(used: Used) -> None:
    used.lives(used.meant, org=None)
    assert [used.found(org=org)[0] for org in (None, "a", "b")] == ["diary"] * 3


def test_an_organisations_own_state_goes_before_the_global_one_for_the_same_tool(used: Used) -> None:
    [other] = used.system.tools([("other", near(0.0))], description="Something else.")
    used.lives(used.meant, other, org=None)
    used.lives(used.meant, vector=near(0.0))
    assert used.found(org="b")[:2] == ["diary", "other"]
    assert used.found()[0] == "other"
    assert "diary" not in used.found()


def test_a_state_that_is_not_live_changes_nothing(used: Used) -> None:
    before = used.answer()
    used.lives(used.meant, is_live=False)
    assert used.answer() == before


def test_vectors_of_another_model_are_left_alone(used: Used) -> None:
    before = used.answer()
    used.lives(used.meant, model="another (8 dimensions)")
    assert used.answer() == before


@pytest.mark.parametrize("mode", ["semantic", "lexical"])
def test_other_modes_do_not_go_by_it(used: Used, mode: str) -> None:
    before = used.answer(mode=mode)
    used.lives(used.meant)
    assert used.answer(mode=mode) == before


def test_what_a_query_names_stays_first_whatever_was_learned(used: Used) -> None:
    """Decision 40 is stronger than what use teaches."""
    text = "rival_3: note it down"
    used.lives(used.meant, vector=[1.0, *[0.0] * 7])
    assert used.found(text)[:2] == ["rival_3", "diary"]


def test_a_tool_that_a_caller_may_not_see_is_never_brought(used: Used) -> None:
    """Decision 44: not even a state that names another organisation's tool shows it."""
    theirs = used.system.tool("theirs", near(0.0), org="b")
    before = used.answer()
    used.lives(theirs)
    assert used.answer() == before


def test_a_tool_of_a_disabled_server_is_never_brought(used: Used) -> None:
    registry = Registry(used.system)
    registry.server("/off", near(0.0), name="Off", is_enabled=False, tools={"drill": near(0.0)})
    [[drill]] = used.system.rows("SELECT id FROM mcp.tools WHERE name = 'drill'")
    before = used.answer()
    used.lives(drill)
    assert used.answer() == before


def test_filters_of_a_search_hold_for_what_is_learned(used: Used) -> None:
    used.lives(used.meant)
    assert used.found(server=["nowhere"]) == []
    assert used.found(item_type="prompt") == []


def test_explain_shows_what_was_learned_and_how_much_of_it_counts(used: Used) -> None:
    used.lives(used.meant, share=0.875)
    first, second, *_ = used.search(explain=True).model_dump()["tools"]
    assert (first["name"], first["explain"]["learned_cosine"]) == ("diary", pytest.approx(1.0))
    assert (first["explain"]["learned_share"], first["explain"]["cosine"]) == (0.875, pytest.approx(0.0, abs=1e-6))
    assert (second["explain"]["learned_cosine"], second["explain"]["learned_share"]) == (None, None)


# Forgotten


@pytest.mark.parametrize(
    "change",
    [
        "description = 'Says something else.', content_hash = repeat('1', 64)",
        "input_schema = '{\"title\": \"other\"}', content_hash = repeat('2', 64)",
        "is_active = false",
    ],
)
def test_what_was_learned_of_a_tool_is_forgotten_when_it_changes(used: Used, change: str) -> None:
    used.lives(used.meant, used.rivals[0])
    used.system.sql(f"UPDATE mcp.tools SET {change} WHERE id = {used.meant}")
    assert used.live() == [used.rivals[0]]
    assert used.system.rows("SELECT revision FROM mcp.learned_states") == [[1]]


def test_it_is_forgotten_when_the_tool_is_written_with_another_schema_and_searches_see_that(used: Used) -> None:
    [tool] = used.system.put("jot", description="Jots.", input_schema={"type": "object"})
    used.lives(tool)
    used.system.put("jot", description="Jots.", input_schema={"type": "object"})
    assert used.live() == [tool]
    used.system.put("jot", description="Jots.", input_schema={"type": "object", "title": "other"})
    assert used.live() == []


def test_it_is_forgotten_when_the_tool_is_switched_off_and_not_back_when_it_is_on(used: Used) -> None:
    [tool] = used.system.put("jot", description="Jots.")
    search = used.asked(TEXTS[0], tool)
    used.system.outcome(search, "succeeded", tool)
    used.lives(tool)
    for is_active in (False, True):
        used.system.parts.catalogue.switch(tool, of_org(None), is_active=is_active)
        assert used.live() == []
    # What was reported is kept, and teaches nothing any more.
    assert used.learn(None).details["outcomes"] == 0


def test_it_goes_with_the_tool(used: Used) -> None:
    used.lives(used.meant)
    used.system.sql(f"DELETE FROM mcp.tools WHERE id = {used.meant}")
    assert used.live() == []
    used.look()
    assert "diary" not in used.found()


def test_it_stays_when_something_unrelated_changes(used: Used) -> None:
    used.lives(used.meant)
    used.system.sql(f"UPDATE mcp.tools SET updated_at = now() WHERE id = {used.meant}")
    # A server that writes a date into its metadata is none that says something else.
    used.system.sql(
        "UPDATE mcp.tools SET metadata = '{\"day\": 2}', annotations = '{}', tags = '{new}', "
        f"content_hash = repeat('6', 64) WHERE id = {used.meant}"
    )
    used.system.sql(
        f"UPDATE mcp.tools SET description = 'Other.', content_hash = repeat('3', 64) WHERE id = {used.rivals[0]}"
    )
    assert used.live() == [used.meant]
    assert used.system.rows("SELECT revision FROM mcp.learned_states") == [[0]]


# Looking


def states(used: Used, clock: FakeClock) -> LiveStates:
    return LiveStates(used.system.database, clock=clock)


def test_a_process_looks_every_few_seconds_at_most(used: Used) -> None:
    clock, model = FakeClock(), used.system.embedder.model
    live, caller = states(used, clock), of_org("a")
    assert live.of(caller, model) is None
    used.lives(used.meant)
    calls = used.system.database.calls
    clock.advance(LOOK_EVERY_S - 0.1)
    assert live.of(caller, model) is None
    assert used.system.database.calls == calls
    clock.advance(0.1)
    first = live.of(caller, model)
    assert first is not None
    assert used.system.database.calls == calls + 1
    clock.advance(LOOK_EVERY_S)
    assert live.of(caller, model) is first, "the same state is not read again"


def test_a_process_sees_what_is_forgotten_and_what_is_switched_off(used: Used) -> None:
    """Decision 44: it can be taken back."""
    clock, model = FakeClock(), used.system.embedder.model
    live = states(used, clock)
    used.lives(used.meant, used.rivals[0])
    before = live.of(of_org("a"), model)
    assert before is not None
    used.system.sql(f"UPDATE mcp.tools SET description = 'Another.' WHERE id = {used.meant}")
    clock.advance(LOOK_EVERY_S)
    after = live.of(of_org("a"), model)
    assert after is not None
    assert (len(before), len(after)) == (2, 1)
    used.system.sql("UPDATE mcp.learned_states SET is_live = false")
    clock.advance(LOOK_EVERY_S)
    assert live.of(of_org("a"), model) is None


def test_while_postgresql_is_away_searches_go_by_what_is_known(
    used: Used, counted: Callable[[str], float], log: LogRecords
) -> None:
    clock, model = FakeClock(), used.system.embedder.model
    live = states(used, clock)
    used.lives(used.meant)
    known = live.of(of_org("a"), model)
    used.system.database.down = True
    clock.advance(LOOK_EVERY_S)
    assert live.of(of_org("a"), model) is known
    assert counted("LearnedUnavailable") == 1
    assert log.having("learned requests not looked after")
    calls = used.system.database.calls
    assert live.of(of_org("a"), model) is known
    assert used.system.database.calls == calls, "the next look comes later"
    with pytest.raises(DatabaseUnavailable):
        live.of(of_org("b"), model)


def test_where_nothing_is_known_the_answer_says_that_what_was_learned_is_missing(
    used: Used, counted: Callable[[str], float], log: LogRecords
) -> None:
    used.search()
    used.lives(used.meant)
    used.system.database.down = True
    answer = used.search()
    assert answer.metadata.degraded == ["learned_unavailable"]
    assert answer.tools[0].name.startswith("rival")
    assert counted("SearchDegraded") == 1
    assert log.having("search degraded")
