"""HEAD: what GET would answer, without its body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAsGet:
    """ASGI middleware that asks the routes for GET where HEAD is asked for, and leaves out the body of the answer.

    The length stays, as RFC 9110 (section 9.3.2) allows: it is that of the body that GET would have.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        # The server goes on seeing HEAD in its own scope, and so expects no body of the length announced.
        await self._app({**scope, "method": "GET"}, receive, without_body)
