"""Standard input and output as streams of the event loop.

The SDK reads and writes them in threads: three more switches in every call, each of which waits for a processor, and
one that waits for the agent's next line, which nothing can interrupt at the end.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.stdio import stdio_server

from skillroute_local.connect.lines import Lines
from skillroute_local.errors import LocalError

_LONGEST_LINE = 64 * 1024 * 1024


class _Text:
    """A pipe that text is written to."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode())

    async def flush(self) -> None:
        await self._writer.drain()


@asynccontextmanager
async def agent_streams() -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams of messages from and to the agent that has started this process.

    Meanwhile what else is written to standard output goes to standard error.
    """
    loop = asyncio.get_running_loop()
    own_in, own_out = os.fdopen(os.dup(0), "rb", 0), os.fdopen(os.dup(1), "wb", 0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    reader = asyncio.StreamReader(_LONGEST_LINE)
    try:
        incoming, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), own_in)
        outgoing, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, own_out)
    except (OSError, ValueError) as error:
        raise LocalError(
            "standard input and output must be pipes, as an agent gives them: serve with --http, or see docs/connect.md"
        ) from error
    writer = asyncio.StreamWriter(outgoing, protocol, None, loop)
    try:
        out = _Text(writer)

        async def answer(line: str) -> None:
            await out.write(line)
            await out.flush()

        lines = Lines(reader, _LONGEST_LINE, answer)
        async with stdio_server(lines, out) as (reading, writing):  # type: ignore[arg-type]
            try:
                yield reading, writing
            finally:  # its tasks end with their streams
                incoming.close()
                await writing.aclose()
    finally:
        outgoing.close()
