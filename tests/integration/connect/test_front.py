"""What the front tells of changes, by listings that come to it."""

from __future__ import annotations

import pytest
from skillroute.core.embedding.port import Embedder
from skillroute_local.connect.front import Front
from skillroute_local.mcp_servers.model import Listed, Listing

from tests.integration.mcp_servers.conftest import Stub


def listing(description: str) -> Listing:
    value = {"name": "echo", "description": description, "inputSchema": {"type": "object"}}
    return Listing((Listed("tool", "echo", value),))


@pytest.mark.anyio
async def test_a_pinned_tool_that_is_described_otherwise_is_announced(model: Embedder, stub: Stub) -> None:
    server = stub("good")
    front = Front([server], model, len, pins=["echo"])
    front._restored.set()
    told: list[str] = []
    front.on_tools_changed = lambda: told.append("changed")
    await front._take(server, listing("Repeat a text."))
    assert (await front.tools())[-1]["description"] == "Repeat a text."
    await front._take(server, listing("Repeat a text."))
    assert told == []
    await front._take(server, listing("Repeat a text twice."))
    assert told == ["changed"]
