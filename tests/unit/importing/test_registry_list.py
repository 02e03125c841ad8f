"""What an MCP registry lists, as the official one answers it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.unit.importing.reading import read_path, written

OFFICIAL = "io.modelcontextprotocol.registry/official"


def entry(name: str, version: str, *, latest: bool = False, status: str = "active") -> dict[str, Any]:
    server = {"name": name, "description": f"{name} {version}", "version": version, "remotes": []}
    return {"server": server, "_meta": {OFFICIAL: {"isLatest": latest, "status": status}}}


def test_a_list_is_many_servers_each_in_its_latest_version(tmp_path: Path) -> None:
    listed = [
        entry("io.example/a", "1.0.0"),
        entry("io.example/a", "2.0.0", latest=True),
        entry("io.example/a", "1.5.0"),
        entry("io.example/b", "1.0.0"),
        entry("io.example/b", "1.1.0"),
        entry("io.example/gone", "1.0.0", latest=True, status="deleted"),
    ]

    found = read_path(written(tmp_path, "list.json", {"servers": listed, "metadata": {"nextCursor": "x", "count": 6}}))

    assert found.refused == []
    assert [(row.kind, row.where, row.value["server"]["version"]) for row in found.rows] == [
        ("servers", "list.json#/servers/1", "2.0.0"),
        ("servers", "list.json#/servers/4", "1.1.0"),
    ]


def test_entries_that_are_wrong_are_refused_with_their_places(tmp_path: Path) -> None:
    listed = [entry("io.example/a", "1.0.0"), 7, {"server": {"name": 7}}, {"server": {}}]

    found = read_path(written(tmp_path, "list.json", {"servers": listed}))

    assert [row.where for row in found.rows] == ["list.json#/servers/0"]
    assert [refusal.split(": ")[0] for refusal in found.refused] == [f"list.json#/servers/{n}" for n in (1, 2, 3)]
    assert "server.name: " in found.refused[1]


def test_a_single_document_is_one_server(tmp_path: Path) -> None:
    schema = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
    document = {"$schema": schema, "name": "io.example/a", "description": "A.", "version": "1.0.0"}

    found = read_path(written(tmp_path, "server.json", document), server="a")

    [row] = found.rows
    assert found.reading.notes == ["--server is about items, and left aside: these are servers"]
    assert (row.kind, row.where, row.value) == ("servers", "server.json", document)
