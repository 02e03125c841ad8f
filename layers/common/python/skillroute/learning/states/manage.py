"""Looking at what was learned, and switching it: each organisation its own (decision 26, ADR 71)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from skillroute.core.caller import Caller
from skillroute.core.errors.model import NotFound
from skillroute.core.postgres.database import Database, Session
from skillroute.learning.access import require_operator_of_what_is_global
from skillroute.learning.states.model import OfTool, StateHead, UseCounts
from skillroute.learning.states.repository import StateRepository

Kept = Literal["on", "without-texts", "off"]


class Status(NamedTuple):
    """The state of learning for an organisation.

    Attributes
    ----------
    receipts : {"on", "without-texts", "off"}
        What the deployment keeps of searches.
    states : sequence of StateHead
        The newest first.
    is_automatic : bool
        Whether a state that is measured to be better goes live by itself: until a person chooses one, or none.
    """

    receipts: Kept
    receipts_days: int
    use: UseCounts
    states: Sequence[StateHead]
    is_automatic: bool

    @property
    def live(self) -> StateHead | None:
        """The state that searches of the organisation go by."""
        return next((state for state in self.states if state.is_live), None)


class ManageStates:
    """Looks at the states of the caller's organisation and switches between them; without one, at the global ones.

    Parameters
    ----------
    receipts : {"on", "without-texts", "off"}
    receipts_days : int
        How long receipts are kept.
    """

    def __init__(self, database: Database, *, receipts: Kept, receipts_days: int) -> None:
        self._database = database
        self._receipts: Kept = receipts
        self._receipts_days = receipts_days

    def status(self, caller: Caller) -> Status:
        """Return what is kept of use, and what was learned of it."""
        return self._database.read(lambda session: self._status(session, caller))

    def tools(self, caller: Caller, state_id: int, *, limit: int, offset: int) -> tuple[Sequence[OfTool], int]:
        """Return a page of what a state has learned, tool by tool, and how much that is in all. Raises `NotFound`."""
        found = self._database.read(
            lambda session: StateRepository(session).of_tools(caller.org_id, state_id, limit=limit, offset=offset)
        )
        if found is None:
            raise _missing(state_id)
        return found

    def switch(self, caller: Caller, state_id: int | None) -> Status:
        """Make one of the states live, or with None none, and keep it so; processes that search follow within seconds.

        Raises
        ------
        Forbidden
            The state would be that of the global catalogue, and the caller is not the operator.
        NotFound
            The organisation has no such state; what was live is live.
        """
        require_operator_of_what_is_global(caller, "the state of the global catalogue is changed")

        def switched(session: Session) -> Status:
            states = StateRepository(session)
            if not states.make_live(caller.org_id, state_id):
                raise _missing(state_id)
            states.hold(caller.org_id, is_held=True)
            return self._status(session, caller)

        return self._database.transact(switched)

    def go_on(self, caller: Caller) -> Status:
        """Let states go live by themselves again; what is live stays until one is better. Raises `Forbidden`."""
        require_operator_of_what_is_global(caller, "the state of the global catalogue is changed")

        def released(session: Session) -> Status:
            StateRepository(session).hold(caller.org_id, is_held=False)
            return self._status(session, caller)

        return self._database.transact(released)

    def _status(self, session: Session, caller: Caller) -> Status:
        states = StateRepository(session)
        org_id, is_held = caller.org_id, states.is_held(caller.org_id)
        return Status(self._receipts, self._receipts_days, states.use(org_id), states.list(org_id), not is_held)


def _missing(state_id: int | None) -> NotFound:
    return NotFound(f"learned state {state_id} does not exist")
