"""One app for the systems of all tests: making its routes takes 0.3 s. Each request leads to the system it is for."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, cached_property
from typing import Any, cast

from fastapi import FastAPI
from skillroute.core.http.app import create_app
from skillroute.core.http.auth import Access
from skillroute.core.settings import LocalSettings
from skillroute.wiring import Parts
from skillroute_local.api_document.pages import add_pages
from starlette.types import Receive, Scope, Send

from tests.builders import System

_asked: ContextVar[_SystemApp] = ContextVar("asked")
_OF_APP = {
    name
    for name in LocalSettings.model_fields
    if name in ("auth", "default_mode", "public_registry") or name.startswith(("jwt_", "iam_", "rerank_"))
}
"""Settings that the routes themselves are made with."""


def app_over(system: System, *, with_pages: bool = True) -> FastAPI:
    """Return the routes of all functions as one app, with the laptop's pages about them or, as on Lambda, without."""
    return cast(FastAPI, _SystemApp(system, with_pages))


class _SystemApp:
    """The app whose callers are let in as the system's settings say, asked for this system."""

    def __init__(self, system: System, with_pages: bool) -> None:
        self.parts = system.parts
        self._app = _made(system.settings.model_dump_json(include=_OF_APP), with_pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        before = _asked.set(self)
        try:
            await self._app(scope, receive, send)
        finally:
            _asked.reset(before)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app, name)

    @cached_property
    def use_cases(self) -> dict[type, Any]:
        return self.parts.served("search", "catalog", "skills").use_cases


class _Part:
    """Stands for a part of the system that is asked, of which the routes know nothing."""

    def __init__(self, find: Callable[[_SystemApp], Any]) -> None:
        self._find = find

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(_asked.get()), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._find(_asked.get())(*args, **kwargs)


@cache
def _made(settings: str, with_pages: bool) -> FastAPI:
    parts = Parts(LocalSettings(**json.loads(settings), database_url="postgresql://u:p@127.0.0.1:1/d"))
    vars(parts)["lanes"] = _Part(lambda app: app.parts.lanes)
    vars(parts)["rules_in_force"] = _Part(lambda app: app.parts.rules_in_force)
    vars(parts.mcp)["server"] = _Part(lambda app: app.parts.mcp.server)
    routers, kinds = parts.served()
    use_cases = {kind: _Part(lambda app, kind=kind: app.use_cases[kind]) for kind in kinds}  # type: ignore[misc]
    app = create_app(
        routers,
        access=parts.access,
        use_cases={**use_cases, Access: parts.access},
        too_large=parts.mcp.too_large,
        trace=_Part(lambda app: lambda: app.parts.tracing.watch),
    )
    if with_pages:
        add_pages(app, routers)
    return app
