"""Programs that write too much, list too much, or leave programs behind: what is read of them is bounded."""

from __future__ import annotations

import json
import logging

import anyio
import psutil
import pytest
from mcp.shared.exceptions import MCPError
from skillroute_local.mcp_servers import incoming
from skillroute_local.mcp_servers.client import connected
from skillroute_local.mcp_servers.listing import list_server
from skillroute_local.mcp_servers.model import HttpServer, Limits, Listing, ServerError

from tests.integration.local.mcp_servers.conftest import Stub
from tests.stubs.http_mcp_server import serving

pytestmark = pytest.mark.anyio

SMALL = Limits(connect_s=10, list_s=10, call_s=10, message_bytes=100_000)


def text_of(answer: dict[str, object]) -> str:
    [block] = answer["content"]  # type: ignore[misc]
    return str(block["text"])  # type: ignore[index]


def is_running(pid: int) -> bool:
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


async def until_gone(pid: int) -> None:
    with anyio.fail_after(20):
        while is_running(pid):
            await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("where", [{}, {"last": True}])
async def test_an_answer_that_is_too_long_is_an_error_of_its_call_alone(stub: Stub, where: dict[str, bool]) -> None:
    async with connected(stub("good"), SMALL) as connection:
        for _ in range(2):
            with pytest.raises(ServerError) as raised:
                await connection.call("big", {"bytes": 1_000_000, **where})
            assert str(raised.value) == (
                "good: its answer to tool big has more than 0.1 MB: "
                "ask for less at once, or allow more by --max-answer-mb"
            )
        assert text_of(await connection.call("big", {"bytes": 90_000})) == "x" * 90_000
        assert text_of(await connection.call("echo", {"text": "a"})) == "a"


async def test_an_answer_that_is_too_long_and_does_not_say_to_what_ends_the_connection(stub: Stub) -> None:
    async with connected(stub("good"), SMALL) as connection:
        with pytest.raises(ServerError, match="ended before it answered tool big"):
            await connection.call("big", {"bytes": 1_000_000, "hidden": True})
        assert connection.has_ended


async def test_an_answer_over_http_that_is_too_long_is_an_error_of_its_call_alone() -> None:
    with serving() as port:
        server = HttpServer("far", "mcp.json: mcpServers.far", f"http://127.0.0.1:{port}/mcp")
        async with connected(server, SMALL) as connection:
            with pytest.raises(MCPError, match=r"more than 0\.1 MB: ask for less at once"):
                await connection.call("echo", {"text": "x" * 200_000})
            assert text_of(await connection.call("echo", {"text": "x" * 90_000})) == "x" * 90_000


async def test_a_line_without_an_end_ends_the_connection(stub: Stub) -> None:
    limits = Limits(connect_s=10, call_s=10, message_bytes=1_000)
    async with connected(stub("good"), limits) as connection:
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                with pytest.raises(ServerError, match=r"has more than 0\.001 MB"):
                    await connection.call("big", {"bytes": 1_000_000})

            tasks.start_soon(call)
        await connection.wait_ended()


async def test_lines_that_are_no_messages_are_told_few_times_with_their_number(
    stub: Stub, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(stub("good")) as connection:
        with caplog.at_level(logging.WARNING):
            await connection.call("babble", {"lines": 20_000})
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == 5
    assert lines[0] == "good: a line that is no message of MCP on standard output is left out"
    assert lines[-1].endswith("is left out; 10000 lines so far")


async def test_of_a_page_of_very_many_tools_those_within_the_limit_are_checked_and_taken(
    stub: Stub, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[str] = []
    check = incoming.validate_server_result
    monkeypatch.setattr(
        incoming, "validate_server_result", lambda method, *page: (checked.append(method), check(method, *page))[1]
    )
    found = await list_server(stub("long-page"))
    assert isinstance(found, Listing)
    assert len([item for item in found.items if item.kind == "tool"]) == 5_000
    assert checked.count("tools/list") == 5_000
    assert found.problems == ("long-page: tools after the first 5000 of a page are left out",)


async def test_a_list_of_a_hundred_thousand_tools_at_once_is_refused_unread_and_spoils_no_other(stub: Stub) -> None:
    found = await list_server(stub("crowded"))
    assert isinstance(found, Listing)
    assert {item.kind for item in found.items} == {"prompt", "resource"}
    [problem] = found.problems
    assert problem.startswith("crowded: its answer to tools/list has more than ")


async def test_what_a_program_has_started_ends_with_it(stub: Stub) -> None:
    async with connected(stub("good")) as connection:
        child = int(text_of(await connection.call("spawn", {})))
        assert is_running(child)
    await until_gone(child)


async def test_what_a_program_has_started_ends_where_it_ends_by_itself(stub: Stub) -> None:
    async with connected(stub("good")) as connection:
        child = int(text_of(await connection.call("spawn", {})))
        with pytest.raises(ServerError):
            await connection.call("exit", {})
        assert is_running(child)
    await until_gone(child)


async def test_a_program_gets_few_variables_and_its_own(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHERS_TOKEN", "secret")
    async with connected(stub("good")) as connection:
        given = json.loads(text_of(await connection.call("environment", {})))
    assert "PATH" in given
    assert "OTHERS_TOKEN" not in given
