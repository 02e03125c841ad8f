"""What a session has found last, by the official client: listed under its own name, bounded, in that session alone."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.port import Embedder
from skillroute_local.connect import found
from skillroute_local.connect.catalogue import Catalogue
from skillroute_local.connect.found import Found
from skillroute_local.connect.front import Front
from skillroute_local.connect.offer import Offer
from skillroute_local.connect.serve import AgentServer, serve_http
from skillroute_local.loopback import listen
from skillroute_local.mcp_servers.model import Listed, Listing

from tests.integration.local.connect.conftest import Agent
from tests.integration.local.connect.test_agent import _until_changed, call, search, text
from tests.integration.local.connect.test_visible import OWN, names
from tests.integration.local.mcp_servers.conftest import Stub


def catalogue(*servers: str) -> Catalogue:
    made = Catalogue(HashingEmbedder(64))
    for server in servers:
        made.put(server, [Listed("tool", name, {"name": name}) for name in ("a", "b", "c", "d")])
    return made


def test_the_last_that_were_found_stay_and_the_oldest_leave() -> None:
    kept = Found(2, catalogue("s"))
    assert kept.note("x", ["s/a", "s/b", "s/c"]), "the best of a search, as many as are kept"
    assert list(kept.tools("x", (), {})) == ["a", "b"]
    assert not kept.note("x", ["s/b"])
    assert kept.note("x", ["s/c"])
    assert list(kept.tools("x", (), {})) == ["b", "c"], "b was used after a"
    assert not kept.note("x", ["s/none", "prompt:s/a"])
    assert list(kept.tools("x", (), {"c": "s/c"})) == ["b"], "what all see is not listed twice"


def test_a_name_is_its_tools_for_the_rest_of_the_session_and_no_other_session_has_a_part_in_it() -> None:
    kept = Found(1, catalogue("s", "t"))
    kept.note("x", ["t/a"])
    kept.note("y", ["s/a"])
    assert {name: item.id for name, item in kept.tools("x", (), {}).items()} == {"a": "t/a"}
    assert {name: item.id for name, item in kept.tools("y", (), {}).items()} == {"a": "s/a"}
    kept.note("x", ["s/a"])
    assert {name: item.id for name, item in kept.tools("x", (), {}).items()} == {"s_a": "s/a"}
    assert kept.id_of("x", "a") == "t/a", "it can still be called"
    assert list(kept.tools("y", {"a"}, {})) == ["s_a"], "a name that all see now is theirs"


def test_requests_without_a_session_and_forgotten_sessions_keep_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Found(2, catalogue("s"))
    assert not kept.note(None, ["s/a"])
    assert kept.tools(None, (), {}) == {}
    monkeypatch.setattr(found, "MAX_SESSIONS", 2)
    for session in ("x", "y", "z"):
        kept.note(session, ["s/a"])
    assert [list(kept.tools(session, (), {})) for session in ("x", "y", "z")] == [[], ["a"], ["a"]]


@pytest.mark.anyio
async def test_a_session_is_told_when_its_server_changes_what_it_has_found(model: Embedder, stub: Stub) -> None:
    server = stub("good")
    front = Front([server], model, len, offer=Offer(found=1))
    told: list[str | None] = []
    front.on_found = told.append

    async def listed(*tools: dict[str, Any]) -> None:
        items = tuple(Listed("tool", tool["name"], tool) for tool in tools)
        await front._take(server, Listing(items))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(front.run)
        await front.call("search_tools", {"query": "what is the temperature in Rome?", "limit": 1}, session="one")
        await front.call("search_tools", {"query": "repeat a text", "limit": 1}, session="other")
        weather, echo = {"name": "weather"}, {"name": "echo"}
        await listed(weather, echo)
        told.clear()
        await listed(weather, echo, {"name": "new"})
        assert told == []
        await listed({**weather, "description": "In Fahrenheit."}, echo)
        assert told == ["one"]
        await listed({**weather, "description": "In Fahrenheit."})
        assert told == ["one", "other"]
        tasks.cancel_scope.cancel()


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_was_found_is_listed_and_the_agent_is_told(agent: Agent, stub: Stub, mode: str) -> None:
    told = anyio.Event()

    async def heard(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            told.set()

    offer = Offer(found=2)
    async with agent(stub("good"), offer=offer, mode=mode, message_handler=heard) as client:
        assert await names(client) == OWN
        async with anyio.create_task_group() as tasks:
            if mode == "auto":
                tasks.start_soon(_until_changed, client, told)
                await anyio.wait_all_tasks_blocked()
            await search(client, "what is the temperature in Rome?", limit=1)
            with anyio.fail_after(20):
                await told.wait()
            tasks.cancel_scope.cancel()
        assert await names(client) == [*OWN, "weather"]
        assert (await client.call_tool("weather", {})).structured_content == {"celsius": 21.5}
        await call(client, "good/pid")
        assert await names(client) == [*OWN, "pid", "weather"]
        await search(client, "repeat a text", limit=1)
        assert await names(client) == [*OWN, "echo", "pid"]
        assert (await client.call_tool("weather", {})).structured_content == {"celsius": 21.5}


@pytest.mark.anyio
async def test_over_http_each_session_has_its_own_and_agents_without_one_have_none(model: Embedder, stub: Stub) -> None:
    told: list[str] = []
    is_told = anyio.Event()

    def hears(name: str) -> Any:
        async def heard(message: Any) -> None:
            if getattr(message, "method", "") == "notifications/tools/list_changed":
                told.append(name)
                is_told.set()

        return heard

    server = AgentServer(Front([stub("good")], model, len, offer=Offer(found=2)))
    with listen(0) as sock:
        url = f"http://localhost:{sock.getsockname()[1]}/mcp"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_http, server, sock)
            async with (
                Client(url, mode="legacy", cache=None, message_handler=hears("one")) as one,
                Client(url, mode="legacy", cache=None, message_handler=hears("other")) as other,
                Client(url, cache=None) as without_session,
            ):
                assert one.server_capabilities.tools.list_changed is True
                assert await names(one) == await names(other) == OWN
                await search(without_session, "what is the temperature in Rome?", limit=1)
                assert await names(without_session) == OWN
                await search(one, "what is the temperature in Rome?", limit=1)
                assert await names(one) == [*OWN, "weather"]
                assert await names(other) == await names(without_session) == OWN
                with anyio.fail_after(20):
                    while not is_told.is_set():  # until its stream was opened
                        await call(one, "good/pid" if len(await names(one)) == 4 else "good/count")
                        await search(one, "repeat a text", limit=1)
                assert set(told) == {"one"}
                assert text(await one.call_tool("weather", {})) == '{"celsius": 21.5}'
            tasks.cancel_scope.cancel()
