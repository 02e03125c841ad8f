"""Evidence of outcomes on tools: one piece for each caller, tool and search, within what a caller may say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from skillroute.core.embedding.model import packed
from skillroute.core.postgres.database import Session
from skillroute.learning.model import OutcomeKind, Source

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
        Id and place of the searched text: one text of one search.
    text : str or None
        Without secrets; None where texts are left out.
    caller : str
        Who reported it; all callers without a name are one.
    """

    search: str
    asked_at: datetime
    text: str | None
    vector: Sequence[float]
    tool_id: int
    caller: str
    is_good: bool
    source: Source = "program"


class EvidenceRepository:
    """Outcomes that are joined with their receipts."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def of(self, org_id: str | None, model: str) -> list[Evidence]:
        """Return an organisation's evidence with vectors of a model, the oldest first; None is the global catalogue."""
        rows = self._run("evidence", org_id=org_id, model=model, limit=MAX_EVIDENCE)
        return [
            Evidence(
                search=f"{search_id}/{nth}",
                asked_at=asked_at,
                text=text,
                vector=packed(bytes(vector)),
                tool_id=tool_id,
                caller=caller or "",
                is_good=outcome in GOOD,
                source=source,
            )
            for search_id, nth, asked_at, text, vector, _, tool_id, caller, outcome, source in reversed(rows)
        ]


def counted(evidence: Iterable[Evidence]) -> list[Evidence]:
    """Return the evidence that counts.

    What a person marked goes before what programs reported of the same tool and search. A caller counts for a tool
    `MAX_OF_A_TOOL` times a day, and for all together `MAX_OF_A_DAY` times; and, where there are several callers, for no
    more than half of what counts for a tool, the newest: a flood says little, however long it lasts.
    """
    found = list(evidence)
    marked = {(each.search, each.tool_id) for each in found if each.source == "person"}
    of_tool: Counter[tuple[object, ...]] = Counter()
    of_day: Counter[tuple[object, ...]] = Counter()
    kept = []
    for each in found:
        if each.source != "person" and (each.search, each.tool_id) in marked:
            continue
        day = each.caller, each.asked_at.date()
        if of_tool[*day, each.tool_id] >= MAX_OF_A_TOOL or of_day[day] >= MAX_OF_A_DAY:
            continue
        of_tool[*day, each.tool_id] += 1
        of_day[day] += 1
        kept.append(each)
    return _halved(kept)


def _halved(evidence: list[Evidence]) -> list[Evidence]:
    """Return evidence of which no caller of several has more than half for a tool; `MAX_OF_A_TOOL` in any case."""
    if len({each.caller for each in evidence}) < 2:
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


def callers_needed(evidence: Sequence[Evidence]) -> int:
    """Return how many callers must agree on a request: two, where the organisation has more than one."""
    return min(2, len({each.caller for each in evidence}))
