"""Admits work: charges the caller's budget and waits for its turn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from skillroute.core.caller import Caller
from skillroute.core.rationing.budgets import Budgets
from skillroute.core.rationing.turns import Turns

HEAVY_UNITS = 3.0
"""From which on work gives way to plain requests."""


class Work:
    """Charges for work, and has it take its turn."""

    def __init__(self, budgets: Budgets, turns: Turns) -> None:
        self.turns = turns
        self._budgets = budgets

    def charge(self, caller: Caller, units: float) -> None:
        """Charge for work that takes no turn: it waits for others most of its time. Raises `BudgetSpent`."""
        self._budgets.charge(caller, units)

    @contextmanager
    def __call__(self, caller: Caller, units: float) -> Iterator[None]:
        """Do the work of the block, which costs as much as that many plain searches.

        Raises
        ------
        BudgetSpent
            The caller has none of its budget left, or its organisation.
        """
        self.charge(caller, units)
        # Counted from here on: who is refused, or has not sent its request yet, keeps nobody waiting.
        with self.turns.heavy() if units >= HEAVY_UNITS else self.turns.plain():
            yield
