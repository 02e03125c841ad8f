"""Long answers by the official client: the beginning, then the rest; over HTTP to the session alone that asked."""

from __future__ import annotations

import re

import anyio
import pytest
from mcp.client.client import Client
from skillroute.core.embedding.port import Embedder
from skillroute_local.connect.front import Front
from skillroute_local.connect.offer import Offer
from skillroute_local.connect.serve import AgentServer, serve_http
from skillroute_local.loopback import listen

from tests.integration.local.connect.conftest import Agent
from tests.integration.local.connect.test_agent import call, error
from tests.integration.local.mcp_servers.conftest import Stub

pytestmark = pytest.mark.anyio

OFFER = Offer(("good",), shown_chars=1_000)
LONG = "".join(f"line {number}\n" for number in range(250))


async def asked(client: Client) -> tuple[str, str]:
    """Return the beginning of a long answer, and the id by which it is read on."""
    beginning, note = (await call(client, "good/echo", {"text": LONG})).content
    found = re.search(r'id "([^"]+)"', note.text)
    assert found
    return beginning.text, found[1]


async def rest(client: Client, id_: str) -> str:
    text = ""
    for _ in range(-(-len(LONG) // 1_000) - 1):
        answer = await client.call_tool("read_answer", {"id": id_, "offset": 1_000 + len(text)})
        text += answer.content[0].text
    return text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_agent_reads_on_in_a_long_answer(agent: Agent, stub: Stub, mode: str) -> None:
    async with agent(stub("good"), offer=OFFER, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["read_answer"].annotations.read_only_hint is True
        assert tools["weather"].output_schema is None, "else its beginning would not fit the schema"
        beginning, id_ = await asked(client)
        assert beginning + await rest(client, id_) == LONG
        assert [block.text for block in (await client.call_tool("echo", {"text": "short"})).content] == ["short"]
        assert len((await client.call_tool("echo", {"text": LONG})).content) == 2


async def test_without_the_setting_an_answer_is_whole(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good"), pins=["weather"]) as client:
        assert [block.text for block in (await call(client, "good/echo", {"text": LONG})).content] == [LONG]
        assert (await client.list_tools()).tools[-1].output_schema is not None
        assert "There is no tool read_answer" in error(await client.call_tool("read_answer", {"id": "a"}))


async def test_no_agent_over_http_reads_the_answers_of_another_session(model: Embedder, stub: Stub) -> None:
    server = AgentServer(Front([stub("good")], model, len, offer=OFFER))
    with listen(0) as sock:
        url = f"http://localhost:{sock.getsockname()[1]}/mcp"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_http, server, sock)
            async with (
                Client(url, mode="legacy", cache=None) as one,
                Client(url, mode="legacy", cache=None) as other,
                Client(url, cache=None) as without_session,
            ):
                assert without_session.protocol_version == "2026-07-28"
                beginning, id_ = await asked(one)
                for stranger in (other, without_session):
                    refused = await stranger.call_tool("read_answer", {"id": id_, "offset": 1_000})
                    assert f"There is no answer {id_}" in error(refused)
                assert beginning + await rest(one, id_) == LONG
                # An agent without a session has the id alone, which nobody guesses.
                beginning, id_ = await asked(without_session)
                assert beginning + await rest(without_session, id_) == LONG
            tasks.cancel_scope.cancel()
