"""The tools of servers that agents are shown, by the official client: all of them, or as many as fit a list."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.client.client import Client
from skillroute.catalogue.known_requests import KnownRequests
from skillroute.core.embedding.port import Embedder
from skillroute_local.connect.front import Front
from skillroute_local.connect.offer import AUTO_TOOLS, Offer
from skillroute_local.mcp_servers.model import Listed, Listing

from tests.integration.local.connect.conftest import Agent
from tests.integration.local.connect.test_agent import text
from tests.integration.local.mcp_servers.conftest import Stub
from tests.stubs.mcp_server import ECHO, GOOD

pytestmark = pytest.mark.anyio

OWN = ["search_tools", "get_tool_details", "call_tool"]


def listing(count: int) -> Listing:
    return Listing(
        tuple(Listed("tool", f"echo_{number}", ECHO | {"name": f"echo_{number}"}) for number in range(count))
    )


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_all_tools_are_passed_through_and_the_search_stays(agent: Agent, stub: Stub, mode: str) -> None:
    servers = (stub("good"), stub("good", name="twin"))
    async with agent(*servers, offer=Offer(exposed="all"), mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        own = sorted(tool["name"] for tool in GOOD)
        assert list(tools) == [*OWN, *own, *(f"twin_{name}" for name in own)]
        assert tools["echo"].meta == {"anthropic/searchHint": ECHO["description"]}
        assert tools["echo"].annotations.read_only_hint is True
        assert tools["search_tools"].meta["anthropic/alwaysLoad"] is True
        assert text(await client.call_tool("twin_echo", {"text": "a"})) == "a"
        assert "search_tools finds every one" in (client.instructions or "")
        found = await client.call_tool("search_tools", {"query": "review my code", "item_type": "prompt"})
        assert "prompt:good/review" in text(found)


async def test_a_pinned_tool_is_to_be_shown_always_where_all_are_listed(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good"), offer=Offer(("weather",), "all")) as client:
        tools = {tool.name: tool.meta or {} for tool in (await client.list_tools()).tools}
    assert list(tools)[3] == "weather"
    always = [name for name, meta in tools.items() if meta.get("anthropic/alwaysLoad")]
    assert always == [*OWN, "weather"]


async def test_a_call_by_name_needs_no_list_before_it(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good"), offer=Offer(exposed="all")) as client:
        await client.call_tool("search_tools", {"query": "a"})
        assert text(await client.call_tool("echo", {"text": "a"})) == "a"


async def test_auto_lists_tools_while_they_are_few_and_tells_when_that_changes(model: Embedder, stub: Stub) -> None:
    server = stub("good")
    front = Front([server], model, len, offer=Offer(exposed="auto"))
    front._restored.set()
    told: list[Any] = []
    front.on_tools_changed = lambda: told.append(1)

    async def listed(count: int) -> int:
        await front._take(server, listing(count))
        return len(await front.tools()) - len(OWN)

    assert await listed(AUTO_TOOLS) == AUTO_TOOLS
    assert told == []
    assert await listed(AUTO_TOOLS + 1) == 0
    assert told == [1]
    # WHEN an agent calls by the list that it read before, THEN it is the tool that was shown that is called
    assert "do not fit good/echo_3" in (await front.call("echo_3", {}))["content"][0]["text"]
    assert await listed(AUTO_TOOLS) == AUTO_TOOLS
    assert told == [1, 1]


async def test_known_requests_are_in_the_hint(model: Embedder, stub: Stub) -> None:
    known = {"name": "git_log", "description": "Shows the commit logs", "inputSchema": {"type": "object"}}
    server = stub("good", name="git")
    front = Front([server], model, len, offer=Offer(exposed="all"), known=KnownRequests())
    front._restored.set()
    await front._take(server, Listing((Listed("tool", "git_log", known),)))
    [tool] = (await front.tools())[3:]
    assert tool["_meta"]["anthropic/searchHint"].startswith("Shows the commit logs; ")
