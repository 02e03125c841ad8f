"""Connections to real stdio servers, good and bad; none of the bad ones stops another."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import anyio
import pytest
from mcp.shared.exceptions import MCPError
from skillroute_local.mcp_servers.client import connected
from skillroute_local.mcp_servers.listing import list_server, list_servers
from skillroute_local.mcp_servers.model import HttpServer, Limits, Listing, ServerError, StdioServer

from tests.integration.local.mcp_servers.conftest import Stub
from tests.stubs.http_mcp_server import serving
from tests.stubs.mcp_server import ECHO, GOOD, PIXEL
from tests.stubs.sse_mcp_server import serving_sse

pytestmark = pytest.mark.anyio
SOON = Limits(connect_s=3, list_s=2)


def listing(found: Listing | ServerError) -> Listing:
    assert isinstance(found, Listing), found
    return found


def error(found: Listing | ServerError) -> str:
    assert isinstance(found, ServerError), found
    return str(found)


async def test_a_server_is_listed_with_every_field_of_its_tools_prompts_and_resources(stub: Stub) -> None:
    found = listing(await list_server(stub("good")))
    assert [item.value for item in found.items if item.kind == "tool"] == GOOD
    assert [(item.kind, item.name) for item in found.items[len(GOOD) :]] == [
        ("prompt", "review"),
        ("resource", "readme"),
    ]
    assert (found.title, found.version, found.instructions) == ("Stub", "1.2", "For tests.")
    assert found.problems == ()


async def test_answers_of_calls_come_unchanged(stub: Stub) -> None:
    async with connected(stub("good")) as connection:
        assert await connection.call("echo", {"text": "grüße\n"}) == {"content": [{"type": "text", "text": "grüße\n"}]}
        picture = {"type": "image", "data": PIXEL, "mimeType": "image/png", "_meta": {"dots": 1}}
        assert await connection.call("picture", {}) == {"content": [picture]}
        weather = await connection.call("weather", {})
        assert (weather["structuredContent"], weather["_meta"]) == ({"celsius": 21.5}, {"from": "stub"})
        assert (await connection.call("fail", {}))["isError"] is True
        with pytest.raises(MCPError) as raised:
            await connection.call("refuse", {})
        assert (raised.value.code, raised.value.message, raised.value.data) == (
            -32042,
            "not today",
            {"until": "tomorrow"},
        )


async def test_a_call_whose_answer_looks_like_a_list_comes_unchanged(stub: Stub) -> None:
    async with connected(stub("good")) as connection:
        answer = await connection.call("inventory", {})
        assert answer["tools"] == [ECHO, {"bad": 1}]
        assert len((await connection.list_all()).items) == len(GOOD) + 2


async def test_progress_is_passed_on(stub: Stub) -> None:
    steps: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async with connected(stub("good")) as connection:
        await connection.call("count", {}, progress=note)
    assert steps == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_a_cancelled_call_is_cancelled_at_the_server(stub: Stub) -> None:
    async with connected(stub("good")) as connection:
        with anyio.move_on_after(0.1):
            await connection.call("wait", {})
        answer = await connection.call("cancelled", {})
    assert answer["content"][0]["text"] == "1"


async def test_a_call_without_an_answer_ends_in_time_and_the_next_one_works(stub: Stub) -> None:
    async with connected(stub("good")) as connection:
        with pytest.raises(ServerError, match=r"good: no answer to tool wait within 0\.1 s"):
            await connection.call("wait", {}, timeout_s=0.1)
        assert (await connection.call("echo", {"text": "a"}))["content"][0]["text"] == "a"


async def test_changes_of_a_list_are_heard(stub: Stub) -> None:
    changed = anyio.Event()
    async with connected(stub("good"), on_change=changed.set) as connection:
        await connection.call("grow", {})
        with anyio.fail_after(10):
            await changed.wait()
        names = [item.name for item in (await connection.list_all()).items]
    assert "echo_0" in names


async def test_a_server_that_is_killed_during_a_call_is_an_error_at_once(stub: Stub) -> None:
    async with connected(stub("good")) as connection:
        pid = int((await connection.call("pid", {}))["content"][0]["text"])
        with pytest.raises(ServerError, match="good: its program ended before it answered tool wait"):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(anyio.to_thread.run_sync, os.kill, pid, signal.SIGKILL)
                try:
                    await connection.call("wait", {})
                except ServerError as gone:
                    found = gone
            raise found
        with anyio.fail_after(10):
            await connection.wait_ended()


async def test_entries_that_are_wrong_are_left_out_and_named(stub: Stub) -> None:
    found = listing(await list_server(stub("lying")))
    assert [item.name for item in found.items if item.kind == "tool"] == ["echo", "odd", "numb"]
    assert found.items[0].value == ECHO
    assert [problem.partition(" ")[2].partition(": ")[0] for problem in found.problems] == [
        "tool wordy", "tool listy", "tool [3]", "tool [4]", "tool echo is listed twice"
    ]  # fmt: skip
    assert found.problems[0].startswith("lying: tool wordy: inputSchema: ")


async def test_an_answer_that_is_none_is_an_error_with_its_field(stub: Stub) -> None:
    async with connected(stub("lying")) as connection:
        with pytest.raises(ServerError, match=r"lying: its answer to tool numb is not what MCP says: .*content"):
            await connection.call("numb", {})
        assert (await connection.call("echo", {"text": "a"}))["content"][0]["text"] == "a"


async def test_long_lists_are_read_to_the_limit(stub: Stub) -> None:
    found = listing(await list_server(stub("huge"), Limits(items=2_500)))
    assert sum(item.kind == "tool" for item in found.items) == 2_500
    assert found.problems == ("huge: tools after the first 2500 are left out",)


async def test_lists_that_never_end_are_read_to_the_limit(stub: Stub) -> None:
    endless = listing(await list_server(stub("endless"), Limits(pages=3)))
    assert [item.name for item in endless.items if item.kind == "tool"] == ["echo_0", "echo_1", "echo_2"]
    assert endless.problems == ("endless: tools after page 3 are left out",)
    circular = listing(await list_server(stub("circular")))
    assert [item.name for item in circular.items if item.kind == "tool"] == ["echo_None", "echo_round"]
    assert circular.problems == ("circular: tools/list repeats the cursor 'round'",)


async def test_a_list_that_fails_does_not_spoil_the_other_lists(stub: Stub) -> None:
    found = listing(await list_server(stub("no-list")))
    assert [item.kind for item in found.items] == ["prompt", "resource"]
    assert found.problems == ("no-list: tools/list was answered with error -32603: the list is lost",)


async def test_an_address_that_is_refused_is_named_by_its_status_without_the_key_in_it() -> None:
    with serving(status=401) as port:
        server = HttpServer("away", "mcp.json: away", f"http://127.0.0.1:{port}/sse?api_key=k-1", transport="sse")
        assert error(await list_server(server)) == (
            "away: the handshake was answered with HTTP status 401 (Unauthorized): it wants a login, give a token in "
            "headers"
        )


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "HTTP status 401 (Unauthorized): it wants a login, give a token in headers"),
        (403, "HTTP status 403 (Forbidden): the token in headers does not allow it"),
        (405, "HTTP status 405 (Method Not Allowed): is there an MCP server at this url?"),
        (429, "HTTP status 429 (Too Many Requests): it takes fewer requests, try again later"),
        (500, "HTTP status 500 (Internal Server Error): it failed, or what stands before it did: try again later"),
        (503, "HTTP status 503 (Service Unavailable): it failed, or what stands before it did: try again later"),
    ],
)
async def test_an_http_status_is_told_and_what_to_do_about_it(status: int, told: str) -> None:
    with serving(status=status) as port:
        server = HttpServer("away", "mcp.json: away", f"http://127.0.0.1:{port}/mcp")
        assert error(await list_server(server)) == f"away: the handshake was answered with {told}"


async def test_an_address_that_knows_sse_alone_is_reached_by_it_where_nobody_says_which_it_is() -> None:
    with serving_sse() as url:
        assert len(listing(await list_server(HttpServer("old", "mcp.json: old", url))).items) == len(GOOD) + 2
        given = HttpServer("old", "mcp.json: old", url, transport="http")
        assert "HTTP status 405" in error(await list_server(given))


async def test_a_message_that_is_refused_over_sse_is_told_at_once() -> None:
    with serving_sse({"initialize": 401}) as url:
        told = error(await list_server(HttpServer("old", "mcp.json: old", url, transport="sse"), SOON))
        assert told.startswith("old: the handshake was answered with HTTP status 401 (Unauthorized)")
    with serving_sse({"tools/call": 503}) as url:
        async with connected(HttpServer("old", "mcp.json: old", url)) as connection:
            with pytest.raises(ServerError, match=r"tool echo was answered with HTTP status 503"):
                await connection.call("echo", {"text": "a"})
            assert len((await connection.list_all()).items) == len(GOOD) + 2


async def test_a_program_that_ends_at_the_question_for_the_newest_revision_is_greeted_the_old_way(
    stub: Stub, tmp_path: Path
) -> None:
    assert len(listing(await list_server(stub("strict", tmp_path / "starts"))).items) == len(GOOD) + 2
    assert len((tmp_path / "starts").read_text().splitlines()) == 2


async def test_an_answer_with_half_a_character_is_read_and_one_without_a_known_form_fails_at_once(stub: Stub) -> None:
    async with connected(stub("good")) as connection:
        assert (await connection.call("half", {}))["content"][0]["text"] == "a\ufffd"
        with pytest.raises(ServerError, match="its answer to tool formless has a form that MCP does not know"):
            await connection.call("formless", {}, timeout_s=30)
        assert (await connection.call("echo", {"text": "a"}))["content"][0]["text"] == "a"


@pytest.mark.parametrize("code", [-32000, -32001, -32022, -32600, -32603])
@pytest.mark.parametrize("message", ["Session not found in the debugger", "SSE stream ended without a response"])
async def test_an_error_of_a_server_passes_as_it_came_whatever_its_number_and_the_connection_lasts(
    stub: Stub, code: int, message: str
) -> None:
    sent = {"code": code, "message": message, "data": [1]}
    async with connected(stub("good")) as connection:
        with pytest.raises(MCPError) as raised:
            await connection.call("say", sent)
        assert (raised.value.code, raised.value.message, raised.value.data) == (code, sent["message"], [1])
        assert not connection.has_ended
        assert (await connection.call("echo", {"text": "a"}))["content"][0]["text"] == "a"


async def test_a_header_that_http_does_not_allow_is_not_shown() -> None:
    with serving() as port:
        server = HttpServer("away", "mcp.json: away", f"http://127.0.0.1:{port}/mcp", {"X-Key": "secret\n"})
        assert "secret" not in error(await list_server(server))


def test_servers_that_hang_die_or_lie_do_not_stop_the_others(stub: Stub, tmp_path: Path) -> None:
    missing = StdioServer("missing", "mcp.json: mcpServers.missing", str(tmp_path / "none"))
    lost = StdioServer("lost", "mcp.json: mcpServers.lost", "true", cwd=tmp_path / "none")
    unreachable = HttpServer("away", "mcp.json: mcpServers.away", "http://127.0.0.1:9/mcp")
    servers = [stub("hanging"), stub("good"), stub("dying"), stub("silent-list"), missing, lost, unreachable]
    hanging, good, dying, silent, *others = list_servers(servers, SOON)
    assert error(hanging) == "hanging: no answer to the handshake within 3 s"
    assert len(listing(good).items) == len(GOOD) + 2
    assert error(dying).startswith("dying: its program ended before it answered the handshake")
    assert error(dying).endswith("; its last line was: the token is missing")
    assert error(silent) == "silent-list: no answer to tools/list within 2 s"
    assert [error(other).partition("(")[0].strip() for other in others] == [
        f"missing: the program {tmp_path / 'none'} is not there: install it, or correct mcp.json: "
        "mcpServers.missing.command",
        f"lost: there is no folder {tmp_path / 'none'}: correct mcp.json: mcpServers.lost.cwd",
        "away: cannot be reached",
    ]
