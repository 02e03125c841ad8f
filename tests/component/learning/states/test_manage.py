"""Looking at what was learned, and switching it: each organisation its own (decision 26)."""

from __future__ import annotations

import pytest
from skillroute.core.caller import LAPTOP, Caller, Scope
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import Forbidden, NotFound
from skillroute.learning.states.live import LiveStates

from tests.builders import System, of_org

ACME, GLOBEX = of_org("acme"), of_org("globex")


def live_of(system: System, caller: Caller) -> int | None:
    live = system.parts.learning.states.status(caller).live
    return None if live is None else live.id


def known(learned: LiveStates, caller: Caller) -> set[str]:
    """Return the tools that a caller's searches are taught something of."""
    found = learned.of(caller, EmbeddingModel("test", 2))
    return set() if found is None else {*found.near([1.0, 0.0])}


def test_each_organisation_sees_its_own_states_and_use_alone(system: System) -> None:
    tool = system.tool("fly")
    ours, theirs, shared = (system.learned(tool, org=org) for org in ("acme", "globex", None))
    system.outcome(system.receipt("book a flight", tool, org="globex"), "called", tool, org="globex")
    for caller, state, searches in ((ACME, ours, 0), (GLOBEX, theirs, 1), (LAPTOP, shared, 0)):
        found = system.parts.learning.states.status(caller)
        assert ([each.id for each in found.states], found.use.searches, found.use.outcomes) == (
            [state], searches, searches
        )  # fmt: skip


@pytest.mark.parametrize("org", ["globex", None])
def test_a_state_of_another_is_neither_seen_nor_switched_to_and_what_is_live_stays(
    system: System, org: str | None
) -> None:
    tool = system.tool("fly")
    ours, theirs = system.learned(tool, org="acme"), system.learned(tool, org=org, is_live=False)
    with pytest.raises(NotFound):
        system.parts.learning.states.tools(ACME, theirs, limit=10, offset=0)
    with pytest.raises(NotFound):
        system.parts.learning.states.switch(ACME, theirs)
    assert live_of(system, ACME) == ours


def test_a_switch_leaves_what_others_go_by(system: System) -> None:
    tool = system.tool("fly")
    theirs, shared = system.learned(tool, org="globex"), system.learned(tool)
    system.learned(tool, org="acme")
    assert system.parts.learning.states.switch(ACME, None).live is None
    assert (live_of(system, GLOBEX), live_of(system, LAPTOP)) == (theirs, shared)


def test_what_was_chosen_by_hand_stays_until_it_may_go_on(system: System) -> None:
    """Decision 44: what is learned can be switched off, and stays so."""
    states = system.parts.learning.states
    assert states.status(ACME).is_automatic
    assert not states.switch(ACME, None).is_automatic
    assert states.status(LAPTOP).is_automatic
    assert states.go_on(ACME).is_automatic


def test_the_global_state_is_switched_by_the_operator_alone(system: System) -> None:
    shared = system.learned(system.tool("fly"))
    curator = Caller(scopes=frozenset({Scope.SKILLS}))
    with pytest.raises(Forbidden):
        system.parts.learning.states.switch(curator, None)
    with pytest.raises(Forbidden):
        system.parts.learning.states.go_on(curator)
    assert live_of(system, curator) == shared
    assert system.parts.learning.states.switch(LAPTOP, None).live is None


def test_an_organisation_that_chose_nothing_learned_goes_by_the_global_state_neither(system: System) -> None:
    """Decision 44: none is nothing, until it may go on."""
    shared, own = system.tools([("fly", None), ("drive", None)])
    system.learned(shared)
    state = system.learned(own, org="acme")
    learned, switching = LiveStates(system.database, look_every_s=0.0), system.parts.learning.states
    ours, everyone = {str(own), str(shared)}, {str(shared)}
    assert known(learned, ACME) == ours
    switching.switch(ACME, None)
    assert known(learned, ACME) == set()
    assert known(learned, GLOBEX) == known(learned, LAPTOP) == everyone
    switching.switch(ACME, state)
    assert known(learned, ACME) == ours, "a state of its own that a person chose takes nothing away"
    switching.switch(ACME, None)
    switching.go_on(ACME)
    assert known(learned, ACME) == everyone


def test_an_organisation_goes_by_the_global_state_while_its_own_is_of_another_model(system: System) -> None:
    shared, own = system.tools([("fly", None), ("drive", None)])
    system.learned(shared)
    state = system.learned(own, org="acme", model="another (2 dimensions)")
    system.parts.learning.states.switch(ACME, state)
    assert known(LiveStates(system.database), ACME) == {str(shared)}


def test_searches_go_by_the_state_that_was_switched_to(system: System) -> None:
    older, newer = system.tools([("fly", None), ("drive", None)])
    state = system.learned(older, is_live=False)
    system.learned(newer)
    learned = LiveStates(system.database, look_every_s=0.0)
    assert known(learned, LAPTOP) == {str(newer)}
    system.parts.learning.states.switch(LAPTOP, state)
    assert known(learned, LAPTOP) == {str(older)}
    system.parts.learning.states.switch(LAPTOP, None)
    assert known(learned, LAPTOP) == set()
