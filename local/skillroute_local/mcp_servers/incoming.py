"""The stream of what an MCP server sends: a sign when it ends, listings entry by entry, errors marked as its own."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import ObjectReceiveStream
from mcp.shared.message import SessionMessage
from mcp.types.methods import validate_server_result
from mcp_types import UNSUPPORTED_PROTOCOL_VERSION, ErrorData, JSONRPCError, JSONRPCResponse
from pydantic import ValidationError

from skillroute_local.mcp_servers.errors import FromServer, HttpStatus, is_of_client
from skillroute_local.mcp_servers.model import LISTS, ListedKind

_FEW = 200
"""Entries that are checked before a thread would have begun."""


class Tap(ObjectReceiveStream[SessionMessage | Exception]):
    """The stream of what a server sends, with listings sifted on the way, and errors marked as the server's.

    The client refuses a page in which one tool is wrong, and drops fields that it does not know. So entries that are
    wrong are taken out before it sees them, and the others are kept as they came.

    Parameters
    ----------
    asked : mutable mapping
        By the id of a request for a list: the kind that it asks for. Other answers stay as they come.
    most : int
        The most entries of a page that are looked at, the wrong ones among them.
    failures : mapping
        By the id of a request that was answered with an HTTP status of an error: what it says.
    has_streams : bool
        Whether answers come as streams of events, which may end too early.

    Attributes
    ----------
    ended : anyio.Event
        Set when the server has closed its side, as a program that died has, or no longer reads or knows the session.
    has_answered : bool
        Whether anything was answered at all.
    version : str
        The revision that both speak, by which entries are checked; empty until the handshake is over.
    entries : list
        Those of the last page.
    refused : list of str
        What was wrong with others of that page.
    """

    def __init__(
        self,
        stream: Any,
        ended: anyio.Event,
        asked: MutableMapping[str, ListedKind],
        most: int,
        failures: MutableMapping[str, ErrorData],
        *,
        has_streams: bool,
    ) -> None:
        self._stream = stream
        self._asked = asked
        self._most = most
        self._failures = failures
        self._has_streams = has_streams
        self.ended = ended
        self.version = ""
        self.has_answered = False
        self.entries: list[dict[str, Any]] = []
        self.refused: list[str] = []

    @property
    def last_context(self) -> object:
        """Return the context of the last message's sender, where the stream has one."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """Return the next message."""
        try:
            message: SessionMessage | Exception = await self._stream.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.ended.set()
            raise
        if isinstance(message, SessionMessage) and isinstance(message.message, JSONRPCResponse | JSONRPCError):
            self.has_answered = True
            kind = self._asked.pop(str(message.message.id), None)
            if kind is not None and self.version and isinstance(message.message, JSONRPCResponse):
                await self._sift(kind, message.message.result)
            if isinstance(message.message, JSONRPCError):
                self._mark(message.message)
        return message

    def _mark(self, answer: JSONRPCError) -> None:
        """Mark an error as the server's own, or as the HTTP status that stands for it."""
        failed = self._failures.pop(str(answer.id), None)
        if failed is not None:
            answer.error = failed
            if isinstance(failed.data, HttpStatus) and failed.data.is_session_lost:
                self.ended.set()
            return
        # The SDK's handshake reads the data of a version that is not supported.
        is_of_handshake = not self.version and answer.error.code == UNSUPPORTED_PROTOCOL_VERSION
        # Of its own making: an answer that was not kept, and one whose stream ended.
        if not is_of_handshake and not is_of_client(answer.error, has_streams=self._has_streams):
            answer.error.data = FromServer(answer.error.data)

    async def aclose(self) -> None:
        """Close the stream."""
        self.ended.set()
        await self._stream.aclose()

    async def _sift(self, kind: ListedKind, result: dict[str, Any]) -> None:
        _, field = LISTS[kind]
        self.entries, self.refused = [], []
        if not isinstance(listed := result.get(field), list):
            return
        if len(listed) > self._most:
            self.refused.append(f"{kind}s after the first {self._most} of a page are left out")
            del listed[self._most :]
        if len(listed) <= _FEW:
            self._check(kind, listed)
        else:
            await anyio.to_thread.run_sync(self._check, kind, listed)
        result[field] = list(self.entries)

    def _check(self, kind: ListedKind, listed: list[Any]) -> None:
        method, field = LISTS[kind]
        for index, entry in enumerate(listed):
            if problem := self._problem(method, field, entry):
                name = entry.get("name") if isinstance(entry, dict) else None
                self.refused.append(f"{kind} {name if isinstance(name, str) else f'[{index}]'}: {problem}")
            else:
                self.entries.append(entry)

    def _problem(self, method: str, field: str, entry: object) -> str:
        """Return what is wrong with an entry by the revision that is spoken, empty where nothing is."""
        page = {field: [entry], "ttlMs": 0, "cacheScope": "private", "resultType": "complete"}
        try:
            validate_server_result(method, self.version, page)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(step) for step in first["loc"] if step not in {field, 0}) or "it"
            return f"{place}: {first['msg'][:200]}"
        except KeyError:  # a method that this revision does not have
            return ""
        return ""
