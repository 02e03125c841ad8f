"""What the examples lack for the console's tests and pictures: suggestions that wait, and texts full of markup."""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.integration.rows import connected

if TYPE_CHECKING:
    from tests.e2e.processes import Server

CATALOGUES = ("docker-mcp-catalog", "livemcp-catalog")
SCRIPT = "<img src=x onerror=\"window.pwned='image'\"><script>window.pwned='script'</script>"
"""A text that would run, were it markup."""

_SUGGESTED = {
    "Garden watering": (
        "Watering plants and opening valves of irrigation.",
        ["water_plants", "open_valve"],
    ),
    "Bee keeping": ("Looking after hives, bees and honey.", ["inspect_hive"]),
    "Knife sharpening": ("Sharpening knives, scissors and other blades.", ["sharpen_blade"]),
    "Organ tuning": ("Tuning organs and other instruments with pipes.", ["tune_pipe"]),
    "Clock repair": ("Repairing clocks and watches.", ["repair_clock"]),
    "Tap dancing": ("Dancing with shoes that tap.", ["tap_dance"]),
}


def data() -> Path:
    """Return the folder of the public catalogues, which may not be there."""
    return Path(os.environ.get("DATA") or Path(__file__).parents[3] / "shared" / "data")


def plant(server: Server) -> None:
    """Write tools for which skills are suggested, and one whose every text is markup."""
    tools = [
        {"server": "workshop", "name": name, "description": f"{name.replace('_', ' ').capitalize()}: {description}"}
        for description, names in _SUGGESTED.values()
        for name in names
    ]
    schema = {"type": "object", "properties": {SCRIPT: {"type": "string", "description": SCRIPT}}}
    hostile = {"server": "hostile", "name": "hostile_tool", "description": f"Hostile: {SCRIPT}", "tags": ["hostile"]}
    server.put(*tools, hostile | {"input_schema": schema, "annotations": {"title": SCRIPT}})
    _import(server, [_line(name, *of) for name, of in _SUGGESTED.items()])
    _plant_use(server)
    for description in ("Adds numbers.", "Adds numbers, all that there are."):
        server.put({"server": "sums", "name": "add_numbers", "description": description})


def _plant_use(server: Server) -> None:
    """Write what use leaves behind: two states, requests that found nothing, and judged ones."""
    run = server.home.running()
    assert run is not None
    with connected(run.database_url) as sql:
        for number, gained in enumerate((0.021, 0.043), start=1):
            sql(
                "WITH s AS (INSERT INTO mcp.learned_states (model, is_live, was_better, report) VALUES "
                f"('planted (1 dimension)', {number == 2}, true, '{json.dumps(_report(140 * number, gained))}') "
                "RETURNING id) INSERT INTO mcp.learned_requests (state_id, tool_id, nth, vector, share, words, "
                "searches, callers) SELECT s.id, t.id, 0, '\\x0000803f', 1, "
                "string_to_array(t.name, '_'), 9, 4 FROM s, mcp.tools t WHERE t.server = 'workshop'"
            )
        for tool, text, outcome in _ASKED:
            quoted = text.replace("'", "''")
            sql(
                "WITH r AS (INSERT INTO mcp.receipts (search_id, nth, caller, may_teach, door, query, query_hash, "
                f"shown, no_match) SELECT gen_random_uuid(), 0, 'ann', true, 'http', '{quoted}', md5('{quoted}'), "
                f"jsonb_build_array(jsonb_build_array(t.id, t.content_hash, 0.4)), {outcome is None} "
                f"FROM mcp.tools t WHERE t.name = '{tool}' RETURNING search_id, shown) "
                "INSERT INTO mcp.outcomes (search_id, tool_id, caller, may_teach, outcome, source) SELECT search_id, "
                f"(shown -> 0 ->> 0)::bigint, 'ann', true, '{outcome}', 'program' FROM r WHERE {outcome is not None}"
            )


_ASKED = (
    ("water_plants", "wash the dog", None),
    ("water_plants", "wash the dog", None),
    ("inspect_hive", f"feed the fish {SCRIPT}", None),
    ("inspect_hive", "are my bees well", "called"),
    ("repair_clock", "the watch has stopped", "succeeded"),
)


