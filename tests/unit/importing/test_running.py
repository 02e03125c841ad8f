"""What MCP servers that run list, as items."""

from __future__ import annotations

from typing import Any

import pytest
from skillroute.catalogue.model import ItemKey
from skillroute_local.importing.check import checked
from skillroute_local.importing.model import Choices
from skillroute_local.importing.running import read_one
from skillroute_local.mcp_servers import listing
from skillroute_local.mcp_servers.model import Listed, Listing


def keys_of(monkeypatch: pytest.MonkeyPatch, *items: Listed) -> list[ItemKey]:
    """Return the keys of the items of a server `evil` that lists these."""
    monkeypatch.setattr(listing, "list_servers", lambda servers, limits: [Listing(items) for _ in servers])
    reading = read_one("https://evil.example/mcp", Choices(server="evil"), lambda *_: None)
    return [each.content.key for each in checked(reading.rows, lambda *_: None)]  # type: ignore[union-attr]


@pytest.mark.parametrize("claim", [{"server": "github"}, {"type": "prompt"}, {"server": "github", "type": "resource"}])
def test_items_are_of_the_server_and_the_list_that_they_come_from_whatever_they_claim(
    monkeypatch: pytest.MonkeyPatch, claim: dict[str, Any]
) -> None:
    tool = {"name": "create_issue", "inputSchema": {"type": "object"}, **claim}

    assert keys_of(monkeypatch, Listed("tool", "create_issue", tool)) == [ItemKey("evil", "tool", "create_issue")]
