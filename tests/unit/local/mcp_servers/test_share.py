"""A server's share of the event loop."""

from __future__ import annotations

import pytest
from skillroute_local.mcp_servers.share import Share


class Time:
    def __init__(self) -> None:
        self.now = 0.0
        self.slept = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds


async def spend(seconds: float, every: float, times: int) -> Time:
    time = Time()
    share = Share(time, time.sleep)
    for _ in range(times):
        time.now += every
        await share.spend(seconds)
    return time


@pytest.mark.anyio
async def test_a_server_that_answers_calls_is_never_waited_for() -> None:
    assert (await spend(0.0001, every=0.001, times=10_000)).slept == 0


@pytest.mark.anyio
async def test_a_server_that_writes_without_end_gets_a_fifth_of_the_time() -> None:
    time = await spend(0.001, every=0.001, times=10_000)
    assert 10 / time.now == pytest.approx(0.2, abs=0.05)


@pytest.mark.anyio
async def test_one_long_message_is_waited_for_after_it() -> None:
    assert (await spend(0.1, every=0.1, times=1)).slept == pytest.approx(0.4, abs=0.11)
