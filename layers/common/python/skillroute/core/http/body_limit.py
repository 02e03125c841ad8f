"""Request bodies, bounded in size."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.http.errors import error_body
from skillroute.core.http.request_id import request_id_of

_MOST_DIGITS = 18
"""Of a length; a number of thousands of digits is none that Python reads."""

MAX_BODY_BYTES = 6 * 1024 * 1024
"""The most that Lambda takes as the payload of one invocation."""

MAX_READ_BYTES = 64 * 1024 * 1024
"""A larger body is not read to its end before it is refused; the connection is cut then."""


class BodyLimit:
    """ASGI middleware that answers 413 once a body is larger than allowed, without holding it in memory.

    `answers` has the bodies of that answer, as JSON, of the paths where it is not that of all errors.
    """

    def __init__(
        self, app: ASGIApp, max_bytes: int = MAX_BODY_BYTES, answers: Mapping[str, bytes] | None = None
    ) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._answers = answers or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and (len(length) > _MOST_DIGITS or int(length) > self._max_bytes):
            await _read_away(receive)
            await self._refuse(scope, send)
            return
        received = 0
        refused = False

        async def counted() -> Message:
            nonlocal received, refused
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._max_bytes and not refused:
                refused = True
                if message.get("more_body"):
                    await _read_away(receive)
                await self._refuse(scope, send)
                return {"type": "http.disconnect"}
            return message

        async def unless_refused(message: Message) -> None:
            if not refused:
                await send(message)

        await self._app(scope, counted, unless_refused)

    async def _refuse(self, scope: Scope, send: Send) -> None:
        detail = f"the body is larger than {self._max_bytes} bytes"
        refusal = error_body(detail, ErrorCode.BODY_TOO_LARGE, request_id_of(scope))
        body = self._answers.get(scope["path"]) or json.dumps(refusal).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _read_away(receive: Receive) -> None:
    """Read the rest of a body and drop it: a client that is still sending would not see the answer."""
    read = 0
    while read <= MAX_READ_BYTES:
        message = await receive()
        read += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return
