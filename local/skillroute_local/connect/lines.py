"""The agent's messages, one a line: an invalid one is answered here, because the SDK drops it silently."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from mcp_types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter

Answer = Callable[[str], Awaitable[None]]


class Lines:
    """The lines of a pipe that are messages, as text.

    Parameters
    ----------
    reader : asyncio.StreamReader
        Its limit is the longest line.
    limit : int
        The same in bytes, for the error.
    answer : callable
        Sends a line back.
    """

    def __init__(self, reader: asyncio.StreamReader, limit: int, answer: Answer) -> None:
        self._reader = reader
        self._limit = limit
        self._answer = answer

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield each message; the agent gets an error for an invalid one."""
        while True:
            try:
                line = await self._reader.readuntil(b"\n")
            except asyncio.IncompleteReadError as end:
                if end.partial.strip() and (last := await self._taken(end.partial)):
                    yield last
                return
            except asyncio.LimitOverrunError as overrun:
                await self._skip(overrun.consumed)
                await self._error(INVALID_REQUEST, f"a message has at most {self._limit} bytes in a line", None)
                continue
            if line.strip() and (text := await self._taken(line)):
                yield text

    async def _taken(self, line: bytes) -> str | None:
        """Return a line that is a message; answer to another one."""
        text = line.decode("utf-8", "replace")
        if _is_message(text):
            return text
        await self._refuse(line)
        return None

    async def _skip(self, consumed: int) -> None:
        """Read to the end of a line that is too long."""
        while True:
            await self._reader.readexactly(consumed)
            try:
                await self._reader.readuntil(b"\n")
            except asyncio.LimitOverrunError as overrun:
                consumed = overrun.consumed
            except asyncio.IncompleteReadError:
                return
            else:
                return

    async def _refuse(self, line: bytes) -> None:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            await self._error(PARSE_ERROR, "it is not JSON, or nested too deeply", None)
            return
        if isinstance(value, list):
            await self._error(INVALID_REQUEST, "batches are not taken: send each message in a line of its own", None)
            return
        id_ = value.get("id") if isinstance(value, dict) else None
        is_id = isinstance(id_, str | int) and not isinstance(id_, bool)
        await self._error(INVALID_REQUEST, "it is no message of JSON-RPC 2.0", id_ if is_id else None)

    async def _error(self, code: int, message: str, id_: str | int | None) -> None:
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}
        await self._answer(json.dumps(answer) + "\n")


def _is_message(text: str) -> bool:
    try:
        jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return False
    return True
