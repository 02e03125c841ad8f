"""The id of a request: in every answer and in the log, so that one can be found by the other."""

from __future__ import annotations

import re
import uuid
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

REQUEST_ID_HEADER = "X-Request-Id"

_KEY = "skillroute.request_id"
_SAFE = re.compile(r"[\x21-\x7e]{1,128}")


class RequestIds:
    """ASGI middleware that gives every request an id, and every answer the header with it.

    Behind API Gateway it is the gateway's own, which its access log and the function's log lines have as well. One that
    callers send is not taken over: an id has to be of one request.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _KEY in scope:  # around all of an app, and within it
            await self._app(scope, receive, send)
            return
        request_id = scope[_KEY] = _gateways(scope) or uuid.uuid4().hex
        header = (REQUEST_ID_HEADER.lower().encode("ascii"), request_id.encode("ascii"))

        async def with_id(message: Message) -> None:
            if message["type"] == "http.response.start" and header not in message.get("headers", ()):
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        await self._app(scope, receive, with_id)


def request_id_of(scope: Scope) -> str:
    """Return the id of a request by its scope; empty where no `RequestIds` has seen it."""
    request_id: str = scope.get(_KEY, "")
    return request_id


def _gateways(scope: Scope) -> str | None:
    context: Any = scope.get("aws.event", {}).get("requestContext") or {}
    found = context.get("requestId")
    return found if isinstance(found, str) and _SAFE.fullmatch(found) else None
