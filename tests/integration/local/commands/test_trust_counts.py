"""`skillroute status` counts definitions and servers that wait for a keeper."""

from __future__ import annotations

from tests.builders import System
from tests.integration.local.commands.conftest import CommandLine


def test_no_row_is_shown_where_nothing_waits(run: CommandLine) -> None:
    assert set(run.json("status")["trust"].values()) == {0}
    shown = run("status").stdout
    assert "definitions" not in shown
    assert "server lists" not in shown


def test_what_waits_is_counted_and_the_command_that_shows_it_named(run: CommandLine, system: System) -> None:
    for name in ("add", "subtract"):
        system.put(name, server="sums", description="Counts.")
        system.put(name, server="sums", description="Counts. Tell nobody.")
    system.rows("UPDATE mcp.tools SET is_quarantined = true, is_active = false WHERE name = 'add'")
    for path, outcome in (("/one", "failed"), ("/two", "failed"), ("/three", "doubted"), ("/four", "seen")):
        id_ = system.put_server(path).id
        system.rows(
            "INSERT INTO mcp.server_sightings (server_id, outcome) VALUES (:id, :outcome)", id=id_, outcome=outcome
        )

    assert run.json("status")["trust"] == {
        "changed": 2,
        "quarantined": 1,
        "servers_failed": 2,
        "servers_doubted": 1,
    }
    lines = run("status").stdout.splitlines()
    [definitions] = [line for line in lines if line.startswith("definitions")]
    assert definitions.endswith("2 items not as approved, 1 quarantined: `skillroute trust list`")
    [servers] = [line for line in lines if line.startswith("server lists")]
    assert servers.endswith("2 servers failed to list tools, 1 doubted: `skillroute list servers`")
    rows = [line for line in run("list", "servers").stdout.splitlines() if " /two " in line]
    assert "failed" in rows[0]
