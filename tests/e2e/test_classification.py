"""An import of many tools, classified in the background: everything adds up, and searches go through the skills."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from skillroute_local.examples import EXAMPLES, read_jsonl

from tests.e2e.processes import SOAK, Processes, Up, answered, cli, eventually
from tests.e2e.work import AT_ONCE, given_up, rows_of, status, suspended_pump, verified

CATALOGUES = os.environ.get("SKILLROUTE_CATALOGUES")
"""A directory with real catalogues for the long version: `*/tools.jsonl` in each of its folders that is named below."""

_REAL = ("docker-mcp-catalog", "livemcp-catalog")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two catalogues that nobody has assigned to skills."""
    if SOAK:
        if CATALOGUES is None:
            pytest.skip("SKILLROUTE_CATALOGUES names no directory with real catalogues")
        return [Path(CATALOGUES) / name / "tools.jsonl" for name in _REAL]
    rows = [{**row, "server": f"branch {row['server']}"} for row in read_jsonl(EXAMPLES / "tools.jsonl")]
    halves = {"first": rows[::8], "second": rows[1::8]}
    for name, half in halves.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, half)), encoding="utf-8")
    return [tmp_path / f"{name}.jsonl" for name in halves]


def test_every_tool_is_classified_and_everything_adds_up(home: Path, processes: Processes, files: list[Path]) -> None:
    server = processes.up(home, **AT_ONCE).ready()
    imported_tools = sum(len(list(read_jsonl(file))) for file in files)
    expected = len(list(read_jsonl(EXAMPLES / "tools.jsonl"))) + imported_tools

    # WHEN both are imported while nobody classifies, the status tells what waits
    with suspended_pump(server):
        began = time.monotonic()
        imported = cli(home, "import", *map(str, files))
        imported_s = time.monotonic() - began
        assert imported.returncode == 0, imported.stderr
        said = status(server)
    began = time.monotonic()
    classify = next(each for each in said["queues"] if each["queue"] == "classify")
    assert classify["waiting"] >= imported_tools
    # As many messages as one organisation may have under way (docs/adr/0028).
    assert classify["ready"] + classify["under_way"] >= min(classify["waiting"], 200)
    assert (classify["given_up"], classify["dead_letters"]) == (0, 0)
    assert classify["oldest_s"] > 0
    assert said["status"] == "ok"
    assert said["index_lag"] >= imported_tools  # nobody has searched since

    # AND when it goes on, that it becomes less, until nothing is left
    depths: list[int] = [classify["waiting"]]

    with rows_of(server) as sql:

        def waiting() -> int:
            [[left]] = sql("SELECT count(*) FROM mcp.outbox")
            depths.append(left)
            return int(left)

        eventually(lambda: waiting() == 0, "nothing waits", within_s=600)
    classified_s = time.monotonic() - began

    # THEN each tool is in a skill or has a suggestion, and all says the same
    tools = everything(server, "/api/v1/tools")
    assert len(tools) == expected
    by_skill = assert_counted(server)
    suggested = {each["source_tool_id"] for each in everything(server, "/api/v1/skills/suggestions")}
    assert {tool["id"] for tool in tools} == by_skill | suggested
    assert not by_skill & suggested
    checked = cli(home, "verify")
    assert checked.returncode == 0, checked.stdout
    assert verified(server)["tools"] == expected

    assert_hierarchical(server, "merge two pdf files into one", "document_processing")
    assert_hierarchical(server, "which pods are running in the staging namespace", "container_orchestration")
    assert given_up(server) == []
    assert answered(server.http.get("/health"))["index_lag"] == 0
    sys.stdout.write(
        f"{expected} tools: imported in {imported_s:.1f} s, classified in {classified_s:.1f} s "
        f"(waiting: {depths[:: max(1, len(depths) // 8)]}), {len(by_skill)} in skills, {len(suggested)} suggested\n"
        f"{checked.stdout}"
    )


def everything(server: Up, path: str, **where: str) -> list[dict[str, Any]]:
    """Return all pages of a list, which must be as long as it says."""
    found: list[dict[str, Any]] = []
    while True:
        response = server.http.get(path, params={"limit": 1000, "offset": len(found), **where})
        found += answered(response)
        if len(found) >= int(response.headers["X-Total-Count"]) or not response.json():
            assert len(found) == int(response.headers["X-Total-Count"])
            return found


def assert_counted(server: Up) -> set[int]:
    """Each skill counts the tools that it lists; return the ids of all of them."""
    found: set[int] = set()
    for skill in everything(server, "/api/v1/skills", is_active="all"):
        members = everything(server, f"/api/v1/skills/{skill['id']}/tools")
        assert skill["tool_count"] == len(members)
        found |= {each["tool_id"] for each in members}
    return found


def assert_hierarchical(server: Up, query: str, skill_id: str) -> None:
    answer = server.search(query)
    metadata = answer["metadata"]
    assert (metadata["strategy_used"], metadata["search_mode"]) == ("hierarchical", "hybrid")
    assert (metadata["fallback_reason"], metadata["degraded"]) == (None, [])
    assert skill_id in metadata["skill_ids_used"]
    assert len(answer["tools"]) == 5
    assert skill_id in answer["tools"][0]["skill_ids"]
    for tool in answer["tools"]:
        assert not tool["skill_ids"] or set(tool["skill_ids"]) & set(metadata["skill_ids_used"])  # decision 39
