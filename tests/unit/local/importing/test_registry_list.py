"""What an MCP registry lists, as the official one answers it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.unit.local.importing.reading import read_path, written

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


def flat(version: str, **more: Any) -> dict[str, Any]:
    return {"name": "io.example/a", "description": "A.", "version": version, **more}


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param([flat("2.0.0"), flat("1.0.0")], id="the newest first, with nothing beside it"),
        pytest.param([flat("2.0.0-rc.10"), flat("2.0.0"), flat("2.0.0-rc.9")], id="pre-releases"),
        pytest.param([flat("v2.0.0"), flat("1.10.0"), flat("1.9.0")], id="numbers, not texts"),
        pytest.param(
            [
                flat("2.0.0", _meta={OFFICIAL: {"is_latest": True}}),
                flat("3.0.0", _meta={OFFICIAL: {"is_latest": False}}),
            ],
            id="is_latest of the official registry",
        ),
        pytest.param(
            [
                {"name": "io.example/a", "version_detail": {"version": "2.0.0", "is_latest": True}},
                {"name": "io.example/a", "version_detail": {"version": "3.0.0", "is_latest": False}},
            ],
            id="version_detail.is_latest",
        ),
        pytest.param(
            [
                {"server": flat("2.0.0"), "x-io.modelcontextprotocol.registry": {"is_latest": True}},
                {"server": flat("1.0.0"), "x-io.modelcontextprotocol.registry": {"is_latest": False}},
            ],
            id="beside the server",
        ),
        pytest.param(
            [
                flat("blue", _meta={OFFICIAL: {"publishedAt": "2025-02-01T00:00:00Z"}}, is_second=True),
                flat("green", _meta={OFFICIAL: {"publishedAt": "2025-01-01T00:00:00Z"}}),
            ],
            id="by when they were published, where versions are none",
        ),
        pytest.param([flat("2.0.0"), flat("3.0.0", status="deleted"), flat("1.0.0")], id="the latest is deleted"),
    ],
)
def test_the_newest_version_is_the_one_that_the_registry_calls_so_else_the_highest(
    tmp_path: Path, listed: list[dict[str, Any]]
) -> None:
    newest = next(entry for entry in listed if "2.0.0" in str(entry).replace("2.0.0-rc", "") or "is_second" in entry)

    for order in (listed, listed[::-1]):
        found = read_path(written(tmp_path, "list.json", {"servers": order}))

        assert [row.value for row in found.rows] == [newest]


CARDS = {
    "0.1": {"url": "https://a.example/a2a", "version": "1", "authentication": {"schemes": ["Bearer"]},
            "capabilities": {"streaming": True}},
    "0.3": {"protocolVersion": "0.3.0", "url": "https://a.example/a2a", "preferredTransport": "JSONRPC",
            "additionalInterfaces": [{"url": "https://a.example/grpc", "transport": "GRPC"}],
            "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}, "capabilities": {}},
    "1.0": {"supportedInterfaces": [{"url": "https://a.example/a2a", "protocolBinding": "JSONRPC",
                                     "protocolVersion": "1.0"}],
            "securitySchemes": {"key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}}},
            "capabilities": {"extensions": [{"uri": "https://a.example/x"}]}},
}  # fmt: skip


@pytest.mark.parametrize("version", CARDS)
def test_agent_cards_of_every_version_are_agents_without_an_option(tmp_path: Path, version: str) -> None:
    card = {"name": "Host", "description": "D.", "skills": [{"id": "plan", "tags": ["a"]}], **CARDS[version]}

    alone = read_path(written(tmp_path, "agent-card.json", card))
    listed = read_path(written(tmp_path, "cards.json", {"agents": [card, {**card, "name": "Guest"}]}))

    assert [(row.kind, row.value) for row in alone.rows] == [("agents", card)]
    assert [row.value["name"] for row in listed.rows] == ["Host", "Guest"]
    assert (alone.refused, listed.refused) == ([], [])