def _report(outcomes: int, gained: float) -> dict[str, Any]:
    before = {"recall@1": 0.55, "recall@5": 0.91, "ndcg@5": 0.741}
    differences = {name: {"mean": gained, "low": gained / 3, "high": gained * 2} for name in before}
    compared = {
        "is_better": True,
        "reason": "nDCG@5 is higher",
        "before": before,
        "after": {name: value + gained for name, value in before.items()},
        "differences": differences,
    }
    counts = {"outcomes": outcomes, "counted": outcomes, "searches": outcomes - 20, "callers": 6, "held_out": 30}
    return counts | {"reason": "nDCG@5 is higher", "compared_with_live": compared, "compared_with_none": compared}


def _line(name: str, description: str, tools: list[str]) -> list[dict[str, Any]]:
    return [
        {
            "kind": "suggestion", "suggestion": "new_skill", "name": name, "description": description,
            "tool": {"server": "workshop", "type": "tool", "name": tool}, "tool_name": tool, "skill_id": None,
            "reasoning": f"No skill is about {name.lower()}.", "source": "llm_auto", "status": "pending",
            "resolved_skill_id": None, "reviewed_by": None, "review_reason": None,
            "created_at": f"2026-11-2{at}T09:00:00Z", "reviewed_at": None,
        }
        for at, tool in enumerate(tools)
    ]  # fmt: skip


def suggest(server: Server, name: str) -> None:
    """Write a tool, and suggest a skill of its own for it, as a classifier does."""
    tool = name.lower().replace(" ", "_")
    server.put({"server": "workshop", "name": tool, "description": f"{name}, as a hobby."})
    _import(server, [_line(name, f"All about {name.lower()}.", [tool])])


def _import(server: Server, groups: list[list[dict[str, Any]]]) -> None:
    from tests.e2e.processes import answered

    lines = [line for group in groups for line in group]
    answer = answered(server.http.post("/api/v1/import", json={"lines": lines}))
    failed = [result for result in answer["results"] if result["status"] == "failed"]
    assert not failed, failed


def put_catalogues(server: Server) -> int:
    """Write the tools of the two public catalogues; return how many there are, 0 where the folder is not there."""
    return put_many(server, len(_catalogues()))


def put_many(server: Server, count: int) -> int:
    """Write so many tools, those of the public catalogues over and over; return how many, 0 without the catalogues."""
    real = _catalogues()
    if not real:
        return 0
    for at in range(0, count, 250):
        server.put(*(_copy(real[each % len(real)], each // len(real)) for each in range(at, min(at + 250, count))))
    return count


def _copy(tool: dict[str, Any], nth: int) -> dict[str, Any]:
    if nth == 0:
        return tool
    return tool | {"server": f"{tool['server']}-{nth}", "description": f"{tool.get('description', '')} ({nth})"}


def _catalogues() -> list[dict[str, Any]]:
    kept = ("name", "description", "server", "input_schema")
    found: list[dict[str, Any]] = []
    for name in CATALOGUES:
        path = data() / name / "tools.jsonl"
        if not path.exists():
            return []
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
        found += [{key: row[key] for key in kept if row.get(key) is not None} for row in rows]
    return found


def plant_judged(server: Server) -> None:
    """Write the examples' judged requests as those of the console."""
    path = Path(__file__).parents[2] / "examples" / "queries.jsonl"
    examples = [json.loads(line) for line in path.read_text("utf-8").splitlines()[:40]]
    judged = [{"query": each["query"], "needs": [each["relevant"]] if each["relevant"] else []} for each in examples]
    (server.home.path / "requests.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in judged), "utf-8")


def plant_history(server: Server) -> None:
    """Write a day of figures, busy by day and with a gap, as the recorder would have."""
    from skillroute_local.history.figures import Counts, Span, Waiting, classes_of
    from skillroute_local.history.ring import HistoryFile

    file = HistoryFile(server.home.history_file)
    now = int(time.time()) // 60 * 60
    for minute in range(1, 24 * 60):
        if 300 < minute < 340:  # the machine slept
            continue
        searches = int(30 + 25 * math.sin(minute / 200) + 8 * math.sin(minute / 7))
        counts = Counts(searches, empty=searches // 12, degraded=int(600 < minute < 630) * 4, refused=minute % 90 == 0)
        took = [6.0 + 2 * math.sin(minute / 120)] * max(1, searches - 2) + [18.0 + minute % 11] * 2
        waits = max(0, 40 - abs(700 - minute))
        file.add(Span(now - minute * 60, 60.0, counts, Waiting(0, waits, waits, 0), classes_of(took)))
