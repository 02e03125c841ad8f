"""Evidence of outcomes on tools: one piece for each caller, tool and search, within what a caller may say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from skillroute.core.embedding.model import packed
from skillroute.core.postgres.database import Session
from skillroute.learning.model import OutcomeKind

MAX_EVIDENCE = 50_000
"""Of one organisation, the newest."""

MAX_OF_A_TOOL = 3
"""Searches of one caller that count for one tool on one day."""

MAX_OF_A_DAY = 200
"""Searches of one caller that count on one day."""

GOOD: frozenset[OutcomeKind] = frozenset({"called", "succeeded"})


@dataclass(frozen=True, slots=True)
class Evidence:
    """The report of one caller on one tool that a search had shown.

    Attributes
    ----------
    search : str
        The id of the search.
    text : str or None
        Without secrets; None where texts are left out.
    caller : str
        Who asked, and so who alone knows the search's id; all callers without a name are one.
    """

    search: str
    asked_at: datetime
    text: str | None
    vector: Sequence[float]
    tool_id: int
    caller: str
    is_good: bool


class EvidenceRepository:
    """Outcomes that are joined with their receipts, each tool of a search once."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def of(self, org_id: str | None, model: str, needed: int) -> list[Evidence]:
        """Return an organisation's evidence with vectors of a model, the oldest first; None is the global catalogue.

        A caller has `MAX_OF_A_TOOL` pieces for a tool and day, and `MAX_OF_A_DAY` for a day, before the newest are
        taken; where one alone searches (`callers_needed`), as many as there are.
        """
        of_tool, of_day = (MAX_OF_A_TOOL, MAX_OF_A_DAY) if needed > 1 else (MAX_EVIDENCE, MAX_EVIDENCE)
        rows = self._run("evidence", org_id=org_id, model=model, of_tool=of_tool, of_day=of_day, limit=MAX_EVIDENCE)
        return [
            Evidence(
                search=search_id,
                asked_at=asked_at,
                text=text,
                vector=packed(bytes(vector)),
                tool_id=tool_id,
                caller=caller or "",
                is_good=outcome in GOOD,
            )
            for search_id, asked_at, text, vector, caller, tool_id, outcome in rows
        ]

    def callers_needed(self, org_id: str | None) -> int:
        """Return how many callers must agree on a request: two, where more than one of the organisation searches."""
        found: int = self._run("callers_who_ask", org_id=org_id)[0][0]
        return found


def counted(evidence: list[Evidence], needed: int) -> list[Evidence]:
    """Return the evidence that counts: all of it where one caller alone searches.

    Where several do, none has more than half of what counts for a tool, the newest, but `MAX_OF_A_TOOL` in any case: a
    flood says little, however long it lasts.
    """
    if needed < 2:
        return evidence
    of_tool = Counter(each.tool_id for each in evidence)
    of_caller = Counter((each.tool_id, each.caller) for each in evidence)
    counts: Counter[tuple[int, str]] = Counter()
    kept = []
    for each in reversed(evidence):
        place = each.tool_id, each.caller
        if counts[place] < max(MAX_OF_A_TOOL, of_tool[each.tool_id] - of_caller[place]):
            counts[place] += 1
            kept.append(each)
    return kept[::-1]
