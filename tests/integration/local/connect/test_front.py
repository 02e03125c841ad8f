"""What the front tells of changes, by listings that come to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from skillroute.core.embedding.port import Embedder
from skillroute.core.settings import ReceiptSettings
from skillroute_local.connect.front import Front
from skillroute_local.connect.offer import Offer
from skillroute_local.connect.store import FRESH_S, Store
from skillroute_local.connect.use import Use
from skillroute_local.mcp_servers.model import Listed, Listing

from tests.integration.local.mcp_servers.conftest import Stub
from tests.worlds.used import used


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


@pytest.mark.anyio
async def test_a_server_is_started_when_it_is_needed_first(model: Embedder, stub: Stub, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    server, store = stub("good", starts), Store(tmp_path / "kept")

    async def asked(is_called: bool) -> None:
        front = Front([server], model, len, store=store, offer=Offer(exposed="all"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(front.run)
            found = await front.call("search_tools", {"query": "repeat a text"})
            assert found["structuredContent"]["tools"][0]["id"] == "good/echo"
            assert "echo" in [tool["name"] for tool in await front.tools()]
            assert "good/echo" in str(await front.call("get_tool_details", {"ids": ["good/echo"]}))
            if is_called:
                answer = await front.call("call_tool", {"id": "good/echo", "arguments": {"text": "a"}})
                assert answer["content"][0]["text"] == "a"
            tasks.cancel_scope.cancel()

    def times() -> int:
        return len(starts.read_text().splitlines())

    await asked(is_called=False)
    assert times() == 1, "nothing was known of it"
    await asked(is_called=False)
    assert times() == 1
    await asked(is_called=True)
    assert times() == 2
    with closing(sqlite3.connect(tmp_path / "kept")) as database, database:
        database.execute("UPDATE listings SET used_at = used_at - ?", (FRESH_S,))
    await asked(is_called=False)
    assert times() == 3, "what is known of it is old"


@pytest.mark.anyio
async def test_searches_have_an_id_and_what_became_of_calls_is_kept(
    model: Embedder, stub: Stub, tmp_path: Path
) -> None:
    use = Use(tmp_path / "kept", ReceiptSettings())
    front = Front([stub("good")], model, len, use=use)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(front.run)
        asked = {"query": "repeat a text", "needs": ["tell the id of a process"]}
        found = await front.call("search_tools", asked)
        search_id = found["_meta"]["skillroute/search_id"]
        await front.call("call_tool", {"id": "good/echo", "arguments": {"text": "a"}})
        # What is refused here never reached the server, and is no outcome of it
        await front.call("call_tool", {"id": "good/pid", "arguments": 7})
        tasks.cancel_scope.cancel()
    need, query = used(use, tmp_path / "kept")
    assert [(one.search_id, one.query) for one in (need, query)] == [
        (search_id, "tell the id of a process"),
        (search_id, "repeat a text"),
    ]
    assert "good/echo" in [item.id for item in query.shown]
    assert {item.id for item in need.shown} <= {item.id for item in query.shown}
    assert all(item.content_hash for item in query.shown)
    assert query.outcomes == {"good/echo": "succeeded"}
    assert search_id not in str(found["content"])
