"""Request bodies: bounded in size, and read so that whatever cannot be read is the caller's error, never ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillroute.core.http.auth import Guard
from skillroute.core.http.errors import problem
from skillroute.core.http.json_values import TooManyValues, UnreadableJson, read_json

MAX_BODY_BYTES = 6 * 1024 * 1024
"""The most that Lambda takes as the payload of one invocation."""

MAX_FIELDS = 1000
"""Fields of a body's outermost object: each that is unknown is named in the answer."""

MOST_READ_BYTES = 64 * 1024 * 1024
"""A larger body is not read to its end before it is refused; the connection is cut then."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The limits of a body, measured before it is parsed: a value costs time and memory however few bytes it has.

    Attributes
    ----------
    max_bytes : int
    max_values : int
        Texts, numbers, objects and lists, at whatever depth.
    """

    max_bytes: int
    max_values: int


ONE = BodyLimits(max_bytes=1024 * 1024, max_values=15_000)
"""Of a question or a single thing; the largest is a search within 10,000 projects."""

MANY = BodyLimits(max_bytes=MAX_BODY_BYTES, max_values=400_000)
"""Of a bulk write. 6 MB of real tools have 250,000 values; parsed and checked, 400,000 take 0.5 s and 100 MB."""

TEXTS = BodyLimits(max_bytes=1024 * 1024, max_values=100_000)
"""Of a bulk write of messages: each character is searched for secrets and cut into words, which takes 2 to 5 µs."""


class SafeJsonRequest(Request):
    """A request whose JSON may be malformed in more ways than the standard library reports as such."""

    limits: BodyLimits = ONE

    async def json(self) -> Any:
        """Measure the body, then parse it.

        Raises
        ------
        json.JSONDecodeError
            Malformed JSON; FastAPI answers 422.
        HTTPException
            413: it is larger than the route takes. 422: it has more values than that, or more fields than any object
            that is asked for; is not UTF-8, nested too deeply, or holds an integer of thousands of digits.
        """
        body = await self.body()
        if len(body) > self.limits.max_bytes:
            raise HTTPException(413, f"the body is larger than {self.limits.max_bytes} bytes")
        try:
            value = read_json(body, self.limits.max_values)
        except TooManyValues as error:
            raise _refusal(str(error)) from None
        except UnreadableJson as error:
            raise _refusal(str(error), "json_invalid") from None
        if isinstance(value, dict) and len(value) > MAX_FIELDS:
            raise _refusal(f"has {len(value)} fields; at most {MAX_FIELDS} are allowed")
        return value


def _refusal(message: str, kind: str = "value_error") -> HTTPException:
    return HTTPException(422, [problem(["body"], message, kind)])


class SafeJsonRoute(APIRoute):
    """A route that asks who calls before it reads the body, and reads it as `SafeJsonRequest` does.

    FastAPI reads and parses the body before it asks any dependency: strangers could make it parse megabytes, and would
    get 422 where they should get 401.
    """

    limits: ClassVar[BodyLimits] = ONE

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        guards = [dependency.call for dependency in self.dependant.dependencies if isinstance(dependency.call, Guard)]

        async def safe(request: Request) -> Response:
            for guard in guards:
                await guard(request)
            measured = SafeJsonRequest(request.scope, request.receive)
            measured.limits = self.limits
            return await handler(measured)

        return safe


class BulkJsonRoute(SafeJsonRoute):
    """A route that writes many things at once."""

    limits = MANY


class BulkTextsRoute(SafeJsonRoute):
    """A route that writes many things whose texts are read to the last letter."""

    limits = TEXTS


class BodyLimit:
    """ASGI middleware that answers 413 once a body is larger than allowed, without holding it in memory.

    `answers` has the bodies of that answer, as JSON, of the paths where it is not ``{"detail": ...}``.
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
        if length.isdigit() and int(length) > self._max_bytes:
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
        detail = {"detail": f"the body is larger than {self._max_bytes} bytes"}
        body = self._answers.get(scope["path"]) or json.dumps(detail).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": body})


async def _read_away(receive: Receive) -> None:
    """Read the rest of a body and drop it: a client that is still sending would not see the answer."""
    read = 0
    while read <= MOST_READ_BYTES:
        message = await receive()
        read += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return
