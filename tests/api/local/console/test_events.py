"""Work of the console in a thread: its events come as they are told, and it ends when nobody listens any more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator

import anyio.to_thread
import pytest
from skillroute_local.console.events import Event, Rooms, Stopped, Tell, from_thread

pytestmark = pytest.mark.anyio


async def test_what_is_told_comes_before_the_end() -> None:
    def work(tell: Tell) -> Event:
        tell({"done": 1})
        tell({"done": 2})
        return {"end": True}

    assert [event async for event in from_thread(work)] == [{"done": 1}, {"done": 2}, {"end": True}]


async def test_what_fails_is_raised() -> None:
    def work(tell: Tell) -> Event:
        tell({"done": 1})
        raise LookupError("gone")

    seen = []
    with pytest.raises(LookupError, match="gone"):
        async for event in from_thread(work):
            seen.append(event)
    assert seen == [{"done": 1}]


async def test_work_that_nobody_listens_to_ends_when_it_tells_next() -> None:
    went_away, ended, written = threading.Event(), threading.Event(), []

    def work(tell: Tell) -> Event:
        tell({"done": 1})
        went_away.wait(30)
        try:
            tell({"done": 2})
            written.append("more")
        except Stopped:
            ended.set()
            raise
        return {}

    events = from_thread(work)
    assert await anext(events) == {"done": 1}
    await events.aclose()
    went_away.set()
    assert await anyio.to_thread.run_sync(ended.wait, 30)
    assert written == []


async def test_long_work_takes_no_thread_that_short_work_needs() -> None:
    going_on, over = threading.Semaphore(0), threading.Event()

    def work(tell: Tell) -> Event:
        tell({"done": 1})
        going_on.release()
        over.wait(30)
        return {}

    many = [from_thread(work) for _ in range(40)]  # more than the pool has threads, on any machine
    for events in many:
        assert await anext(events) == {"done": 1}
    assert await asyncio.wait_for(asyncio.to_thread(lambda: "short"), 30) == "short"
    over.set()
    for events in many:
        assert await anext(events) == {}


async def test_an_organisation_waits_for_no_work_of_another_one() -> None:
    rooms = Rooms(1)

    async def work(name: str) -> AsyncGenerator[Event, None]:
        yield {"at": name}
        yield {"end": name}

    first = rooms.within("acme", work("first"))
    assert await anext(first) == {"at": "first"}
    assert [event async for event in rooms.within(None, work("other"))] == [{"at": "other"}, {"end": "other"}]

    second = rooms.within("acme", work("second"))
    assert "waiting" in (await anext(second))["doing"]
    # WHEN the page of the first is closed, the next one has its room
    await first.aclose()
    assert [event async for event in second] == [{"at": "second"}, {"end": "second"}]
