"""Standard input and output as streams of the event loop.

The SDK reads and writes them in threads: three more switches in every call, each of which waits for a processor, and
one that waits for the agent's next line, which nothing can interrupt at the end. Windows' loop reads none of the pipes
that programs are started with: there a thread reads, which does not keep the process, and writing is done in threads.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, BinaryIO, Protocol

import anyio.to_thread
from mcp.server.stdio import stdio_server

from skillroute_local.connect.lines import Lines
from skillroute_local.errors import LocalError

_MAX_LINE_LENGTH = 64 * 1024 * 1024
_CHUNK = 64 * 1024
_LOOP_READS_PIPES = os.name == "posix"


class _Text(Protocol):
    """The text streams, as the SDK opens them."""

    async def write(self, text: str) -> None: ...

    async def flush(self) -> None: ...


class _PipeOfTheLoop:
    """A pipe that the loop writes to."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        await self._writer.drain()


class _FileOfThreads:
    """A file that is written to in threads, so that the loop does not wait for an agent that reads slowly."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    async def write(self, text: str) -> None:
        await anyio.to_thread.run_sync(self._file.write, text.encode())

    async def flush(self) -> None:
        await anyio.to_thread.run_sync(self._file.flush)


@asynccontextmanager
async def agent_streams() -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams of messages from and to the agent that has started this process.

    Meanwhile what else is written to standard output goes to standard error.
    """
    own_in, own_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    reader = asyncio.StreamReader(_MAX_LINE_LENGTH)
    opened = _opened_by_the_loop if _LOOP_READS_PIPES else _opened_by_threads
    async with opened(reader, own_in, own_out) as (out, stop_reading):

        async def answer(line: str) -> None:
            await out.write(line)
            await out.flush()

        lines = Lines(reader, _MAX_LINE_LENGTH, answer)
        async with stdio_server(lines, out) as (reading, writing):  # type: ignore[arg-type]
            try:
                yield reading, writing
            finally:  # its tasks end with their streams
                stop_reading()
                await writing.aclose()


@asynccontextmanager
async def _opened_by_the_loop(
    reader: asyncio.StreamReader, own_in: int, own_out: int
) -> AsyncIterator[tuple[_Text, Callable[[], object]]]:
    """Feed a reader from one descriptor; yield what writes to the other one, and what ends the reading."""
    loop = asyncio.get_running_loop()
    try:
        incoming, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(own_in, "rb", 0)
        )
        outgoing, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(own_out, "wb", 0)
        )
    except (OSError, ValueError) as error:
        raise LocalError(
            "standard input and output must be pipes, as an agent gives them: serve with --http, or see docs/connect.md"
        ) from error
    try:
        yield _PipeOfTheLoop(asyncio.StreamWriter(outgoing, protocol, None, loop)), incoming.close
    finally:
        outgoing.close()


@asynccontextmanager
async def _opened_by_threads(
    reader: asyncio.StreamReader, own_in: int, own_out: int
) -> AsyncIterator[tuple[_Text, Callable[[], object]]]:
    """Do the same where the loop cannot."""
    loop = asyncio.get_running_loop()
    is_over = False

    def feed(data: bytes) -> None:
        if is_over:
            return
        if data:
            reader.feed_data(data)
        else:
            reader.feed_eof()

    def read() -> None:
        with suppress(RuntimeError):  # the loop has ended, and with it this process
            while True:
                try:
                    data = os.read(own_in, _CHUNK)
                except OSError:  # of Windows, where the other side was killed
                    data = b""
                loop.call_soon_threadsafe(feed, data)
                if not data:
                    return

    def stop() -> None:
        nonlocal is_over
        feed(b"")
        is_over = True

    threading.Thread(target=read, name="stdin", daemon=True).start()
    file = os.fdopen(own_out, "wb")
    try:
        yield _FileOfThreads(file), stop
    finally:
        with suppress(OSError):  # the agent has left, and an answer to it stayed behind
            file.close()
