"""What a dry run says is what the write then does, and it leaves everything as it was."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.routes import fill
from tests.builders import System
from tests.portable_lines import exported, filled

SKILL = {"kind": "skill", "id": "garden", "name": "Garden", "description": "Water the plants."}
ASSIGNED = {"skill_id": "garden", "confidence": 0.9, "is_primary": True, "source": "similarity"}
TOOL = {
    "kind": "tool",
    "server": "green",
    "name": "water",
    "description": "Waters.",
    "skills": {"decided_by": "similarity", "input_hash": "x", "assigned": [ASSIGNED]},
}


def tried(client: TestClient, path: str, body: Any, method: str = "POST") -> dict[str, Any]:
    """Return the answer of a dry run, once the write has had the same, but for ids."""
    before = exported(client)
    answers = []
    for params in ({"dry_run": "true"}, {}):
        response = client.request(method, path, json=body, params=params)
        assert response.status_code == 200, response.text
        answers.append(response.json())
        if params:
            assert exported(client) == before
    dry, wet = ([{**result, "id": None} for result in answer["results"]] for answer in answers)
    assert dry == wet
    answer: dict[str, Any] = answers[0]
    assert all(result["id"] is None for result in answer["results"] if result["status"] == "created")
    return answer


def test_lines_that_name_what_stands_before_them_are_tried_together(client: TestClient) -> None:
    pending = {
        "kind": "suggestion", "suggestion": "new_skill", "name": "Beds", "source": "similarity", "status": "pending",
        "created_at": "2026-01-01T00:00:00Z", "tool": {"server": "green", "name": "dig"},
    }  # fmt: skip
    lines = [
        SKILL,
        TOOL,
        {"kind": "tool", "server": "green", "name": "dig"},
        pending,
        {"kind": "server", "path": "/green", "is_enabled": True, "server_json": {"name": "green"}},
        {"kind": "project", "key": "beds", "name": "Beds"},
        {"kind": "message", "key": "m", "project": "beds", "from": "Ann", "to": ["Bob"], "subject": "Spring"},
        {"kind": "nonsense", "x": 1},
        {"kind": "tool", "name": ""},
        {"kind": "tool", "name": "rake", "descripton": "Rakes."},
        {"kind": "tool", "name": "sow", "skills": {"assigned": [{**ASSIGNED, "skill_id": "nobody"}]}},
        {"kind": "tool", "name": "weed", "metadata": {"a": "\u0000"}},
    ]
    answer = tried(client, "/api/v1/import", {"lines": lines})
    statuses = [result["status"] for result in answer["results"]]
    assert statuses == ["created"] * 7 + ["failed", "failed", "created", "failed", "failed"]
    assert [note["field"] for note in answer["results"][9]["warnings"]] == ["descripton"]
    assert (answer["created"], answer["failed"], answer["degraded"]) == (8, 4, [])
    again = tried(client, "/api/v1/import", {"lines": [*lines[:7], {**SKILL, "name": "Gardens"}]})
    assert [result["status"] for result in again["results"]] == ["unchanged"] * 7 + ["updated"]


def test_a_refusal_of_postgresql_undoes_no_line_of_the_same_dry_run(client: TestClient, system: System) -> None:
    system.sql("ALTER TABLE mcp.tools ADD CONSTRAINT no_rake CHECK (name <> 'rake')")
    tools = [{"kind": "tool", "name": name} for name in ("dig", "rake", "sow")]
    try:
        answer = tried(client, "/api/v1/import", [SKILL, *tools, TOOL])
    finally:  # the database is the next test's as well
        system.sql("ALTER TABLE mcp.tools DROP CONSTRAINT no_rake")
    assert [result["status"] for result in answer["results"]] == ["created", "created", "failed", "created", "created"]


def test_a_whole_export_is_tried_against_an_empty_and_a_full_skillroute(
    client: TestClient, other_client: TestClient, system: System
) -> None:
    filled(system)
    lines = exported(client)
    empty = tried(other_client, "/api/v1/import", lines)
    assert (empty["created"], empty["failed"]) == (len(lines), 0)
    full = tried(client, "/api/v1/import", lines)
    assert full["unchanged"] == len(lines)


def test_what_is_tried_makes_no_work_and_counts_for_nothing(client: TestClient, system: System) -> None:
    calls = len(system.embedder.calls)
    response = client.post("/api/v1/import?dry_run=true", json=[SKILL, TOOL])
    assert [result["status"] for result in response.json()["results"]] == ["created", "created"]
    assert system.rows("SELECT count(*) FROM mcp.outbox") == [[0]]
    assert system.rows("SELECT count(*) FROM mcp.index_changes") == [[0]]
    assert len(system.embedder.calls) == calls


@pytest.mark.parametrize(
    ("kind", "things"),
    [
        ("projects", [{"key": "garden", "name": "Another"}, {"key": "beds", "name": "Beds"}, {"key": ""}]),
        ("products", [
            {"key": "all", "name": "All", "projects": ["garden"]},
            {"key": "none", "name": "None", "projects": ["nowhere"]},
        ]),
        ("agents", [{"name": "Ann", "projects": ["garden"]}, {"name": 7}]),
        ("messages", [
            {"key": "m", "project": "garden", "from": "Ann", "to": ["Bob"], "subject": "Spring", "subjekt": "x"},
            {"key": "n", "project": "nowhere", "from": "Ann", "to": ["Bob"], "subject": "Spring"},
        ]),
    ],
)  # fmt: skip
def test_mail_is_tried(client: TestClient, system: System, kind: str, things: list[Any]) -> None:
    fill(system)
    answer = tried(client, f"/api/v1/mail/{kind}", things, "PUT")
    assert (answer["failed"], answer["created"]) == (1, 1)


def test_a_deletion_is_tried(client: TestClient, system: System) -> None:
    first, second = system.put("dig", "sow", server="green")
    body = {"ids": [first, 999_999, second, first]}
    answer = client.post("/api/v1/tools/delete?dry_run=true", json=body).json()
    assert (answer["deleted"], answer["failed"]) == (2, 2)
    assert len(client.get("/api/v1/tools").json()) == 2
    of_server = client.post("/api/v1/tools/delete?dry_run=true", json={"server": "green"}).json()
    assert (of_server["deleted"], len(client.get("/api/v1/tools").json())) == (2, 2)
    assert client.post("/api/v1/tools/delete", json=body).json() == answer
    assert client.get("/api/v1/tools").json() == []
