"""What an agent sees of the servers behind `connect`, by the official client: found, called, answer unchanged."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult
from skillroute_local.mcp_servers.client import connected
from skillroute_local.mcp_servers.model import Limits, StdioServer

from tests.integration.local.connect.conftest import LIMITS, Agent
from tests.integration.local.mcp_servers.conftest import Stub
from tests.stubs.mcp_server import ECHO, GOOD

pytestmark = pytest.mark.anyio


async def search(client: Client, query: str, **more: Any) -> dict[str, Any]:
    answer = await client.call_tool("search_tools", {"query": query, **more})
    assert not answer.is_error, answer
    found: dict[str, Any] = answer.structured_content
    assert json.loads(text(answer)) == found
    return found


async def call(client: Client, id_: str, arguments: dict[str, Any] | None = None, **more: Any) -> CallToolResult:
    return await client.call_tool("call_tool", {"id": id_, "arguments": arguments or {}}, **more)


def text(answer: CallToolResult) -> str:
    [block] = answer.content
    assert block.type == "text"
    return block.text


def error(answer: CallToolResult) -> str:
    assert answer.is_error
    return text(answer)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_three_tools_stand_for_all_and_find_and_call_them(agent: Agent, stub: Stub, mode: str) -> None:
    async with agent(stub("good"), mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [
            "search_tools", "get_tool_details", "call_tool"
        ]  # fmt: skip
        found = await search(client, "what is the temperature in Rome?", limit=1)
        assert [tool["id"] for tool in found["tools"]] == ["good/weather"]
        assert (await call(client, "good/weather")).structured_content == {"celsius": 21.5}


async def test_a_request_in_another_language_is_to_be_asked_in_english(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good")) as client:
        found = await search(client, "qué tiempo hace mañana en Roma", limit=1)
        assert found["language"] == "es"
        assert found["hint"] == "This seems to be Spanish; only English is understood: ask in English."
        assert "language" not in await search(client, "what is the temperature in Rome?", limit=1)


async def test_details_are_what_the_server_lists(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good")) as client:
        answer = await client.call_tool("get_tool_details", {"ids": ["good/echo", "good/eco"]})
        [echo] = answer.structured_content["tools"]
        assert echo == {"id": "good/echo", **{key: value for key, value in ECHO.items() if key != "name"}}
        assert answer.structured_content["missing"] == [
            "There is no item good/eco. The nearest are good/echo, good/count, good/grow. "
            "Take an id that search_tools returned."
        ]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_answer_is_that_of_a_direct_call(agent: Agent, stub: Stub, mode: str) -> None:
    arguments = {"echo": {"text": "grüße\n"}}
    names = [name for tool in GOOD if (name := tool["name"]) not in {"refuse", "wait", "count", "grow", "pid"}]
    async with agent(stub("good"), mode=mode) as client, connected(stub("good")) as direct:
        for name in names:
            expected = CallToolResult.model_validate(await direct.call(name, arguments.get(name, {})))
            answer = await call(client, f"good/{name}", arguments.get(name))
            assert answer.content == expected.content, name
            assert answer.structured_content == expected.structured_content, name
            assert answer.is_error == expected.is_error, name
            assert (expected.meta or {}).items() <= (answer.meta or {}).items(), name


async def test_errors_of_the_protocol_are_passed_on_with_code_and_data(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good")) as client:
        with pytest.raises(MCPError) as raised:
            await call(client, "good/refuse")
    assert (raised.value.code, raised.value.message, raised.value.data) == (-32042, "not today", {"until": "tomorrow"})


async def test_progress_is_passed_on(agent: Agent, stub: Stub) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async with agent(stub("good"), mode="legacy") as client:  # over a stream, as agents are connected
        await call(client, "good/count", progress_callback=note)
    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_cancelled_call_is_cancelled_at_its_server(agent: Agent, stub: Stub, mode: str) -> None:
    async with agent(stub("good"), mode=mode) as client:
        await call(client, "good/echo", {"text": "up"})
        with anyio.move_on_after(0.2):
            await call(client, "good/wait")
        with anyio.fail_after(10):  # in the legacy mode the cancellation is a message that overtakes nothing
            while text(await call(client, "good/cancelled")) != "1":
                await anyio.lowlevel.checkpoint()


async def test_prompts_and_resources_are_found_and_read(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good")) as client:
        found = await search(client, "review my code", item_type="prompt")
        assert [item["id"] for item in found["tools"]] == ["prompt:good/review"]
        assert text(await call(client, "prompt:good/review", {"language": "Python"})) == "Review this Python."
        assert text(await call(client, "prompt:good/review", {"language": [True]})) == "Review this [true]."
        assert "language missing" in error(await call(client, "prompt:good/review"))
        [block] = (await call(client, "resource:good/readme")).content
        assert block.type == "resource"
        assert block.resource.model_dump(exclude_none=True)["text"] == "# Hi"


async def test_wrong_calls_are_errors_that_say_what_to_do(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good")) as client:
        assert error(await call(client, "good/echo", {"txt": "a"})) == (
            "The arguments do not fit good/echo:\n- arguments: text missing\n"
            f"Its schema: {json.dumps(ECHO['inputSchema'])}"
        )
        assert "There is no item echo. The nearest are good/echo" in error(await call(client, "echo"))
        for arguments, expected in [
            ({}, "id must be a string"),
            ({"id": "good/pid", "args": {}}, "call_tool takes id and arguments, not args"),
            ({"id": "good/echo", "arguments": "text"}, "arguments must be an object, with what good/echo takes"),
        ]:
            assert expected in error(await client.call_tool("call_tool", arguments))
        assert "There is no tool echo: call search_tools" in error(await client.call_tool("echo", {}))
        assert error(await client.call_tool("search_tools", {"query": "a", "limit": 0})) == "limit must be 1..50"
        assert "There is no item x." in error(await client.call_tool("get_tool_details", {"ids": ["x"]}))


async def test_a_budget_of_tokens_holds(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good")) as client:
        small = await search(client, "say something", limit=50, budget_tokens=100)
        large = await search(client, "say something", limit=50, budget_tokens=2_000)
    assert 0 < len(small["tools"]) < len(large["tools"])
    assert small["omitted"] == len(large["tools"]) - len(small["tools"])
    assert any("input_schema" in tool for tool in large["tools"])


async def test_pinned_tools_stay_visible_and_are_called_by_their_names(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good"), stub("good", name="twin"), pins=["good/echo", "twin/echo", "weather"]) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools)[3:] == ["echo", "twin_echo", "weather", "twin_weather"]
        assert tools["echo"].input_schema == ECHO["inputSchema"]
        assert tools["echo"].description == ECHO["description"]
        assert text(await client.call_tool("echo", {"text": "a"})) == "a"
        assert "text missing" in error(await client.call_tool("twin_echo", {}))
        assert (await client.call_tool("weather", {})).structured_content == {"celsius": 21.5}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tool_that_comes_later_is_found_and_pinned_ones_are_announced(
    agent: Agent, stub: Stub, mode: str
) -> None:
    told = anyio.Event()

    async def heard(message: Any) -> None:
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            told.set()

    async with agent(stub("good"), pins=["good"], mode=mode, message_handler=heard) as client:
        before = [tool.name for tool in (await client.list_tools()).tools]
        async with anyio.create_task_group() as tasks:
            if mode == "auto":
                tasks.start_soon(_until_changed, client, told)
                await anyio.lowlevel.checkpoint()
            with anyio.fail_after(20):
                while not told.is_set():
                    await call(client, "good/grow")
                    with anyio.move_on_after(0.5):
                        await told.wait()
            tasks.cancel_scope.cancel()
        after = [tool.name for tool in (await client.list_tools()).tools]
        assert "echo_0" not in before
        assert "echo_0" in after
        assert text(await call(client, "good/echo_0", {"text": "new"})) == "new"


async def _until_changed(client: Client, told: anyio.Event) -> None:
    async with client.listen(tools_list_changed=True) as events:
        async for _ in events:
            told.set()


async def test_a_server_that_is_killed_during_a_call_is_an_error_and_the_next_call_works(
    agent: Agent, stub: Stub, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    async with agent(stub("good", starts)) as client:
        pid = int(text(await call(client, "good/pid")))
        answers: list[CallToolResult] = []

        async def wait() -> None:
            answers.append(await call(client, "good/wait"))

        with anyio.fail_after(LIMITS.call_s / 2):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                while text(await call(client, "good/echo", {"text": "a"})) != "a":
                    pass  # the server answers in turn: it has the call that waits
                os.kill(pid, signal.SIGKILL)
        assert error(answers[0]).startswith("good: its program ended before it answered tool wait")
        assert text(await call(client, "good/echo", {"text": "b"})) == "b"
        assert int(text(await call(client, "good/pid"))) != pid
    assert len(starts.read_text().splitlines()) == 2


async def test_servers_that_hang_die_or_lie_do_not_stop_the_others(agent: Agent, stub: Stub, tmp_path: Path) -> None:
    missing = StdioServer("missing", "mcp.json: mcpServers.missing", str(tmp_path / "none"))
    servers = [stub("hanging"), stub("good"), stub("dying"), stub("lying"), missing]
    async with agent(*servers, limits=Limits(connect_s=2, list_s=2, call_s=5)) as client:
        found = await search(client, "repeat a text", limit=2)
        assert [tool["id"] for tool in found["tools"]] == ["good/echo", "lying/echo"]
        assert found["servers_failed"] == ["hanging", "dying", "missing"]
        assert text(await call(client, "good/echo", {"text": "a"})) == "a"
        assert "lying: its answer to tool numb is not what MCP says" in error(await call(client, "lying/numb"))
        assert text(await call(client, "lying/echo", {"text": "b"})) == "b"
        assert (await call(client, "lying/odd", {"n": "anything"})).is_error is False


async def test_a_call_that_is_not_answered_is_an_error_in_time(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good"), limits=Limits(connect_s=5, list_s=5, call_s=0.3)) as client:
        await search(client, "anything")
        assert error(await call(client, "good/wait")).startswith("good: no answer to tool wait within 0.3 s")


async def test_equal_questions_get_equal_bytes(agent: Agent, stub: Stub) -> None:
    async with agent(stub("good")) as client:
        first, second = [text(await client.call_tool("search_tools", {"query": "a text"})) for _ in range(2)]
    assert first == second
