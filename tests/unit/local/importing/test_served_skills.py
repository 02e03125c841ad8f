"""Agent Skills of MCP servers: read with all their files, and nothing taken that is not as the server said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from skillroute_local.importing.check import checked
from skillroute_local.importing.model import Choices, Row
from skillroute_local.importing.running import read_one

from tests.stubs.skills_server import FILES

STUB = Path(__file__).parents[3] / "stubs" / "skills_server.py"
REFUNDS = "skill://acme/billing/refunds/SKILL.md"


def imported(behaviour: str) -> tuple[dict[str, Row], list[str], list[str]]:
    """Return the rows by path or name, what was refused, and what was left out."""
    refused: list[str] = []

    def refuse(where: str, reason: str, *_: object) -> None:
        refused.append(f"{where}: {reason}")

    reading = read_one(f"{sys.executable} {STUB} {behaviour}", Choices(server="Acme Docs", timeout_s=30.0), refuse)
    rows = [each.row for each in checked(reading.rows, refuse)]
    return {row.value.get("path") or row.value["name"]: row for row in rows}, refused, list(reading.left_out)


def test_skills_come_in_below_the_servers_name_with_all_files_and_not_as_resources_too() -> None:
    rows, refused, left_out = imported("good")

    assert refused == []
    assert sorted(rows) == [
        "acme-docs/acme/billing/refunds", "acme-docs/git-workflow", "acme-docs/reports/daily", "readme",
    ]  # fmt: skip
    refunds = rows["acme-docs/acme/billing/refunds"].value
    assert refunds["frontmatter"] == {"name": "refunds", "description": "Pay back", "license": "MIT"}
    assert refunds["files"] == [
        {"path": "SKILL.md", "text": FILES[REFUNDS].decode()},
        {"path": "examples/an email.md", "text": "Dear customer\r\n"},
        {"path": "logo.png", "base64": "iVBORwA="},
    ]
    assert left_out == [
        "--mcp#/Acme Docs/skill:~1~1reports~1daily~1SKILL.md: left out: all files but SKILL.md: they are made when "
        "they are read, and have no digests"
    ]


def test_a_server_without_the_extension_is_not_asked_for_skills() -> None:
    rows, refused, _ = imported("plain")
    assert refused == []
    assert {row.kind for row in rows.values()} == {"items"}


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("digest", "examples/an email.md is not what its digest and size say"),
        ("size", "examples/an email.md is not what its digest and size say"),
        ("frontmatter", "the front matter of its SKILL.md is another than the server says"),
        ("name", "frontmatter.name must be the last segment of its path"),
        ("outside", "each of its resources must have size, digest, and a uri below the skill's"),
        ("twice", "its resources must be its files, each once"),
        ("without", 'resources must be "dynamic" or a list of up to 512 files'),
        ("formless", "a skill without uri: must have the uri of a SKILL.md, and frontmatter"),
        ("escape", r"\x1b[2Jrefunds/SKILL.md: its uri must have printable characters alone"),
        ("long", "more than 16 MB"),
    ],
)
def test_a_skill_that_is_not_as_the_server_says_is_refused_and_spoils_no_other(behaviour: str, reason: str) -> None:
    rows, refused, _ = imported(behaviour)
    assert [path for path in rows if rows[path].kind == "agent_skills"] == [
        "acme-docs/git-workflow", "acme-docs/reports/daily",
    ]  # fmt: skip
    assert len(refused) == 1
    assert reason in refused[0]


@pytest.mark.parametrize(
    ("behaviour", "name", "why"),
    [
        ("large", "logo.png", "a file may have 1 MB"),
        ("traversal", r"../../\x1b[2Jx", "must be relative to the folder"),
    ],
)
def test_a_file_that_there_is_no_room_for_is_left_out_unread(behaviour: str, name: str, why: str) -> None:
    rows, refused, left_out = imported(behaviour)
    assert (refused, len(rows["acme-docs/acme/billing/refunds"].value["files"])) == ([], 2)
    assert any(f"left out: {name}: {why}" in line for line in left_out)


def test_a_list_that_repeats_its_cursor_is_refused_and_resources_come_in() -> None:
    rows, refused, _ = imported("circular")
    assert "skills/list: repeats the cursor '0'" in refused[0]
    assert "readme" in rows
