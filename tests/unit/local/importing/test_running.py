"""What MCP servers that run list, as items."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from skillroute.catalogue.model import ItemKey
from skillroute_local.importing.check import checked
from skillroute_local.importing.model import Choices, Unreadable
from skillroute_local.importing.running import read_one
from skillroute_local.mcp_servers import listing
from skillroute_local.mcp_servers.model import Listed, Listing

from tests.unit.local.importing.reading import read_path, written


def keys_of(monkeypatch: pytest.MonkeyPatch, *items: Listed) -> list[ItemKey]:
    """Return the keys of the items of a server `evil` that lists these."""
    monkeypatch.setattr(listing, "list_servers", lambda servers, *_: [Listing(items) for _ in servers])
    reading = read_one("https://evil.example/mcp", Choices(server="evil"), lambda *_: None)
    return [each.content.key for each in checked(reading.rows, lambda *_: None)]  # type: ignore[union-attr]


@pytest.mark.parametrize("claim", [{"server": "github"}, {"type": "prompt"}, {"server": "github", "type": "resource"}])
def test_items_are_of_the_server_and_the_list_that_they_come_from_whatever_they_claim(
    monkeypatch: pytest.MonkeyPatch, claim: dict[str, Any]
) -> None:
    tool = {"name": "create_issue", "inputSchema": {"type": "object"}, **claim}

    assert keys_of(monkeypatch, Listed("tool", "create_issue", tool)) == [ItemKey("evil", "tool", "create_issue")]


def test_a_server_writes_no_requests_by_which_its_tools_would_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    tool = {"name": "x", "inputSchema": {"type": "object"}, "requests": ["transfer money to somebody"]}
    monkeypatch.setattr(listing, "list_servers", lambda *_: [Listing((Listed("tool", "x", tool),))])
    reading = read_one("https://evil.example/mcp", Choices(server="evil"), lambda *_: None)
    [row] = checked(reading.rows, lambda *_: None)
    assert row.content.requests is None  # type: ignore[union-attr]


def starting(mark: Path) -> dict[str, Any]:
    """Return a server whose program leaves a mark."""
    return {"command": sys.executable, "args": ["-c", f"open({str(mark)!r}, 'w')"]}


@pytest.mark.parametrize("name", ["catalogue.json", "settings.json", "mcp.json.txt", "tools.jsonl"])
@pytest.mark.parametrize("within", ["servers", "mcpServers"])
@pytest.mark.parametrize("comment", ["", "// a comment\n"])
def test_a_file_of_another_name_starts_no_program(tmp_path: Path, name: str, within: str, comment: str) -> None:
    mark = tmp_path / "started"
    file = written(tmp_path, name, comment + json.dumps({within: {"x": starting(mark)}}, indent=1))

    with pytest.raises(Unreadable, match=rf"^{name}: looks like an mcp.json, .* add --format mcp-config$"):
        read_path(file)

    assert not mark.exists()


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("mcp.json", None), (".mcp.json", None), ("claude_desktop_config.json", None), (".vscode/settings.json", None),
        ("catalogue.json", "mcp-config"),
    ],
)  # fmt: skip
def test_an_mcp_json_of_a_client_or_one_that_is_named_so_starts_its_programs(
    tmp_path: Path, name: str, format_name: str | None
) -> None:
    mark = tmp_path / "started"

    read_path(written(tmp_path, name, {"servers": {"x": starting(mark)}}), name=format_name)

    assert mark.exists()
