"""What the front tells of changes, by listings that come to it."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from skillroute.core.embedding.port import Embedder
from skillroute_local.connect.front import Front
from skillroute_local.connect.offer import Offer
from skillroute_local.mcp_servers.model import Listed, Listing

from tests.integration.local.mcp_servers.conftest import Stub


def listing(description: str) -> Listing:
    value = {"name": "echo", "description": description, "inputSchema": {"type": "object"}}
    return Listing((Listed("tool", "echo", value),))


@pytest.mark.anyio
async def test_a_pinned_tool_that_is_described_otherwise_is_announced(model: Embedder, stub: Stub) -> None:
    server = stub("good")
    front = Front([server], model, len, offer=Offer(("echo",)))
    front._restored.set()
    told: list[str] = []
    front.on_tools_changed = lambda: told.append("changed")
    await front._take(server, listing("Repeat a text."))
    assert (await front.tools())[-1]["description"] == "Repeat a text."
    await front._take(server, listing("Repeat a text."))
    assert told == []
    await front._take(server, listing("Repeat a text twice."))
    assert told == ["changed"]


@pytest.mark.anyio
async def test_arguments_are_taken_as_models_write_them(model: Embedder, stub: Stub) -> None:
    front = Front([stub("good")], model, len)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(front.run)

        async def text(name: str, arguments: dict[str, Any]) -> str:
            return str((await front.call(name, arguments))["content"][0]["text"])

        assert await text("call_tool", {"id": "good/echo", "arguments": '{"text": "a"}'}) == "a"
        assert await text("call_tool", {"id": "good/pid", "arguments": None}) != ""
        assert "arguments must be an object" in await text("call_tool", {"id": "good/echo", "arguments": '"a"'})
        within = {"arguments": {"id": "good/echo", "text": "a"}}
        assert "id belongs next to arguments, not in it" in await text("call_tool", within)
        beside = {"id": "good/echo", "text": "a"}
        assert "what the tool takes belongs into arguments" in await text("call_tool", beside)
        found = {"query": "repeat a text", "limit": None, "detail": None, "budget_tokens": None}
        assert "good/echo" in await text("search_tools", found)
        tasks.cancel_scope.cancel()
