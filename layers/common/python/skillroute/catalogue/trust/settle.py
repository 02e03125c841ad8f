"""Items whose definitions change are noted, quarantined or released within the write that changes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from skillroute.core.bulk.outcomes import Outcome
from skillroute.core.caller import Caller
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.postgres.database import Session
from skillroute.core.settings.trust import ChangedDefinitions

OutT = TypeVar("OutT", bound=Outcome)

CHANGED_DEFINITION = "changed_definition"
"""The type of a warning about an item that is not as it was approved."""

_MESSAGES: Mapping[bool, str] = {
    True: "is not the approved one: nothing finds or calls the item until it is approved "
    "(POST /api/v1/trust/approve, skillroute trust approve)",
    False: "is not the approved one: POST /api/v1/trust/approve or skillroute trust approve approves it",
}


@dataclass(frozen=True, slots=True)
class Trust:
    """How far writers of definitions are trusted.

    Attributes
    ----------
    changed : str
        What becomes of items that are not as they were approved.
    approves : bool
        Whether what is written counts as approved by its writer.
    """

    changed: ChangedDefinitions = "warn"
    approves: bool = False

    @property
    def how(self) -> Literal["off", "warn", "block", "approve"]:
        """The work of `settle`."""
        return "approve" if self.approves else self.changed


WARNED = Trust()
"""Changes are listed, and their writers warned."""


def settle(session: Session, item_ids: Collection[int], trust: Trust, caller: Caller) -> set[int]:
    """Quarantine items or release them, and return those that are not as they were approved."""
    if not item_ids:
        return set()
    rows = session.run("settle_definitions", ids=sorted(item_ids), how=trust.how, who=caller.name)
    return {row[0] for row in rows}


def with_warning(outcome: OutT, changed: Collection[int], trust: Trust) -> OutT:
    """Return an outcome that says so where its item is not as it was approved."""
    if outcome.id not in changed:
        return outcome
    warning = FieldProblem("definition", _MESSAGES[trust.changed == "block"], CHANGED_DEFINITION)
    return replace(outcome, warnings=(*outcome.warnings, warning))
