"""FastAPI apps, put together from routers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from fastapi import APIRouter, FastAPI

from skillroute import __version__
from skillroute.core.http.auth import Access
from skillroute.core.http.body_limit import BodyLimit
from skillroute.core.http.compression import Compressed
from skillroute.core.http.cors import let_pages_ask
from skillroute.core.http.docs import with_error_schemas
from skillroute.core.http.errors import add_error_handlers
from skillroute.core.http.head import HeadAsGet
from skillroute.core.http.methods import PathMethods
from skillroute.core.http.request_id import RequestIds
from skillroute.core.http.time_limit import TimeLimit
from skillroute.core.http.traced import Traced, Watch
from skillroute.core.http.validation_errors import add_validation_errors


class _App(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """Return the OpenAPI document, made at the first call."""
        if self.openapi_schema is None:
            self.openapi_schema = with_error_schemas(super().openapi())
        return self.openapi_schema


def create_app(
    routers: Sequence[APIRouter],
    *,
    access: Access | None = None,
    use_cases: Mapping[type, object] | None = None,
    title: str = "Skillroute",
    too_large: Mapping[str, bytes] | None = None,
    cors_origins: Sequence[str] = (),
    trace: Callable[[], Watch] | None = None,
) -> FastAPI:
    """Return an app that serves the routers, with the error table and limits of body and time.

    Parameters
    ----------
    routers : sequence of APIRouter
    access : Access, optional
        With it a request for what no route has must say who sends it first, too; without it anybody gets 404.
    use_cases : mapping of type, optional
        What the routes ask the app for (`use_cases.given`).
    title : str
        What the OpenAPI document calls the app.
    too_large : mapping of str to bytes, optional
        What paths with a protocol of their own answer to a body that is too large, as JSON. Their answers are not
        compressed.
    cors_origins : sequence of str
        Origins of pages that may ask from a browser.
    trace : callable, optional
        Returns what takes the events of requests, and what makes their spans.
    """
    app = _App(
        title=title,
        version=__version__,
        description="Tool search for AI agents: ask for what you need in plain words, get the tools that fit.",
        openapi_url=None,  # what is published is made, and shown, by the laptop (docs/adr/0051)
        generate_unique_id_function=attrgetter("name"),  # operation ids are the names of functions
        redirect_slashes=False,  # to a host that the request names, and before anybody is asked who they are
    )
    app.state.use_cases = {} if use_cases is None else use_cases
    _add_middleware(app, too_large, trace)
    let_pages_ask(app, cors_origins)
    _open_to_all(app, access)
    add_error_handlers(
        app, PathMethods([route for router in routers for route in router.routes]), access.anyone() if access else None
    )
    add_validation_errors(app)
    for router in routers:
        app.include_router(router)
    return app


def _add_middleware(app: FastAPI, too_large: Mapping[str, bytes] | None, trace: Callable[[], Watch] | None) -> None:
    """Add what stands around all routes; each stands around those before it."""
    app.add_middleware(Compressed, but=too_large or {})
    app.add_middleware(BodyLimit, answers=too_large)
    app.add_middleware(TimeLimit)
    if trace is not None:
        app.add_middleware(Traced, watch=trace)
    app.add_middleware(HeadAsGet)
    app.add_middleware(RequestIds)


def _open_to_all(app: FastAPI, access: Access | None) -> None:
    """Let pages of all sites read what visitors may read, if anything."""
    if access is not None and access.open_below is not None:
        from skillroute.core.http.open_pages import OpenPages  # noqa: PLC0415 - few deployments have open routes

        app.add_middleware(OpenPages, prefix=access.open_below)
