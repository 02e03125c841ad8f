"""Work of the console in a thread: its events come as they are told, and it ends when nobody listens any more."""

from __future__ import annotations

import threading

import anyio.to_thread
import pytest
from skillroute_local.console.events import Event, Stopped, Tell, from_thread

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
