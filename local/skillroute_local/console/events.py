"""Answers of actions that take long: an event a line, while the work goes on, in a thread where it blocks."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from concurrent.futures import Future
from contextlib import aclosing
from contextvars import copy_context
from functools import partial
from typing import Any, TypeVar

from starlette.responses import StreamingResponse

from skillroute_local.console.problems import Problem

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Encoding": "identity",  # compression would keep lines back until there are enough of them
}

T = TypeVar("T")

Event = dict[str, Any]
Tell = Callable[[Event], None]
"""Tells the page how far work is; raises `Stopped` once the page has gone away."""


class Stopped(Exception):
    """The page no longer waits for the work."""


class Rooms:
    """Lets each organisation have so much long work in progress: none waits for what is another one's.

    Parameters
    ----------
    at_once : int
    """

    def __init__(self, at_once: int) -> None:
        self._rooms: dict[str | None, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(at_once))

    async def within(self, org_id: str | None, work: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Yield the events of work, once there is room for it; where it has to wait, the first one says so."""
        room = self._rooms[org_id]
        async with aclosing(work):
            if room.locked():
                yield {"doing": "waiting for what is in progress already", "done": 0, "total": None}
            async with room:
                async for event in work:
                    yield event


def in_own_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Run work that may take minutes in a thread of its own.

    The threads of the pool are few and serve all, and names of hosts are looked up in them as well.
    """
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001 (raised where it is awaited)
            done.set_exception(error)

    threading.Thread(target=copy_context().run, args=(run,), name="long work", daemon=True).start()
    return asyncio.wrap_future(done)


async def from_thread(work: Callable[[Tell], Event]) -> AsyncGenerator[Event, None]:
    """Yield what blocking work tells, and at last what it returns; once the page has gone away it ends at the next."""
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    stop = threading.Event()

    def tell(event: Event) -> None:
        if stop.is_set():
            raise Stopped
        loop.call_soon_threadsafe(events.put_nowait, event)

    def ended(task: asyncio.Future[Event]) -> None:
        events.put_nowait(None)
        if not task.cancelled():
            task.exception()  # it is looked at, also where the page has gone away

    task = in_own_thread(partial(work, tell))
    task.add_done_callback(ended)
    try:
        while (event := await events.get()) is not None:
            yield event
        yield await task
    finally:
        stop.set()


def answer_of(events: AsyncIterator[Any], problem_of: Callable[[Exception], Problem | None]) -> StreamingResponse:
    """Return events as lines of JSON; where the page goes away, the work ends.

    Parameters
    ----------
    events : async iterator
        JSON objects.
    problem_of : callable
        What a page shows of an error, or None for an unexpected error. What failed is the last line, as
        ``{"problem": ...}``: the status has been sent by then.
    """

    async def lines() -> AsyncIterator[str]:
        try:
            async for event in events:
                yield f"{json.dumps(event)}\n"
        except Exception as error:
            found = problem_of(error)
            if found is None:
                raise
            yield f"{json.dumps({'problem': found.body()})}\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson", headers=_HEADERS)
