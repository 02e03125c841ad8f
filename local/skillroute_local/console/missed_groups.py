"""Requests that found nothing, from receipts or from the memory of the process, as the page Unanswered shows them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Literal

import skillroute_client as api
from skillroute_client import AsyncSkillroute
from skillroute_client.models import Unserved

from skillroute_local.console.missed_decisions import Line, shown, wordings_of

_ROWS = 1000
_JUDGED = {"served", "nothing"}
_COLUMNS = ["request", "searches", "callers", "last_at", "state", "tool", "nearest_tools", "wordings"]

Row = dict[str, Any]


async def read_groups(client: AsyncSkillroute, days: int, decisions: list[Line]) -> dict[str, Any]:
    """Return the groups of some days with their states.

    ``receipts`` is the setting, None where the caller may not know it, and ``scope`` the one that is missing to see
    what receipts have. Decisions on requests that are not among them have rows of their own: to those who may not see
    requests only such as stand in the judged requests as well.
    """
    scope, receipts, kept_days, total = None, None, None, 0
    rows: list[Row] = []
    try:
        status = await client.learning.status()
        receipts, kept_days = status.receipts, status.receipts_days
        page = await client.learning.unserved(days=days, limit=_ROWS).first()
        rows, total = [_of_receipts(group) for group in page.items], page.total or len(page.items)
    except api.Forbidden as refused:
        scope = "admin" if refused.code == "operator_only" else "skills"
    process = [] if receipts == "on" else await _of_process(client, rows)
    decided = decisions if scope is None else [line for line in decisions if line["decision"] in _JUDGED]
    by_wording = wordings_of(decided)
    rows += process
    for row in rows:
        line = next((by_wording[each["query"]] for each in row["asked"] if each["query"] in by_wording), None)
        row |= {"decision": shown(line), "state": line["decision"] if line else "open"}
    known = {row["decision"]["query"] for row in rows if row["decision"]}
    rows += [_of_decision(line) for line in decided if line["query"] not in known]
    return {
        "rows": rows,
        "left_out": max(0, total - _ROWS),
        "receipts": receipts,
        "receipts_days": kept_days,
        "scope": scope,
        "of_process": len(process),
    }


def as_text(rows: list[Row], form: Literal["csv", "jsonl"]) -> str:
    """Return groups as a file to plan with."""
    plain = [_plain(row) for row in rows]
    if form == "jsonl":
        return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in plain)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in plain:
        cells = ["; ".join(cell) if isinstance(cell, list) else cell for cell in row.values()]
        writer.writerow([_safe(cell) for cell in cells])
    return text.getvalue()


def _plain(row: Row) -> Row:
    decision = row["decision"] or {}
    return {
        "request": row["query"],
        "searches": row["searches"],
        "callers": row["callers"],
        "last_at": row["last_at"],
        "state": row["state"],
        "tool": (decision.get("tool") or {}).get("title"),
        "nearest_tools": [
            f"{tool['server']}/{tool['name']}" if tool["server"] else tool["name"] for tool in row["tools"]
        ],
        "wordings": [each["query"] for each in row["asked"] if each["query"] != row["query"]],
    }


def _safe(cell: Any) -> Any:
    """Return a cell that no program of tables takes for a formula: the words are those of a search."""
    return f"'{cell}" if isinstance(cell, str) and cell[:1] in "=+-@\t\r" else cell


def _of_receipts(group: Unserved) -> Row:
    row = group.model_dump(mode="json")
    # An older Skillroute counts no wordings.
    texts = [] if group.query is None else [group.query, *group.wordings]
    row["asked"] = row.get("asked") or [{"query": text, "searches": None} for text in texts]
    return row | {"source": "receipts"}


async def _of_process(client: AsyncSkillroute, rows: list[Row]) -> list[Row]:
    """Return what the process that answers remembers, but for what receipts have; nothing where it is not shown."""
    known = {each["query"] for row in rows for each in row["asked"]}
    found = (await client.ready()).model_dump(mode="json").get("found_nothing") or []
    return [
        _row(one["query"], one["times"], None, one["last_at"], "process") for one in found if one["query"] not in known
    ]


def _of_decision(line: Line) -> Row:
    group = line.get("group") or {}
    row = _row(line["query"], group.get("searches") or 0, group.get("callers"), group.get("last_at"), "decision")
    return row | {"decision": shown(line), "state": line["decision"]}


def _row(query: str, searches: int, callers: int | None, last_at: str | None, source: str) -> Row:
    asked = [{"query": query, "searches": searches, "callers": callers, "last_at": last_at}]
    counts = {"searches": searches, "callers": callers, "last_at": last_at}
    return {"query": query, **counts, "asked": asked, "tools": [], "source": source}
