"""A server behind `connect` is kept connected: started again after its end, whether or not somebody calls it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import anyio
import pytest
from skillroute_local.connect.upstream import Backoff, Upstream
from skillroute_local.mcp_servers.model import Limits, Listing, McpServer, ServerError

from tests.integration.mcp_servers.conftest import Stub

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
