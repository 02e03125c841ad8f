"""Pages of other sites: which may ask from a browser and read the answers (docs/adr/0054)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp

MAX_AGE_S = 7200
"""How long a browser remembers that it may ask, so that it does not ask twice each time: the most that Chrome takes."""

_ORIGIN = re.compile(r"https?://[A-Za-z0-9.-]+(:\d{1,5})?")


def origins_of(listed: str) -> tuple[str, ...]:
    """Return the origins of a list with commas between, as browsers spell them: in small letters, without a path.

    Raises
    ------
    ValueError
        One is no origin. ``*`` is none: on the laptop, where nobody is asked who they are, it would let every page in.

    Examples
    --------
    >>> origins_of("https://Console.example.com, http://localhost:5173")
    ('https://console.example.com', 'http://localhost:5173')
    """
    names = [name.strip() for name in listed.split(",") if name.strip()]
    for name in names:
        if not _ORIGIN.fullmatch(name):
            raise ValueError(
                f"{name[:200]!r} is not an origin: give each as https://host or https://host:port, no * or path"
            )
    return tuple(dict.fromkeys(name.lower() for name in names))


def let_pages_ask(app: Starlette, origins: Sequence[str]) -> None:
    """Let pages of these origins ask an app, and read its answers; without any, nothing changes.

    Around all of the app, since the preflight is answered before anybody is asked who they are, and Starlette answers
    unexpected errors outside of all middleware that was added. Tokens and signatures are headers, so there are
    no credentials. All headers of requests are allowed, those that sign one and those of clients to come.
    """
    if not origins:
        return
    from skillroute.core.http.preflight import Preflights  # noqa: PLC0415 - few deployments have pages
    from skillroute.core.http.request_id import RequestIds  # noqa: PLC0415

    build = app.build_middleware_stack

    def with_cors() -> ASGIApp:
        return RequestIds(
            Preflights(
                build(),
                allow_origins=list(origins),
                allow_methods=["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"],
                allow_headers=["*"],
                expose_headers=["*"],
                max_age=MAX_AGE_S,
            )
        )

    app.build_middleware_stack = with_cors  # type: ignore[method-assign]
