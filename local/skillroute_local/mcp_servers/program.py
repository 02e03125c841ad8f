"""Starting a server's program and speaking to it over its standard streams, bounded in size, time and processes.

The SDK's own client puts a long line together in quadratic time, keeps it however long it is, writes a line of its log
for each line that is no message, and leaves children of a program alone that has ended by itself.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, TextIO, cast

import anyio
from anyio.abc import AsyncResource, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.os.win32.utilities import (
    ServerProcess,
    close_process_job,
    create_windows_process,
    get_windows_executable_command,
    terminate_windows_process_tree,
)
from mcp.shared.message import SessionMessage
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

from skillroute_local.mcp_servers.messages import MAX_VALUES, TOO_LONG, Messages, TooLong, answered_id
from skillroute_local.mcp_servers.model import Limits, StdioServer
from skillroute_local.mcp_servers.share import Share
from skillroute_local.mcp_servers.watchdog import WATCHDOG

logger = logging.getLogger(__name__)

_EXIT_S = 2.0
_POLL_S = 0.01
_FLUSH_S = 0.5
_S_A_BYTE = 1e-9
"""The time that the loop itself takes to read, which is not measured here."""

_S_A_LOST_BYTE = 4e-9
"""The same of what is not kept: nobody waits for it."""

_LINES_TOO_LONG = 16
"""How many times the bound a line may have until the connection is given up."""

_HALF = re.compile("[\ud800-\udfff]")

_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError)
_Messages = MemoryObjectSendStream[SessionMessage | Exception]


@asynccontextmanager
async def program_streams(
    server: StdioServer, environment: dict[str, str], errlog: TextIO, limits: Limits
) -> AsyncIterator[tuple[Any, Any]]:
    """Start a program, and yield the streams from and to it; at the end, end it with all that it has started.

    Raises
    ------
    OSError, ValueError
        It cannot be started.
    """
    process = await _started(server, environment, errlog)
    # No awaits until the task group is entered: a cancellation between would leave the program.
    received, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, to_send = anyio.create_memory_object_stream[SessionMessage](0)
    has_written = anyio.Event()

    async def write() -> None:
        try:
            await _write(process, to_send)
        except _CLOSED:
            await received.aclose()  # so that requests do not wait for ever
        finally:
            has_written.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_Reader(server.name, limits.message_bytes, received).run, process)
        tasks.start_soon(write)
        try:
            yield reading, writing
        finally:
            with anyio.CancelScope(shield=True):
                reading.close()
                writing.close()
                with anyio.move_on_after(_FLUSH_S):
                    await has_written.wait()
                await _stop(process)
                for stream in (received, to_send):
                    await stream.aclose()
            tasks.cancel_scope.cancel()


async def _started(server: StdioServer, environment: dict[str, str], errlog: TextIO) -> ServerProcess:
    """Start a program in a session or job of its own, which its children are in as well."""
    arguments = list(server.args)
    if sys.platform == "win32":
        command = await anyio.to_thread.run_sync(get_windows_executable_command, server.command, abandon_on_cancel=True)
        return await create_windows_process(command, arguments, environment, errlog, server.cwd)
    process = await anyio.open_process(
        [server.command, *arguments], env=environment, stderr=errlog, cwd=server.cwd, start_new_session=True
    )
    WATCHDOG.watch(process.pid)
    return process


class _Reader:
    """Reads what a program writes, and hands its messages on."""

    def __init__(self, name: str, most_bytes: int, received: _Messages) -> None:
        self._name = name
        self._most_bytes = most_bytes
        self._messages = Messages(most_bytes)
        self._received = received
        self._share = Share()
        self._wrong = 0

    async def run(self, process: ServerProcess) -> None:
        """Read until its end, or ours; what comes after ours is read away, so that it can end by itself."""
        output: Any = process.stdout
        try:
            async with self._received:
                while True:
                    await self._read(await output.receive())
        except _CLOSED:
            pass
        with anyio.CancelScope(shield=True), suppress(*_CLOSED):
            while True:
                await output.receive()

    async def _read(self, piece: bytes) -> None:
        is_lost = self._messages.size > self._most_bytes
        began = time.perf_counter() - len(piece) * (_S_A_LOST_BYTE if is_lost else _S_A_BYTE)
        for line in self._messages.of(piece):
            message = self._refused(line) if isinstance(line, TooLong) else self._parsed(line)
            await self._share.spend(time.perf_counter() - began)
            if message is not None:
                await self._received.send(message)
            began = time.perf_counter()
        await self._share.spend(time.perf_counter() - began)
        if self._messages.size > _LINES_TOO_LONG * self._most_bytes:
            logger.warning("%s: a line of its output does not end: the connection is given up", self._name)
            raise anyio.ClosedResourceError

    def _parsed(self, line: bytes) -> SessionMessage | None:
        if not line or line.isspace():
            return None
        try:
            return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            if (text := line.decode("utf-8", "replace").encode()) != line:
                return self._parsed(text)
            return self._mended(line)

    def _mended(self, line: bytes) -> SessionMessage | None:
        """Return a message with half a surrogate pair in it, which the SDK does not read; else fail what it answers."""
        try:
            text = _HALF.sub("\ufffd", json.dumps(json.loads(line), ensure_ascii=False))
            return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
        except (ValueError, RecursionError):
            self._left_out("a line that is no message of MCP")
        if (id_ := answered_id(line)) is None:
            return None
        error = ErrorData(code=INTERNAL_ERROR, message="a form that MCP does not know", data=TOO_LONG)
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=id_, error=error))

    def _left_out(self, what: str) -> None:
        """Tell of the first line that is left out, of the tenth, of the hundredth, and so on."""
        self._wrong += 1
        if (digits := str(self._wrong)).strip("0") == "1":
            so_far = f"; {digits} lines so far" if self._wrong > 1 else ""
            logger.warning("%s: %s on standard output is left out%s", self._name, what, so_far)

    def _refused(self, line: TooLong) -> SessionMessage | None:
        """Return the error that the call gets whose answer is too long."""
        most = f"{MAX_VALUES:,} values" if line.is_crowded else f"{self._most_bytes / 1e6:g} MB"
        if not line.is_answer:
            self._left_out(f"a message of more than {most}")
            return None
        if line.id is None:
            logger.warning(
                "%s: an answer of more than %s does not say to which request, at its beginning or end: "
                "the connection is given up", self._name, most,
            )  # fmt: skip
            raise anyio.ClosedResourceError
        remedy = "ask for less at once" + ("" if line.is_crowded else ", or allow more by --max-answer-mb")
        more = f"more than {most}: {remedy}"
        error = ErrorData(code=INTERNAL_ERROR, message=more, data=TOO_LONG)
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=line.id, error=error))


async def _write(process: ServerProcess, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
    program: Any = process.stdin
    async with messages:
        async for message in messages:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            await program.send(f"{text}\n".encode("utf-8", "replace"))


async def _stop(process: ServerProcess) -> None:
    """Close a program's input, give it time to end, and then end what is left of it and of what it has started."""
    given, output = cast("tuple[AsyncResource, AsyncResource]", (process.stdin, process.stdout))
    await _close(given)
    has_ended = await _ended(process)
    if sys.platform == "win32":
        if not has_ended:
            await terminate_windows_process_tree(process)
    elif isinstance(process, Process):
        await terminate_posix_process_tree(process, _EXIT_S)  # children outlive a program that has ended
        WATCHDOG.release(process.pid)
    if not has_ended and not await _ended(process):
        logger.warning("the program with process id %d cannot be killed: it is left alone", process.pid)
    close_process_job(process)
    await _close(output)
    transport = getattr(getattr(process, "_process", None), "_transport", None)  # open while a child holds a pipe
    if callable(close := getattr(transport, "close", None)):
        with suppress(PermissionError):
            close()


async def _ended(process: ServerProcess) -> bool:
    """Return whether a program ends in time. `wait` would wait for its pipes as well, which its children may hold."""
    with anyio.move_on_after(_EXIT_S):
        while process.returncode is None:
            await anyio.sleep(_POLL_S)
    return process.returncode is not None


async def _close(stream: AsyncResource) -> None:
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await stream.aclose()
