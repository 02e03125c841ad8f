"""Lines that are imported: what is wrong with one, and what is there already (docs/adr/0052)."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from skillroute.core.caller import LAPTOP
from skillroute.core.portable.restore import MAX_LINES

from tests.builders import System
from tests.doubles import once
from tests.portable_lines import imported, statuses


def test_a_bad_line_is_named_with_its_field_and_the_others_go_on(client: TestClient, system: System) -> None:
    good = {"kind": "tool", "name": "good", "description": "Good."}
    skill = {"kind": "skill", "id": "garden", "name": "Garden", "description": "Water the plants."}
    assigned = {"skill_id": "garden", "confidence": 0.9, "is_primary": True, "source": "similarity"}
    named = {"decided_by": "similarity", "input_hash": "x", "assigned": [assigned]}
    bad: list[tuple[Any, str]] = [
        (7, "line"),
        ({"name": "x"}, "kind"),
        ({"kind": "weather"}, "kind"),
        ({"kind": ["tool"]}, "kind"),
        ({"kind": "tool", "name": ""}, "name"),
        ({"kind": "tool", "name": "late", "created_at": "yesterday"}, "created_at"),
        ({"kind": "tool", "name": "sure", "skills": {"assigned": [{**assigned, "confidence": 2}]}},
         "skills.assigned.0.confidence"),
        ({"kind": "tool", "name": "who", "skills": {"assigned": [{**assigned, "skill_id": "nobody"}]}},
         "skills.assigned.0.skill_id"),
        ({"kind": "tool", "name": "two", "skills": {"assigned": [assigned, assigned]}}, "skills.assigned"),
        ({"kind": "skill", "id": "Big", "name": "Big", "description": "Long enough."}, "id"),
        ({"kind": "suggestion", "suggestion": "new_skill", "name": "X", "source": "similarity", "status": "pending",
          "created_at": "2026-01-01T00:00:00Z", "tool": {"name": "gone"}}, "tool"),
        ({"kind": "server", "server_json": {"description": "no name"}}, "server_json.name"),
        ({"kind": "message", "key": "k", "project": "none", "from": "a", "to": ["b"], "subject": "s"}, "project"),
        ({"kind": "message", "key": "k", "project": "p", "from": "a", "to": ["b"], "subject": "s",
          "acknowledged": {"c": "2026-01-01T00:00:00Z"}}, "acknowledged.c"),
    ]  # fmt: skip
    lines = [skill, *(line for line, _ in bad), good, {**good, "name": "better", "skills": named}]
    results = imported(client, lines)
    assert [result["index"] for result in results] == list(range(len(lines)))
    assert [(result["status"], (result["error"] or {}).get("field")) for result in results] == [
        ("created", None),
        *(("failed", field) for _, field in bad),
        ("created", None),
        ("created", None),
    ]
    assert [row[0] for row in system.rows("SELECT name FROM mcp.tools ORDER BY id")] == ["good", "better"]


def test_a_field_of_a_newer_version_is_left_out_of_any_line_with_a_warning(client: TestClient) -> None:
    skill = {"kind": "skill", "id": "garden", "name": "Garden", "description": "Water the plants."}
    assigned = {"skill_id": "garden", "confidence": 0.9, "is_primary": True, "source": "similarity", "since": 3}
    decided = {"decided_by": "similarity", "input_hash": "x", "assigned": [assigned], "revision": 2}
    suggestion = {
        "kind": "suggestion", "suggestion": "new_skill", "name": "Beds", "source": "similarity", "status": "pending",
        "created_at": "2026-01-01T00:00:00Z", "tool": {"name": "dig", "colour": "red"}, "weight": 1, "tool_nam": "dig",
    }  # fmt: skip
    lines = [
        skill | {"colour": "green"},
        {"kind": "tool", "name": "water", "skills": decided, "descripton": "Waters."},
        {"kind": "tool", "name": "dig"},
        suggestion,
        {"kind": "project", "key": "p", "name": "P", "colour": "red"},
        {"kind": "message", "key": "m", "project": "p", "from": "a", "to": ["b"], "subject": "s", "colour": "red"},
    ]
    results = imported(client, lines)
    assert statuses(results) == {"created"}
    assert [[each["field"] for each in result["warnings"]] for result in results] == [
        ["colour"],
        ["descripton", "skills.revision", "skills.assigned.0.since"],
        [],
        ["weight", "tool_nam", "tool.colour"],
        ["colour"],
        ["colour"],
    ]
    [warning] = [each for each in results[3]["warnings"] if each["field"] == "tool_nam"]
    assert warning["message"] == "is unknown and was left out: did you mean tool_name?"


@pytest.mark.parametrize("lines", [[{"kind": "end"}, {"kind": "page", "after": "x"}], []])
def test_last_lines_of_pages_are_passed_over(shared_client: TestClient, lines: list[dict[str, Any]]) -> None:
    answer = shared_client.post("/api/v1/import", json=lines).json()
    assert (answer["results"], answer["failed"], answer["degraded"]) == ([], 0, [])


def test_more_lines_than_a_call_takes_are_refused(shared_client: TestClient) -> None:
    lines = [{"kind": "tool", "name": f"t{number}"} for number in range(MAX_LINES + 1)]
    assert shared_client.post("/api/v1/import", json={"lines": lines}).status_code == 422


def test_a_call_that_is_sent_again_while_it_is_at_work_is_carried_out_once(client: TestClient, system: System) -> None:
    line = {"kind": "skill", "id": "garden", "name": "Garden", "description": "Water the plants."}
    system.database.before_transact = once(lambda: statuses(imported(client, [line])))
    assert statuses(imported(client, [line])) == {"unchanged"}


def test_a_skill_that_is_there_keeps_the_time_when_it_was_made(client: TestClient) -> None:
    line = {"kind": "skill", "id": "garden", "name": "Garden", "description": "Water the plants."}
    assert statuses(imported(client, [line | {"created_at": "2026-01-01T00:00:00Z"}])) == {"created"}
    assert statuses(imported(client, [line | {"created_at": "2026-02-02T00:00:00Z"}])) == {"unchanged"}
    assert statuses(imported(client, [line | {"name": "G", "created_at": "2026-02-02T00:00:00Z"}])) == {"updated"}
    assert client.get("/api/v1/skills/garden").json()["created_at"].startswith("2026-01-01")


def test_a_skill_too_many_fails_alone(client: TestClient, monkeypatch: Any) -> None:
    monkeypatch.setattr("skillroute.skills.create.MAX_SKILLS", 1)
    line = {"kind": "skill", "name": "Garden", "description": "Water the plants."}
    tool = {"kind": "tool", "name": "water", "description": "Waters."}
    results = imported(client, [line | {"id": "first"}, line | {"id": "second"}, tool])
    assert [(result["status"], result["id"]) for result in results][:2] == [("created", None), ("failed", None)]
    assert results[2]["status"] == "created"


def test_a_tool_that_is_switched_on_stays_inactive_while_its_server_is_disabled(
    client: TestClient, system: System
) -> None:
    [tool, _] = system.put("cut", "mix", server="film")
    system.parts.catalogue.switch(tool, LAPTOP, is_active=False)
    client.put("/api/v1/servers", json=[{"name": "film", "description": "Films.", "is_enabled": False}])
    line = {"kind": "tool", "server": "film", "name": "cut", "is_switched_off": False}
    assert statuses(imported(client, [line])) == {"updated"}
    stored = "SELECT name, is_active, is_switched_off FROM mcp.tools ORDER BY id"
    assert system.rows(stored) == [["cut", False, False], ["mix", False, False]]
    [server] = client.get("/api/v1/servers").json()
    client.post(f"/api/v1/servers/{server['id']}/enable")
    assert system.rows(stored) == [["cut", True, False], ["mix", True, False]]
