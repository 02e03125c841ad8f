"""Answers of actions that take long: an event a line, while the work goes on, in a thread where it blocks."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Any

from starlette.responses import StreamingResponse

from skillroute_local.console.problems import Problem

_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Encoding": "identity",  # compression would keep lines back until there are enough of them
}

Event = dict[str, Any]
Tell = Callable[[Event], None]
"""Tells the page how far work is; raises `Stopped` once the page has gone away."""


class Stopped(Exception):
    """The page no longer waits for the work."""


async def from_thread(work: Callable[[Tell], Event]) -> AsyncGenerator[Event, None]:
    """Yield what blocking work tells, and at last what it returns; once the page has gone away it ends at the next."""
    loop = asyncio.get_running_loop()
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    stop = threading.Event()

    def tell(event: Event) -> None:
        if stop.is_set():
            raise Stopped
        loop.call_soon_threadsafe(events.put_nowait, event)

    def ended(task: asyncio.Task[Event]) -> None:
        events.put_nowait(None)
        if not task.cancelled():
            task.exception()  # it is looked at, also where the page has gone away

    task = asyncio.create_task(asyncio.to_thread(work, tell))
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
