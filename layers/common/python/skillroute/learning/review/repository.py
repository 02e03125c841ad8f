"""The rows of mcp.receipts, mcp.outcomes and mcp.learned_states, as people look at them and have them deleted."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Any

from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import Rights
from skillroute.learning.review.model import (
    JudgedRequest,
    KeptOutcome,
    KeptReceipt,
    NamedTool,
    ReceiptPlace,
    Wording,
)
from skillroute.search.receipts import Shown

MAX_RECEIPTS = 5_000
"""That found nothing, of which requests are grouped."""

MAX_WORDINGS = 1_000
"""Of them, to be compared with each other."""

MAX_OUTCOMES = 50_000
"""Of which requests are judged."""


class ReviewRepository:
    """Receipts, outcomes and learned states of one organisation or of callers without one."""

    def __init__(self, session: Session, org_id: str | None, rights: Rights) -> None:
        self._run = session.run
        self._rights = rights.as_json()
        self._org_id = org_id

    def unserved(self, days: int) -> list[Wording]:
        """Return the latest requests that found nothing that fits, equal ones as one, the most frequent first."""
        rows = self._run(
            "unserved_requests", org_id=self._org_id, days=days, max_receipts=MAX_RECEIPTS, max_wordings=MAX_WORDINGS
        )
        return [
            Wording(query, model, packed, searches, frozenset(callers), last_at, {int(id_): n for id_, n in t.items()})
            for _, model, query, packed, searches, callers, last_at, t in rows
        ]

    def tools(self, tool_ids: Collection[int]) -> dict[int, NamedTool]:
        """Return the tools of these ids that the organisation sees, by id."""
        rows = self._run("titles_of_tools", ids=sorted(tool_ids), org_id=self._org_id, rights=self._rights)
        return {id_: NamedTool(id_, server, name) for id_, server, name in rows}

    def judged(self, days: int, *, limit: int, offset: int) -> tuple[list[JudgedRequest], int]:
        """Return a page of the requests that outcomes judge, the most frequent first, and how many there are."""
        rows = self._run(
            "judged_requests",
            org_id=self._org_id,
            rights=self._rights,
            days=days,
            max_outcomes=MAX_OUTCOMES,
            limit=limit,
            offset=offset,
        )
        return [JudgedRequest(*row[1:]) for row in rows if row[1] is not None], rows[0][0]

    def count_receipts(self, caller: str | None, after: ReceiptPlace | None) -> tuple[int, int]:
        """Return how many receipts there are, and how many behind a place."""
        [[total, remaining]] = self._run("count_receipts", org_id=self._org_id, caller=caller, **_place(after))
        return total, remaining

    def receipts(self, caller: str | None, after: ReceiptPlace | None, limit: int) -> list[KeptReceipt]:
        """Return receipts with the outcomes of their searches, the oldest first."""
        rows = self._run("list_receipts", org_id=self._org_id, caller=caller, limit=limit, **_place(after))
        return [_receipt(*row) for row in rows]

    def delete_receipts(self, caller: str, max_rows: int) -> int:
        """Delete receipts of a caller, as many as are asked for; return how many there were."""
        return self._deleted("delete_receipts_of_caller", caller=caller, max_rows=max_rows)

    def delete_outcomes(self, caller: str, max_rows: int) -> int:
        """Delete outcomes of a caller, as many as are asked for; return how many there were."""
        return self._deleted("delete_outcomes_of_caller", caller=caller, max_rows=max_rows)

    def delete_learned_of_one_caller(self, max_rows: int) -> int:
        """Delete learned requests that are of one caller alone, as many as are asked for; return how many there were.

        Pairs of their states go with them.
        """
        return self._deleted("delete_learned_of_one_caller", max_rows=max_rows)

    def delete_outcomes_of_tool(self, tool_id: int, max_rows: int) -> int:
        """Delete outcomes of a tool, as many as are asked for; return how many there were."""
        return self._deleted("delete_outcomes_of_tool", tool_id=tool_id, max_rows=max_rows)

    def forget_tool(self, tool_id: int) -> tuple[int, int, int]:
        """Delete what was learned of a tool; return the numbers of requests and pairs, and of states that had any."""
        [[requests, pairs, states]] = self._run("forget_tool", tool_id=tool_id, org_id=self._org_id)
        return requests, pairs, states

    def _deleted(self, statement: str, **params: object) -> int:
        [[number]] = self._run(statement, org_id=self._org_id, **params)
        return int(number)


def _place(after: ReceiptPlace | None) -> dict[str, object]:
    return {
        "after_time": after.asked_at if after else None,
        "after_search": str(after.search_id) if after else None,
        "after_nth": after.nth if after else None,
    }


def _receipt(*row: Any) -> KeptReceipt:
    *kept, shown, no_match, outcomes = row
    values = [*kept, [Shown(*each) for each in shown], no_match, [_outcome(*each) for each in outcomes]]
    return KeptReceipt(*values)


def _outcome(*row: Any) -> KeptOutcome:
    *kept, reported_at = row
    return KeptOutcome._make([*kept, datetime.fromisoformat(reported_at)])
