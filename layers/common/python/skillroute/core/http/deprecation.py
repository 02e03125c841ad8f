"""Routes that will go: one statement gives them `deprecated: true` in OpenAPI and the headers of every answer.

docs/versioning.md says how long a route stays after it was deprecated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

DEPRECATION_HEADER = "Deprecation"
SUNSET_HEADER = "Sunset"
MIN_NOTICE_DAYS = 180
"""Days between the announcement and the first day on which a route may be gone (docs/versioning.md)."""

_KEY = "x-deprecation"


@dataclass(frozen=True, slots=True)
class Deprecation:
    """When a route was deprecated, when it goes, and what is asked instead.

    Attributes
    ----------
    since : date
    sunset : date
        The first day, in UTC, on which it may be gone.
    instead : str
        The path of the route that replaces it.
    """

    since: date
    sunset: date
    instead: str

    def headers(self) -> dict[str, str]:
        """Return the headers of RFC 9745 and RFC 8594.

        Examples
        --------
        >>> Deprecation(date(2027, 1, 4), date(2027, 7, 5), "/api/v1/tools").headers()["Sunset"]
        'Mon, 05 Jul 2027 00:00:00 GMT'
        """
        return {
            DEPRECATION_HEADER: f"@{int(_midnight(self.since).timestamp())}",
            SUNSET_HEADER: format_datetime(_midnight(self.sunset), usegmt=True),
            "Link": f'<{self.instead}>; rel="successor-version"',
        }


def deprecated(*, since: date, sunset: date, instead: str) -> dict[str, Any]:
    """Return the arguments of a route that will go.

    Raises
    ------
    ValueError
        `sunset` is less than `MIN_NOTICE_DAYS` after `since`, or `instead` is no path.

    Examples
    --------
    >>> from fastapi import APIRouter
    >>> router = APIRouter()
    >>> gone = deprecated(since=date(2027, 1, 4), sunset=date(2027, 7, 5), instead="/api/v1/tools")
    >>> @router.get("/api/v1/items", **gone)
    ... def list_items() -> list[str]:
    ...     return []
    """
    if (sunset - since).days < MIN_NOTICE_DAYS:
        raise ValueError(f"sunset: {sunset} is less than {MIN_NOTICE_DAYS} days after {since}: choose a later day")
    if not instead.startswith("/"):
        raise ValueError(f"instead: {instead} is not a path: it begins with a slash")
    stated = {"since": since.isoformat(), "sunset": sunset.isoformat(), "instead": instead}
    return {"deprecated": True, "openapi_extra": {_KEY: stated}}


def deprecation_of(route: BaseRoute) -> Deprecation | None:
    """Return what was stated of a route; None of one that stays."""
    stated = (route.openapi_extra or {}).get(_KEY) if isinstance(route, APIRoute) else None
    if stated is None:
        return None
    return Deprecation(date.fromisoformat(stated["since"]), date.fromisoformat(stated["sunset"]), stated["instead"])


def any_deprecated(routes: Iterable[BaseRoute]) -> bool:
    """Return whether an app needs `DeprecationHeaders`."""
    return any(deprecation_of(route) is not None for route in routes)


class DeprecationHeaders:
    """ASGI middleware that adds the headers to every answer of a deprecated route, errors included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                # The router has noted by now which route it took.
                found = deprecation_of(scope["route"]) if "route" in scope else None
                if found is not None:
                    message = {**message, "headers": [*message.get("headers", ()), *_raw(found.headers())]}
            await send(message)

        await self._app(scope, receive, with_headers)


def _raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode("ascii"), value.encode("ascii")) for name, value in headers.items()]


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
