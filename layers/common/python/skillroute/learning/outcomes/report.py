"""Taking in what callers report of tools that a search showed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.postgres.database import Database
from skillroute.learning.model import Outcome, OutcomeKind, Source, caller_hash, may_teach
from skillroute.learning.outcomes.repository import OutcomeRepository

MAX_OUTCOMES = 500
"""Outcomes of one call."""


@dataclass(frozen=True, slots=True)
class Reported:
    """An outcome as a caller reports it; `tool_id` is None with `nothing_fits`."""

    search_id: UUID
    outcome: OutcomeKind
    tool_id: int | None = None
    source: Source = "program"


class ReportOutcomes:
    """`POST /api/v1/feedback`, one or many.

    Neither the search nor the tool is looked up: the receipt may be written later, and an answer that depends on it
    would reveal what another organisation asks. What fits no receipt of the caller's organisation counts for nothing
    when something is learned.

    Parameters
    ----------
    is_kept : bool
        False where receipts are off: nothing is stored.
    learn_global_from : str
        Whose use teaches the catalogue that all organisations share.
    """

    def __init__(
        self, database: Database, *, is_kept: bool, learn_global_from: Literal["administrators", "everyone"]
    ) -> None:
        self._database = database
        self._is_kept = is_kept
        self._learn_global_from = learn_global_from

    def __call__(self, reported: Sequence[Reported], caller: Caller) -> bool:
        """Store outcomes of a caller, `MAX_OUTCOMES` at most; return whether they are kept.

        Raises
        ------
        InvalidInput
            There are more.
        DatabaseUnavailable
            None was stored.
        """
        if len(reported) > MAX_OUTCOMES:
            raise InvalidInput("outcomes", f"{len(reported)} outcomes; at most {MAX_OUTCOMES} in one call")
        if not self._is_kept or not reported:
            return self._is_kept
        who, teaches = caller_hash(caller), may_teach(caller, self._learn_global_from)
        outcomes = [
            Outcome(one.search_id, one.tool_id, one.outcome, caller.org_id, who, teaches, one.source)
            for one in reported
        ]
        self._database.transact(lambda session: OutcomeRepository(session).add(outcomes))
        return True
