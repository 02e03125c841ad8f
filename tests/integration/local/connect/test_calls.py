"""Calls by permission: of two public catalogues nothing is reached by the tool that reads but what is declared so."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.client.client import Client
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute.core.embedding.port import Embedder
from skillroute_local.connect.calls import Calls
from skillroute_local.connect.catalogue import Catalogue
from skillroute_local.connect.front import Front
from skillroute_local.connect.offer import Offer
from skillroute_local.connect.own_tools import own_tools
from skillroute_local.connect.upstream import Ask, Upstream
from skillroute_local.mcp_servers.model import Listed, Listing, McpServer, StdioServer

from tests.integration.local.connect.conftest import Agent
from tests.integration.local.connect.test_agent import error, search, text
from tests.integration.local.mcp_servers.conftest import Stub
from tests.stubs.mcp_server import ECHO

DATA = Path(os.environ.get("SKILLROUTE_CATALOGUES") or Path(__file__).parents[5] / "shared" / "data")
CATALOGUES = ("docker-mcp-catalog", "livemcp-catalog")
ODD = st.one_of(st.none(), st.integers(-1, 1), st.sampled_from(["true", "false", ""]), st.just([True]))
HINTS = st.one_of(
    st.fixed_dictionaries(
        {},
        optional={
            "readOnlyHint": st.booleans() | ODD,
            "destructiveHint": st.booleans() | ODD,
            "idempotentHint": st.booleans(),
            "title": st.just("A"),
        },
    ),
    st.sampled_from([None, [], "readOnlyHint", {"readOnlyHint": True}]),
)


@cache
def tools(catalogue: str) -> list[dict[str, Any]]:
    """Return the tools of a catalogue; a few of our own where it is not at hand. None has annotations."""
    path = DATA / catalogue / "tools.jsonl"
    if not path.exists():
        return [{"name": f"{verb}_{number}", "server": "own"} for verb in ("get", "delete") for number in range(20)]
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


class _Recording(Upstream):
    """A server that answers every call, and keeps which it got."""

    def __init__(self, reached: set[str], server: StdioServer) -> None:
        super().__init__(server, _ignored)
        self._reached = reached

    async def ask(self, what: str, ask: Ask) -> dict[str, Any]:
        return await ask(self)  # type: ignore[arg-type]

    async def call(self, name: str, arguments: Mapping[str, Any], progress: object = None) -> dict[str, Any]:
        self._reached.add(f"{self.server.name}/{name}")
        return {"content": []}


async def _ignored(_: McpServer, __: Listing) -> None:
    return


@pytest.mark.parametrize("catalogue", CATALOGUES)
@given(data=st.data())
def test_nothing_that_is_not_declared_to_read_is_reached_by_the_tool_that_reads(
    catalogue: str, data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(tools(catalogue)), min_size=1, max_size=8, unique_by=str))
    listed: dict[str, dict[str, Listed]] = {}
    declared: dict[str, object] = {}
    for number, tool in enumerate(chosen):
        name, server = f"{tool['name']}_{number}", "server"
        hints = data.draw(HINTS)
        value = {"name": name, "description": tool.get("description", ""), "annotations": hints}
        listed.setdefault(server, {})[name] = Listed("tool", name, value)
        declared[f"{server}/{name}"] = hints
    index = Catalogue(HashingEmbedder(64))
    by_read: set[str] = set()
    upstreams = {name: _Recording(by_read, StdioServer(name, "mcp.json: a", "run")) for name in listed}
    for name, items in listed.items():
        index.put(name, list(items.values()))
    declared = {id_: hints for id_, hints in declared.items() if index.item(id_) is not None}  # else it is no object
    calls = Calls(index, upstreams)

    async def call_all(*, reads: bool) -> None:
        for id_ in declared:
            await calls(id_, {}, None, reads=reads)

    anyio.run(lambda: call_all(reads=True))
    expected = {
        id_ for id_, hints in declared.items()
        if isinstance(hints, dict) and hints.get("readOnlyHint") is True
        and ("destructiveHint" not in hints or hints["destructiveHint"] is None or hints["destructiveHint"] is False)
    }  # fmt: skip
    assert by_read == expected
    anyio.run(lambda: call_all(reads=False))
    assert by_read == declared.keys()


@pytest.mark.anyio
async def test_a_tool_that_is_gone_when_its_server_has_started_is_not_reached_by_its_name() -> None:
    index = Catalogue(HashingEmbedder(64))
    tool = Listed("tool", "log", {"name": "log", "annotations": {"readOnlyHint": True}})
    index.put("git", [tool])
    reached: set[str] = set()

    class Started(_Recording):
        async def ask(self, what: str, ask: Ask) -> dict[str, Any]:
            index.put("git", [Listed("prompt", "log", {"name": "log"})])
            return await super().ask(what, ask)

    calls = Calls(index, {"git": Started(reached, StdioServer("git", "mcp.json: a", "run"))})
    assert (await calls("git/log", {}, None, reads=True))["isError"]
    assert reached == set()


async def call_by(client: Client, name: str, id_: str, arguments: dict[str, Any] | None = None) -> Any:
    return await client.call_tool(name, {"id": id_, "arguments": arguments or {}})


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_agent_reads_by_one_tool_and_writes_by_another(agent: Agent, stub: Stub, mode: str) -> None:
    async with agent(stub("good"), offer=Offer(called="split"), mode=mode) as client:
        listed = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
        assert list(listed) == ["search_tools", "get_tool_details", "call_tool_read", "call_tool_write"]
        assert (listed["call_tool_read"].read_only_hint, listed["call_tool_read"].destructive_hint) == (True, False)
        assert (listed["call_tool_write"].read_only_hint, listed["call_tool_write"].destructive_hint) == (False, True)
        found = await search(client, "repeat a text", limit=50)
        marked = {tool["id"] for tool in found["tools"] if tool.get("read_only")}
        assert marked == {"good/echo", "prompt:good/review", "resource:good/readme"}
        assert text(await call_by(client, "call_tool_read", "good/echo", {"text": "a"})) == "a"
        assert "# Hi" in str((await call_by(client, "call_tool_read", "resource:good/readme")).content)
        prompt = await call_by(client, "call_tool_read", "prompt:good/review", {"language": "C"})
        assert text(prompt) == "Review this C."
        assert error(await call_by(client, "call_tool_read", "good/pid")) == (
            "good/pid may write: its server does not declare that it only reads (annotations.readOnlyHint). "
            "Call it by call_tool_write."
        )
        assert text(await call_by(client, "call_tool_write", "good/pid")).isdigit()
        assert text(await call_by(client, "call_tool_write", "good/echo", {"text": "b"})) == "b"
        gone = error(await call_by(client, "call_tool", "good/pid"))
        assert gone == "There is no tool call_tool: call call_tool_read or call_tool_write."


@pytest.mark.anyio
async def test_a_tool_that_its_started_server_declares_otherwise_is_not_reached(model: Embedder, stub: Stub) -> None:
    """The listing that is known may be that of the last start."""
    server = stub("good")
    front = Front([server], model, len, offer=Offer(called="split"))
    front._restored.set()
    pid = {"name": "pid", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    await front._take(server, Listing((Listed("tool", "echo", ECHO), Listed("tool", "pid", pid))))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(front._upstreams["good"].run)  # which lists it without annotations
        answer = await front.call("call_tool_read", {"id": "good/pid"})
        assert "good/pid may write" in answer["content"][0]["text"]
        tasks.cancel_scope.cancel()


def test_the_three_stand_beside_each_other_where_asked_for_and_no_text_names_what_is_not_offered() -> None:
    def texts(offer: Offer) -> dict[str, str]:
        return {tool["name"]: json.dumps(tool) for tool in own_tools(["a"], offer)}

    assert list(texts(Offer()))[2:] == ["call_tool"]
    assert list(texts(Offer(called="both")))[2:] == ["call_tool", "call_tool_read", "call_tool_write"]
    split = "".join(texts(Offer(called="split")).values())
    assert "call_tool" not in split.replace("call_tool_read", "").replace("call_tool_write", "")
