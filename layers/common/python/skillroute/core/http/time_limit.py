"""How much of its invocation a request has left."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from skillroute.core.time.time_left import ending_with, left_ms

_CONTEXT = "aws.context"
"""Where Mangum puts Lambda's context; callers cannot."""


class TimeLimit:
    """ASGI middleware that limits every wait below it to what the invocation has left (`core/time/time_left.py`)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with ending_with(scope.get(_CONTEXT)):
            await self._app(scope, receive, send)


def left_ms_of(request: Request) -> float | None:
    """Return the milliseconds that Lambda gives the invocation of a request yet; None where no Lambda counts."""
    return left_ms(request.scope.get(_CONTEXT))
