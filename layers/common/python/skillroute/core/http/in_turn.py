"""Searches under way, counted from the first byte to the last: heavy work in the same process gives way to them."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from skillroute.core.rationing.turns import Turns

_SEARCHES = ("/api/v1/search", "/api/v1/tools/search_messages", "/mcp")


class InTurn:
    """ASGI middleware for apps that answer several requests at once; Lambda gives an environment one at a time."""

    def __init__(self, app: ASGIApp, turns: Turns) -> None:
        self._app = app
        self._turns = turns

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(_SEARCHES):
            await self._app(scope, receive, send)
            return
        with self._turns.plain():
            await self._app(scope, receive, send)
