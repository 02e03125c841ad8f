"""The rows of mcp.outcomes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from skillroute.core.postgres.database import Session
from skillroute.learning.model import Outcome


class OutcomeRepository:
    """Outcomes, in the order in which they came."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def add(self, outcomes: Sequence[Outcome]) -> None:
        """Store outcomes: of two of a caller for one tool of a search, the later one has the higher id."""
        rows = [
            {
                "place": place,
                "search_id": str(one.search_id),
                "tool_id": one.tool_id,
                "org_id": one.org_id,
                "caller": one.caller,
                "may_teach": one.may_teach,
                "outcome": one.outcome,
                "source": one.source,
            }
            for place, one in enumerate(outcomes)
        ]
        self._run("insert_outcomes", rows=json.dumps(rows))
