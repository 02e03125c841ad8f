"""The budgets of all processes, in PostgreSQL: one statement a charge (docs/adr/0065)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from skillroute.core.postgres.database import Database
from skillroute.core.rationing.budgets import HELD_S, Charge


class PostgresBudgets:
    """Charges budgets that all processes share.

    Parameters
    ----------
    database : callable
        Returns the database, at the first charge: what starts needs none, nor its driver.
    """

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def charge(self, charges: Sequence[Charge]) -> float:
        """Charge all budgets, or none where one is spent; return the seconds until it is not, 0 where all were charged.

        Raises
        ------
        DatabaseUnavailable, StatementRejected
            PostgreSQL is away, its schema is older than this, or others hold the rows.
        """
        keys, seconds = [charge.key for charge in charges], [charge.seconds for charge in charges]
        # `read` is one statement without a transaction around it. One that runs twice is charged twice at worst.
        [[wait_s]] = self._database().read(
            lambda session: session.run("charge_budgets", keys=keys, seconds=seconds, held_s=HELD_S)
        )
        return float(wait_s)
