"""Help in the tools' answers: hints within the text, what to try, and what was degraded (message-search, 7)."""

from __future__ import annotations

import re
from typing import Any

from skillroute.mail.search.model import DowngradeReason
from skillroute.mail.search.outcome import SearchOutcome
from skillroute.mail.search.tools.arguments import ToolArguments

HINT_FIELDS = ("from", "thread", "importance", "before", "after")
MAX_DISTANCE = 2

_HINT = re.compile(r"(?<!\S)([A-Za-z_]{1,32}):(\"[^\"]*\"|\S+)")
_AROUND = "\"',;?!)"

_WHAT_HELPS: dict[DowngradeReason, str] = {
    "index_not_ready": "The index is being built, or cannot be reached: ask again later, or reindex.",
    "engine_error": "The vector index failed and PostgreSQL's full text took its place: ask again later.",
    "invalid_query": "Full text cannot ask this query: use fewer and shorter words.",
}
_NO_TIME = "Too little time was left: ask for less, or give the function a longer timeout."
_NO_RERANKER = "There is no reranker to be had: ask for the mode hybrid, or configure one."
_NO_MODEL = "The embedding model is unavailable: try again in 30 s, or use the mode lexical."

_DROP = {
    "sender": "Look for messages of any sender.",
    "importance": "Look for messages of any importance.",
    "thread_id": "Look in all threads.",
}
_WIDEN = {
    "date_start": "Look for older messages too.",
    "date_end": "Look for newer messages too.",
}


def assistance(text: str) -> dict[str, Any] | None:
    """Return which filters a query seems to mean within its text; they are words like all others, and filter nothing.

    Examples
    --------
    >>> assistance("deploy form:BlueLake")
    {'applied_filter_hints': [], 'did_you_mean': [{'given': 'form', 'suggestion': 'from'}]}
    """
    # Keys of dictionaries, since each is shown once and a query of colons has thousands.
    hints: dict[tuple[str, str], None] = {}
    meant: dict[str, str | None] = {}
    for name, written in _HINT.findall(text):
        value = written.strip(_AROUND)
        field = name.lower()
        if field in HINT_FIELDS:
            hints[field, value] = None
        elif name not in meant:
            meant[name] = _nearest(field)
    applied = [{"field": field, "value": value} for field, value in hints if value]
    did_you_mean = [{"given": name, "suggestion": near} for name, near in meant.items() if near is not None]
    if not applied and not did_you_mean:
        return None
    return {"applied_filter_hints": applied, "did_you_mean": did_you_mean}


def guidance(given: ToolArguments) -> dict[str, Any]:
    """Return what else to try where nothing was found: one suggestion for each filter, else for the query."""
    suggestions: list[dict[str, str | None]] = [
        {"filter": name, "action": action, "message": message}
        for action, filters in (("drop", _DROP), ("widen", _WIDEN))
        for name, message in filters.items()
        if getattr(given, name) not in (None, ())
    ]
    if given.skipped:
        suggestions.append({"filter": "offset", "action": "drop", "message": "Look at the first results."})
    simplify = {"filter": None, "action": "simplify", "message": "Use fewer words, or others."}
    return {"suggestions": suggestions or [simplify]}


def diagnostics(outcome: SearchOutcome) -> dict[str, Any] | None:
    """Return what was less than asked for, and why; None when nothing was."""
    if not outcome.is_degraded:
        return None
    left_ms = outcome.budget.left_ms
    fields = {
        "degraded": True,
        "fallback_mode": outcome.actual,
        "timeout_stage": outcome.timeout_stage,
        "budget_tier": outcome.budget.tier,
        "budget_remaining_ms": None if left_ms is None else round(left_ms),
        "search_index_state": outcome.index_state,
        "remediation_hints": [_what_helps(outcome)],
    }
    return {name: value for name, value in fields.items() if value is not None}


def _what_helps(outcome: SearchOutcome) -> str:
    if outcome.reason in _WHAT_HELPS:
        return _WHAT_HELPS[outcome.reason]
    if outcome.timeout_stage is not None:
        return _NO_TIME
    return _NO_RERANKER if outcome.actual == "hybrid" else _NO_MODEL


def _nearest(name: str) -> str | None:
    # Each letter that one has more than the other is one to insert or to delete.
    near = [field for field in HINT_FIELDS if abs(len(field) - len(name)) <= MAX_DISTANCE]
    distances = {field: edit_distance(name, field) for field in near}
    return min((field for field in near if distances[field] <= MAX_DISTANCE), key=distances.__getitem__, default=None)


def edit_distance(one: str, other: str) -> int:
    """Return how many letters to insert, delete or replace to get from one word to another (Levenshtein).

    Examples
    --------
    >>> edit_distance("form", "from"), edit_distance("importence", "importance")
    (2, 1)
    """
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above = row
        row = [i]
        for j, against in enumerate(other, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != against)))
    return row[-1]
