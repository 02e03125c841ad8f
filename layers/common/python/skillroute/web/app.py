"""FastAPI apps, put together from routers."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI

from skillroute import __version__
from skillroute.web.body import BodyLimit
from skillroute.web.errors import add_error_handlers


def create_app(routers: Sequence[APIRouter], *, title: str = "Skillroute") -> FastAPI:
    """Return an app that serves the routers, with the error table and the body limit."""
    app = FastAPI(
        title=title,
        version=__version__,
        description="Tool search for AI agents: ask for what you need in plain words, get the tools that fit.",
    )
    app.add_middleware(BodyLimit)
    add_error_handlers(app)
    for router in routers:
        app.include_router(router)
    return app
