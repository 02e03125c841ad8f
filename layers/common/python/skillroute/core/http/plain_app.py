"""Apps of routes that need nothing of FastAPI, which takes 100 ms to import."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import Route

from skillroute.core.http.auth import Access
from skillroute.core.http.body_limit import BodyLimit
from skillroute.core.http.cors import let_pages_ask
from skillroute.core.http.errors import add_error_handlers
from skillroute.core.http.head import HeadAsGet
from skillroute.core.http.methods import PathMethods
from skillroute.core.http.request_id import RequestIds
from skillroute.core.http.time_limit import TimeLimit
from skillroute.core.http.traced import Traced, Watch


def create_plain_app(
    routes: Sequence[Route],
    *,
    access: Access | None = None,
    too_large: Mapping[str, bytes] | None = None,
    cors_origins: Sequence[str] = (),
    trace: Callable[[], Watch] | None = None,
) -> Starlette:
    """Return an app that serves the routes, with the error table and limits of body and time.

    Parameters
    ----------
    routes : sequence of Route
    access : Access, optional
        With it a request for what no route has must say who sends it first, too; without it anybody gets 404.
    too_large : mapping of str to bytes, optional
        What paths with a protocol of their own answer to a body that is too large, as JSON.
    cors_origins : sequence of str
        Origins of pages that may ask from a browser.
    trace : callable, optional
        Returns what takes the events of requests, and what makes their spans.
    """
    middleware = [
        Middleware(RequestIds),
        Middleware(HeadAsGet),
        *([] if trace is None else [Middleware(Traced, watch=trace)]),
        Middleware(TimeLimit),
        Middleware(BodyLimit, answers=too_large),
    ]
    app = Starlette(routes=list(routes), middleware=middleware)
    let_pages_ask(app, cors_origins)
    app.router.redirect_slashes = False  # to a host that the request names, and before anybody is asked who they are
    add_error_handlers(app, PathMethods(routes), access.anyone() if access else None)
    return app
