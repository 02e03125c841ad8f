"""Receipts in PostgreSQL: adding them, and deleting what is too old."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.core.postgres.database import Database, Session

PRUNED_AT_ONCE = 10_000
"""Receipts, and as many outcomes, of one run of the relay: a sixth to a third of a second."""


class ReceiptRepository:
    """Reads and writes `mcp.receipts`."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows, as `RowMaker` makes them; those that are there stay as they are."""
        self._run("add_receipts", rows=json.dumps(list(rows)))

    def prune(self, *, days: int, limit: int = PRUNED_AT_ONCE) -> int:
        """Delete receipts and outcomes that are older, the oldest first, so many of each; return how many went."""
        [[receipts]] = self._run("prune_receipts", days=days, limit=limit)
        [[outcomes]] = self._run("prune_outcomes", days=days, limit=limit)
        return int(receipts) + int(outcomes)


def add_receipts(database: Database, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of receipts. Raises `DatabaseUnavailable`.

    In one statement of its own, and one round trip. It may run twice, as what only reads: after a connection that was
    lost while a function's environment was frozen, that is all it costs.
    """
    database.read(lambda session: ReceiptRepository(session).add(rows))
