"""What the examples lack for the console's tests and pictures: suggestions that wait, and texts full of markup."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def _import(server: Server, groups: list[list[dict[str, Any]]]) -> None:
    from tests.e2e.processes import answered

    lines = [line for group in groups for line in group]
    answer = answered(server.http.post("/api/v1/import", json={"lines": lines}))
    failed = [result for result in answer["results"] if result["status"] == "failed"]
    assert not failed, failed


def put_catalogues(server: Server) -> int:
    """Write the tools of the two public catalogues; return how many there are, 0 where the folder is not there."""
    written = 0
    for name in CATALOGUES:
        path = data() / name / "tools.jsonl"
        if not path.exists():
            return 0
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
        kept = ("name", "description", "server", "input_schema")
        items = [{key: row[key] for key in kept if row.get(key) is not None} for row in rows]
        for at in range(0, len(items), 250):
            server.put(*items[at : at + 250])
        written += len(items)
    return written
