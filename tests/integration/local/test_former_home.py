"""Homes of development versions: refused with the commands that help, untouched; their lists become lines."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from rich.console import Console
from skillroute.core.postgres.former import FormerVersion
from skillroute.core.postgres.migrate import FormerDatabase
from skillroute_local.commands.exit_codes import ExitCode, exit_code_of
from skillroute_local.errors import LocalError, Unreachable
from skillroute_local.former_lists import lines
from skillroute_local.home import Home
from skillroute_local.home_database import _refusal, migrated_postgres
from skillroute_local.postgres import EmbeddedPostgres
from skillroute_local.postgres_programs import Postmaster

from tests.integration.core.postgres.test_migrate import DEVELOPMENT
from tests.temporary import temporary_directory

Query = Callable[..., list[list[Any]]]
QUIET = Console(quiet=True)


@pytest.fixture
def home() -> Iterator[Home]:
    with temporary_directory("skillroute home ") as directory:
        yield Home(Path(directory))


def made_by(home: Home, query: Query, migrations: dict[str, str]) -> None:
    """Give a home the table of migrations that a version wrote, and a row of its own."""
    with EmbeddedPostgres(home.postgres_dir, durable=False) as server:
        query(server.url, "CREATE SCHEMA mcp")
        query(server.url, "CREATE TABLE mcp.migrations (name text PRIMARY KEY, sha256 text, applied_at timestamptz)")
        for name, digest in migrations.items():
            query(server.url, f"INSERT INTO mcp.migrations VALUES ('{name}', '{digest}', now())")
        query(server.url, "CREATE TABLE mcp.tools AS SELECT 7 AS id")


def test_a_home_of_a_development_version_is_refused_with_what_to_enter_and_keeps_its_data(
    home: Home, query: Query
) -> None:
    # GIVEN a home as commit 819c822 wrote it
    made_by(home, query, DEVELOPMENT)
    # WHEN
    with pytest.raises(LocalError) as refused, migrated_postgres(home, QUIET):
        pytest.fail("it was opened")
    # THEN
    said = str(refused.value)
    assert exit_code_of(refused.value) == ExitCode.REFUSED
    assert "commit e45845b of 2026-11-21, or one before it with the same tables" in said
    assert "git worktree add --detach ../skillroute-e45845b e45845b\n" in said
    assert f"SKILLROUTE_HOME='{home.path}' make -C ../skillroute-e45845b run PORT=3100" in said
    assert "-m skillroute_local.former_lists http://localhost:3100 > backup.ndjson" in said
    assert f"mv '{home.path}' '{home.path}-before-0.2.0'\n" in said
    skillroute = shlex.quote(str(Path(sys.executable).with_name("skillroute")))
    assert f"  SKILLROUTE_HOME='{home.path}' {skillroute} up --no-examples    # and in another terminal:\n" in said
    assert f"  SKILLROUTE_HOME='{home.path}' {skillroute} import backup.ndjson\n" in said
    # AND nothing runs any more, and nothing was changed
    assert Postmaster.find(home.postgres_dir / "cluster") is None
    with EmbeddedPostgres(home.postgres_dir, durable=False) as server:
        assert query(server.url, "SELECT id FROM mcp.tools") == [[7]]
        assert query(server.url, "SELECT count(*) FROM mcp.migrations") == [[len(DEVELOPMENT)]]
        assert query(server.url, "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'skillroute_%'") == [[0]]


def test_a_new_home_is_migrated(home: Home, query: Query) -> None:
    with migrated_postgres(home, QUIET) as server:
        assert query(server.url, "SELECT count(*) FROM mcp.tools") == [[0]]


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (
            FormerVersion("ad7a0da", "2026-11-23", can_export=True),
            "SKILLROUTE_URL=http://localhost:3100 ../skillroute-ad7a0da/.venv/bin/skillroute export --all > backup.nd",
        ),
        (None, "git worktree add --detach ../skillroute-COMMIT COMMIT    # the commit that the home was made with"),
    ],
)
def test_what_to_enter_follows_what_the_version_can(version: FormerVersion | None, said: str) -> None:
    assert f"  {said}" in str(_refusal(Path("/home/ann/.skillroute"), FormerDatabase("0001_catalogue", version)))


TOOLS = [
    {"id": n, "org_id": None, "server": "garden", "name": f"water_{n}", "content_hash": "x", "is_active": n != 2}
    for n in range(1, 204)
]
SKILLS = [
    {"id": "gardening", "name": "Gardening", "is_active": True, "tool_count": 1},
    {"id": "pruning", "name": "Pruning", "is_active": False, "tool_count": 1},
]
ASSIGNED = {"tool_id": 203, "tool_name": "water_203", "confidence": 0.96, "is_primary": True}


class TestLists:
    """A Skillroute that answers as those of 2026-11-21 did: without servers, agents and mail."""

    most = 1000
    """How many rows fit in a page, by their bytes."""

    def answer(self, request: httpx.Request) -> httpx.Response:
        assigned = {**ASSIGNED, "source": "human_manual", "assigned_at": "2026-11-21T10:00:00Z"}
        lists: dict[str, list[dict[str, Any]]] = {
            "/api/v1/skills": SKILLS,
            "/api/v1/skills/gardening/tools": [assigned],
            "/api/v1/skills/pruning/tools": [{**assigned, "tool_id": 1, "tool_name": "water_1"}],
            "/api/v1/tools": TOOLS,
        }
        if request.url.path not in lists:
            return httpx.Response(404, json={"detail": "Not Found"})
        offset, limit = int(request.url.params["offset"]), int(request.url.params["limit"])
        rows = lists[request.url.path]
        if request.url.path == "/api/v1/skills" and request.url.params.get("is_active", "true") == "true":
            rows = [row for row in rows if row["is_active"]]
        page = rows[offset : offset + min(limit, self.most)]
        return httpx.Response(200, json=page, headers={"X-Total-Count": str(len(rows))})

    def test_become_lines_with_who_assigned_what(self) -> None:
        with httpx.Client(base_url="http://old", transport=httpx.MockTransport(self.answer)) as http:
            skill, inactive, *tools, end = lines(http)
        assert skill == {"kind": "skill", "id": "gardening", "name": "Gardening", "is_active": True}
        assert [tool["name"] for tool in tools] == [tool["name"] for tool in TOOLS], "all pages"
        assert tools[1]["is_active"] is False
        assert tools[1]["skills"] == {"assigned": []}
        [assigned] = tools[-1]["skills"]["assigned"]
        assert (assigned["skill_id"], assigned["source"]) == ("gardening", "human_manual")
        # AND an inactive skill stays so, with its tools
        assert inactive == {"kind": "skill", "id": "pruning", "name": "Pruning", "is_active": False}
        assert [assigned["skill_id"] for assigned in tools[0]["skills"]["assigned"]] == ["pruning"]
        assert {"id", "content_hash"} & tools[-1].keys() == set(), "what the next one makes itself"
        assert end["kind"] == "end"
        assert {kind: count for kind, count in end["lines"].items() if count} == {"skill": 2, "tool": 203}
        json.dumps(tools)

    def test_whose_pages_end_early_by_their_bytes_are_read_to_their_end(self) -> None:
        self.most = 90
        with httpx.Client(base_url="http://old", transport=httpx.MockTransport(self.answer)) as http:
            found = list(lines(http))
        assert [line["name"] for line in found if line["kind"] == "tool"] == [tool["name"] for tool in TOOLS]
        assert found[-1]["lines"]["tool"] == len(TOOLS)

    def test_that_give_fewer_rows_than_they_say_are_an_error(self) -> None:
        def short(request: httpx.Request) -> httpx.Response:
            answer = self.answer(request)
            if request.url.path == "/api/v1/tools" and request.url.params["offset"] != "0":
                return httpx.Response(200, json=[])
            return answer

        with (
            httpx.Client(base_url="http://old", transport=httpx.MockTransport(short)) as http,
            pytest.raises(
                LocalError, match="tools has 203 rows, and gave 100: try again while no process writes to it"
            ),
        ):
            list(lines(http))

    def test_that_cannot_be_read_are_an_error_and_no_shorter_backup(self) -> None:
        def broken(request: httpx.Request) -> httpx.Response:
            if request.url.params["offset"] != "0":
                return httpx.Response(404)
            return self.answer(request)

        def away(_: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("refused")

        with (
            httpx.Client(base_url="http://old", transport=httpx.MockTransport(broken)) as http,
            pytest.raises(LocalError, match="answers 404"),
        ):
            list(lines(http))
        with (
            httpx.Client(base_url="http://old", transport=httpx.MockTransport(away)) as http,
            pytest.raises(Unreachable, match="start the version that made the home"),
        ):
            list(lines(http))
