"""Answers over HTTP: read to a bound, as those of programs are, and asked why where they failed."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import httpx2
import mcp_types as types
from mcp_types import ErrorData, RequestId

from skillroute_local.mcp_servers.errors import FromServer, HttpStatus

if TYPE_CHECKING:
    from skillroute_local.server_logins.auth import LoginAuth

_SESSION_HEADER = "mcp-session-id"
_SESSION = re.compile(r"\bsession\b", re.IGNORECASE)
_CODES_OF_SESSIONS = (-32000, -32001, types.INVALID_REQUEST)
"""Those that the SDKs answer with where there is no session: all others belong to what was asked for."""


class AnswerTooLongError(httpx2.StreamError):
    """An answer, or a line of a stream of events, has more bytes than are read."""


class Bounded(httpx2.AsyncByteStream):
    """The bytes of a response, up to a bound.

    Parameters
    ----------
    stream : asynchronous stream of bytes
    most_bytes : int
        Of a whole answer, or of one line where it is a stream of events, which may go on for ever.
    """

    def __init__(self, stream: Any, most_bytes: int, *, by_line: bool) -> None:
        self._stream = stream
        self._most_bytes = most_bytes
        self._by_line = by_line

    @classmethod
    def limit(cls, response: httpx2.Response, most_bytes: int) -> None:
        """Have a response read to a bound."""
        is_of_events = response.headers.get("content-type", "").lower().startswith("text/event-stream")
        response.stream = cls(response.stream, most_bytes, by_line=is_of_events)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the bytes as they come. Raises `AnswerTooLongError` beyond the bound."""
        size = 0
        async for piece in self._stream:
            at = piece.rfind(b"\n") if self._by_line else -1
            size = size + len(piece) if at < 0 else len(piece) - at - 1
            if size > self._most_bytes:
                raise AnswerTooLongError(
                    f"more than {self._most_bytes / 1e6:g} MB: ask for less at once, or allow more by --max-answer-mb"
                )
            yield piece

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


def request_id(request: httpx2.Request) -> RequestId | None:
    """Return the id of the request of MCP that a request over HTTP carries, if any."""
    try:
        message = json.loads(request.content) if request.method == "POST" else None
    except (ValueError, httpx2.StreamError):
        return None
    found: RequestId | None = message.get("id") if isinstance(message, dict) and "method" in message else None
    return found


async def failure(response: httpx2.Response, login: LoginAuth | None = None) -> ErrorData:
    """Return what a response says whose status is 400 or more: the error of MCP in its body, or its status.

    MCP has a session that is forgotten answered with 404. Servers answer 400 too, and say something of a session: the
    SDK for TypeScript's examples do. An error of MCP may come with these as well: its code says which it is. Where
    another login would help, that is the answer, and not the body.
    """
    if login is not None and (remedy := await login.remedy(response)):
        return _of_status(HttpStatus(response.status_code, remedy=remedy))
    text, body = "", None
    try:
        await response.aread()
        text = response.text
        body = json.loads(text)
    except (ValueError, RecursionError, httpx2.HTTPError, httpx2.StreamError):
        pass
    error = body.get("error") if isinstance(body, dict) else None
    error = error if isinstance(error, dict) else {}
    code, message = error.get("code"), error.get("message")
    sent = None
    if isinstance(code, int) and isinstance(message, str):
        sent = ErrorData(code=code, message=message, data=FromServer(error.get("data")))
    is_lost = (
        _SESSION_HEADER in response.request.headers
        and (sent is None or sent.code in _CODES_OF_SESSIONS)
        and (
            response.status_code == httpx2.codes.NOT_FOUND
            or (response.status_code == httpx2.codes.BAD_REQUEST and _SESSION.search(sent.message if sent else text))
        )
    )
    if sent is not None and not is_lost:
        return sent
    return _of_status(HttpStatus(response.status_code, is_session_lost=bool(is_lost)))


def _of_status(status: HttpStatus) -> ErrorData:
    return ErrorData(code=types.INTERNAL_ERROR, message=f"HTTP status {status.status}", data=status)
