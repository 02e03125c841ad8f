"""A server behind `connect` is kept connected: started again after its end, whether or not somebody calls it."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import psutil
import pytest
from skillroute_local.connect.upstream import Backoff, Upstream
from skillroute_local.mcp_servers.model import HttpServer, Limits, Listing, McpServer, ServerError

from tests.integration.local.mcp_servers.conftest import Stub
from tests.stubs.http_mcp_server import serving

pytestmark = pytest.mark.anyio

LIMITS = Limits(connect_s=10, list_s=10, call_s=10)


async def ignore(_: McpServer, __: Listing) -> None:
    return


async def started(starts: Path, times: int) -> list[int]:
    """Wait until a server was started so many times, and return the ids of its processes."""
    with anyio.fail_after(20):
        while not starts.exists() or len(starts.read_text().splitlines()) < times:
            await anyio.sleep(0.005)
    return [int(line) for line in starts.read_text().splitlines()]


async def test_a_server_that_is_killed_is_started_again_by_itself(stub: Stub, tmp_path: Path) -> None:
    upstream = Upstream(stub("good", tmp_path / "starts"), ignore, LIMITS, Backoff(first_s=0.01))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(upstream.run)
        await upstream.settled.wait()
        assert upstream.problem is None
        os.kill((await started(tmp_path / "starts", 1))[0], signal.SIGKILL)
        await started(tmp_path / "starts", 2)
        assert (await upstream.call("echo", {"text": "a"}, None))["content"][0]["text"] == "a"
        tasks.cancel_scope.cancel()


async def test_a_server_that_always_dies_is_tried_again_and_says_why(stub: Stub, tmp_path: Path) -> None:
    upstream = Upstream(stub("dying", tmp_path / "starts"), ignore, LIMITS, Backoff(first_s=0.01, most_s=0.02))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(upstream.run)
        await started(tmp_path / "starts", 3)
        assert "its last line was: the token is missing" in (upstream.problem or "")
        tasks.cancel_scope.cancel()


async def test_a_call_starts_a_server_at_once_that_would_be_left_alone_for_long(stub: Stub, tmp_path: Path) -> None:
    upstream = Upstream(stub("dying", tmp_path / "starts"), ignore, LIMITS, Backoff(first_s=1_000, most_s=1_000))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(upstream.run)
        await upstream.settled.wait()
        for times in (2, 3):
            with pytest.raises(ServerError, match="dying: its program ended before it answered the handshake"):
                await upstream.call("echo", {}, None)
            assert len(await started(tmp_path / "starts", times)) == times
        tasks.cancel_scope.cancel()


_OF_SESSION = {"code": -32001, "message": "Session not found"}
_OF_TYPESCRIPT = {"code": -32000, "message": "Bad Request: No valid session ID provided"}


@pytest.mark.parametrize(
    ("status", "error"), [(404, None), (404, _OF_SESSION), (400, _OF_SESSION), (400, _OF_TYPESCRIPT)]
)
async def test_a_call_that_met_a_lost_session_is_carried_out_after_a_new_handshake(
    status: int, error: dict[str, Any] | None
) -> None:
    async with anyio.create_task_group() as tasks:
        with serving() as port:
            server = HttpServer("far", "mcp.json: mcpServers.far", f"http://127.0.0.1:{port}/mcp")
            upstream = Upstream(server, ignore, LIMITS, Backoff(first_s=0.01, most_s=0.01))
            tasks.start_soon(upstream.run)
            assert await echoed(upstream, "a") == "a"
        with serving(port, lost=status, lost_error=error):
            assert await echoed(upstream, "b") == "b"
            assert await echoed(upstream, "c") == "c"
        tasks.cancel_scope.cancel()


async def test_an_http_server_that_goes_away_is_an_error_and_gets_a_new_handshake_when_it_is_back() -> None:
    async with anyio.create_task_group() as tasks:
        with serving() as port:
            server = HttpServer("away", "mcp.json: mcpServers.away", f"http://127.0.0.1:{port}/mcp")
            upstream = Upstream(server, ignore, LIMITS, Backoff(first_s=0.01, most_s=0.01))
            tasks.start_soon(upstream.run)
            assert await echoed(upstream, "a") == "a"
        with pytest.raises(ServerError, match="away: "):
            await upstream.call("echo", {}, None)
        with pytest.raises(ServerError, match=r"away: cannot be reached"):
            await upstream.call("echo", {}, None)
        with serving(port):
            assert await echoed(upstream, "b") == "b"
        tasks.cancel_scope.cancel()


async def test_a_server_that_always_changes_is_listed_after_longer_and_longer_pauses(stub: Stub) -> None:
    pauses: list[float] = []
    quiet, done = anyio.Event(), anyio.Event()

    async def sleep(pause_s: float) -> None:
        pauses.append(pause_s)
        if len(pauses) < 8:
            await upstream.call("grow", {}, None)
            while not upstream._changed.is_set():
                await anyio.lowlevel.checkpoint()
        elif len(pauses) == 8:
            quiet.set()
        else:
            done.set()

    upstream = Upstream(stub("good"), ignore, LIMITS, sleep=sleep)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(upstream.run)
        with anyio.fail_after(20):
            for event in (quiet, done):
                await upstream.call("grow", {}, None)
                await event.wait()
        tasks.cancel_scope.cancel()
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 1]


async def echoed(upstream: Upstream, text: str) -> str:
    with anyio.fail_after(20):
        answer: str = (await upstream.call("echo", {"text": text}, None))["content"][0]["text"]
    return answer


async def test_a_server_that_is_stopped_is_started_again_and_later_calls_do_not_hang(
    stub: Stub, tmp_path: Path
) -> None:
    limits = Limits(connect_s=20, list_s=20, call_s=100, write_s=0.1)
    upstream = Upstream(stub("good", tmp_path / "starts"), ignore, limits, Backoff(first_s=0.01))
    large = "x" * 1_000_000
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(upstream.run)
        await upstream.settled.wait()
        os.kill((await started(tmp_path / "starts", 1))[0], signal.SIGSTOP)
        with anyio.fail_after(50):  # neither the first nor the ones behind it wait for the time of a call
            async with anyio.create_task_group() as calls:
                for _ in range(3):
                    calls.start_soon(failing, upstream, large)
        assert await echoed(upstream, large) == large
        tasks.cancel_scope.cancel()


async def failing(upstream: Upstream, text: str) -> None:
    with pytest.raises(ServerError):
        await upstream.call("echo", {"text": text}, None)


async def test_a_call_takes_no_longer_than_it_may_where_its_server_does_not_start(stub: Stub) -> None:
    limits = Limits(connect_s=60, list_s=60, call_s=0.1)
    upstream = Upstream(stub("hanging"), ignore, limits)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(upstream.run)
        with anyio.fail_after(20), pytest.raises(ServerError, match="hanging: it is still starting"):
            await upstream.call("echo", {}, None)
        tasks.cancel_scope.cancel()


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until_ended(pid: int) -> None:
    with anyio.fail_after(20):
        while is_running(pid):
            await anyio.sleep(0.005)


async def test_a_server_whose_listing_is_known_is_started_by_the_first_call(stub: Stub, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    upstream = Upstream(stub("good", starts), ignore, LIMITS)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(upstream.run, is_known=True))
        await upstream.settled.wait()
        await anyio.wait_all_tasks_blocked()
        assert not starts.exists()
        assert upstream.problem is None
        assert await echoed(upstream, "a") == "a"
        assert await echoed(upstream, "b") == "b"
        assert len(starts.read_text().splitlines()) == 1
        tasks.cancel_scope.cancel()


async def test_a_server_that_no_call_goes_to_is_stopped_and_the_next_call_starts_it(stub: Stub, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    upstream = Upstream(stub("good", starts), ignore, replace(LIMITS, idle_s=0.05))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(upstream.run)
        for times in (1, 2, 3):
            [*_, pid] = await started(starts, times)
            await until_ended(pid)
            assert upstream.problem is None
            assert len(starts.read_text().splitlines()) == times, "it is not started by itself"
            assert await echoed(upstream, "a") == "a"
        [*_, pid] = await started(starts, 4)
        tasks.cancel_scope.cancel()
    assert not is_running(pid)


async def test_a_server_is_not_stopped_while_a_call_is_under_way(stub: Stub, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    upstream = Upstream(stub("good", starts), ignore, Limits(connect_s=10, list_s=10, call_s=0.5, idle_s=0.05))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(upstream.run, is_known=True))
        with pytest.raises(ServerError, match=r"no answer to tool wait within 0\.5 s"):
            await upstream.call("wait", {}, None)
        [pid] = await started(starts, 1)
        await until_ended(pid)
        tasks.cancel_scope.cancel()


async def test_a_server_that_is_killed_and_one_that_was_stopped_answer_many_calls_at_once(
    stub: Stub, tmp_path: Path
) -> None:
    """Calls that come while it is stopped, or just killed, wait for one start together."""
    starts = tmp_path / "starts"
    upstream = Upstream(stub("good", starts), ignore, replace(LIMITS, idle_s=0.05), Backoff(first_s=0.01))
    answers: list[str] = []

    async def call(text: str) -> None:
        answers.append(await echoed(upstream, text))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(upstream.run, is_known=True))
        for kills in (False, True, False, True):
            async with anyio.create_task_group() as calls:
                for number in range(10):
                    calls.start_soon(call, str(number))
            pids = await started(starts, 1)
            if kills and is_running(pids[-1]):
                os.kill(pids[-1], signal.SIGKILL)
                pids = await started(starts, len(pids) + 1)  # its end was noticed
            await until_ended(pids[-1])
        assert sorted(answers) == sorted(4 * [str(number) for number in range(10)])
        tasks.cancel_scope.cancel()
