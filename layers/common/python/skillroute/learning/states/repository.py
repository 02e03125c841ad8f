"""The rows of mcp.learned_states and of what hangs on them."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence

from skillroute.core.embedding.model import to_bytes
from skillroute.core.postgres.database import Session
from skillroute.learning.states.model import LearnedRequest, LiveVersion, NewState, OfTool, StateHead, UseCounts

STATES_KEPT = 20
"""States of an organisation that it can be switched back to, in addition to the live one."""

_AT_ONCE = 1000


class StateRepository:
    """States of organisations; None stands for the global catalogue's."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def add(self, state: NewState) -> int:
        """Store a state, which is not live, and return its id."""
        org, report = state.org_id, json.dumps(state.report)
        id_: int = self._run(
            "insert_learned_state", org_id=org, model=state.model, was_better=state.was_better, report=report
        )[0][0]
        since = state.began_at
        for start in range(0, len(state.requests), _AT_ONCE):
            rows = json.dumps([_row(request) for request in state.requests[start : start + _AT_ONCE]])
            self._run("insert_learned_requests", state_id=id_, requests=rows, org_id=org, began_at=since)
        if state.pairs:
            pairs = [{"tool_id": p.tool_id, "with_id": p.with_id, "searches": p.searches} for p in state.pairs]
            self._run("insert_learned_pairs", state_id=id_, pairs=json.dumps(pairs), began_at=since)
        self._run("drop_old_states", org_id=org, kept=STATES_KEPT)
        return id_

    def make_live(self, org_id: str | None, state_id: int | None) -> bool:
        """Make one of an organisation's states live, or with None none; return whether there is such a state."""
        self.lock(org_id)
        self._run("end_live_state", org_id=org_id)
        return state_id is None or bool(self._run("make_state_live", org_id=org_id, state_id=state_id))

    def lock(self, org_id: str | None) -> None:
        """Let no other transaction change what is live for an organisation until this one ends."""
        self._run("lock_learned_states", org_id=org_id)

    def hold(self, org_id: str | None, *, is_held: bool) -> None:
        """Note whether a person chose what is live, so that no later state takes its place."""
        self._run("hold_live_state", org_id=org_id, is_held=is_held)

    def is_held(self, org_id: str | None) -> bool:
        """Return whether a person chose what is live."""
        return bool(self._run("is_live_state_held", org_id=org_id)[0][0])

    def live(self, org_id: str | None, model: str) -> list[LiveVersion]:
        """Return the live states that searches of an organisation go by: its own, and the global one."""
        return [LiveVersion(*row) for row in self._run("live_versions", org_id=org_id, model=model)]

    def vectors(self, state_ids: Sequence[int]) -> list[tuple[int, bytes, float]]:
        """Return tool, vector and share of each learned request, tool by tool; an organisation's before global ones."""
        return [
            (tool, bytes(vector), share) for tool, vector, share in self._run("learned_vectors", state_ids=[*state_ids])
        ]

    def pairs(self, state_ids: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return pairs of tools with their searches, the most first."""
        return [(one, other, searches) for one, other, searches in self._run("learned_pairs", state_ids=[*state_ids])]

    def of_tools(
        self, org_id: str | None, state_id: int, *, limit: int, offset: int
    ) -> tuple[list[OfTool], int] | None:
        """Return some of a state's requests, tool by tool, and how many it has; None: it is not the organisation's."""
        counted = self._run("count_learned_of_state", org_id=org_id, state_id=state_id)
        if not counted:
            return None
        rows = self._run("learned_of_tools", state_id=state_id, limit=limit, offset=offset)
        return [OfTool(*row) for row in rows], counted[0][0]

    def use(self, org_id: str | None) -> UseCounts:
        """Return how much is kept of an organisation's use."""
        [row] = self._run("count_use", org_id=org_id)
        return UseCounts(*row)

    def list(self, org_id: str | None, limit: int = STATES_KEPT + 1) -> list[StateHead]:
        """Return an organisation's states, the newest first."""
        return [StateHead(*row) for row in self._run("list_learned_states", org_id=org_id, limit=limit)]


def _row(request: LearnedRequest) -> dict[str, object]:
    return {
        "tool_id": request.tool_id,
        "nth": request.nth,
        "vector": b64encode(to_bytes(request.vector)).decode("ascii"),
        "share": request.share,
        "words": list(request.words),
        "searches": request.searches,
        "callers": request.callers,
    }
