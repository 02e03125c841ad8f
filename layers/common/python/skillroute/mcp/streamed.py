"""Answers of calls where the server streams: notices of progress as they come, and an end where the client has gone."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from functools import partial

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from skillroute.core.http.lanes import Lanes
from skillroute.mcp.headers import Headers
from skillroute.mcp.plain_routes import event_of, response_of
from skillroute.mcp.server import McpServer, Reply
from skillroute.mcp.tool import Asked

_MOST_NOTICES = 1000
"""Notices that wait to be sent; those beyond are dropped: they say how far a call is, and the next one says more."""


async def answer_call(
    server: McpServer, lanes: Lanes, request: Request, headers: Headers, body: bytes, asked: Asked
) -> Response:
    """Return the answer to a request that has a tool called: plain, or a stream from its first notice on."""
    loop, gone = asyncio.get_running_loop(), threading.Event()
    messages: asyncio.Queue[bytes | Reply] = asyncio.Queue()

    def note(message: bytes) -> None:
        if messages.qsize() < _MOST_NOTICES:
            loop.call_soon_threadsafe(messages.put_nowait, message)

    asked = replace(asked, is_gone=gone.is_set, notices=note if headers.takes_stream else None)
    made = asyncio.create_task(_made(lanes, partial(server.answer, headers, body, asked), messages))
    watch = asyncio.create_task(_note_end(request, gone))
    first = asyncio.create_task(messages.get())
    try:
        await asyncio.wait({made, first}, return_when=asyncio.FIRST_COMPLETED)
        if not first.done() or isinstance(first.result(), Reply):
            return response_of(await made)
        streamed = _events(first.result(), messages, made, gone)
        return StreamingResponse(streamed, 200, {"Cache-Control": "no-store"}, media_type="text/event-stream")
    except asyncio.CancelledError:
        gone.set()
        raise
    finally:
        watch.cancel()
        first.cancel()


async def _made(lanes: Lanes, answer: Callable[[], Reply], messages: asyncio.Queue[bytes | Reply]) -> Reply:
    """Make the answer, and put it after the notices."""
    reply = Reply(500, b"")
    try:
        reply = await lanes.waiting(answer)
        return reply
    finally:
        messages.put_nowait(reply)


async def _note_end(request: Request, gone: threading.Event) -> None:
    """Note when the client goes: nothing else is received after the body."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            gone.set()
            return


async def _events(
    first: bytes | Reply, messages: asyncio.Queue[bytes | Reply], made: asyncio.Task[Reply], gone: threading.Event
) -> AsyncIterator[bytes]:
    """Yield messages as events until the answer; a client that goes before it has the call cancelled."""
    try:
        message = first
        while not isinstance(message, Reply):
            yield event_of(message)
            message = await messages.get()
        yield event_of(message.body)
        await made
    finally:
        gone.set()
