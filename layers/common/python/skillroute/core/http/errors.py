"""The one place where errors become HTTP answers. Bodies are ``{"detail": ...}``: a list for 422, else a sentence.

What is down is reported by a sentence of our own; hosts, secrets and the other side's answer stand in the log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from skillroute.core import outage
from skillroute.core.encodable import encodable
from skillroute.core.errors import (
    Conflict,
    DependencyUnavailable,
    Forbidden,
    InvalidInput,
    NotFound,
    OutcomeUnknown,
    SkillrouteError,
    Unauthenticated,
)
from skillroute.core.http.challenge import Challenge
from skillroute.core.observability import logger

# From the most particular to the most general; the first that fits decides.
STATUS_OF: Sequence[tuple[type[SkillrouteError], int]] = (
    (InvalidInput, 422),
    (Unauthenticated, 401),
    (Forbidden, 403),
    (NotFound, 404),
    (Conflict, 409),
    (DependencyUnavailable, 503),
)


MAX_MESSAGE_LENGTH = 2000
"""Characters of a field's name, or of a message, that an answer holds."""


def add_error_handlers(app: Starlette, identified: Callable[[Request], Awaitable[object]] | None = None) -> None:
    """Teach an app the error table.

    Parameters
    ----------
    app : Starlette
        FastAPI's apps are.
    identified : callable, optional
        Raises `Unauthenticated` for a caller without an identity: they are not shown which paths there are.
    """

    async def no_such_route(request: Request, error: Exception) -> Response:
        refused = cast(HTTPException, error)
        if identified is not None and refused.status_code in {404, 405}:
            try:
                await identified(request)
            except SkillrouteError as stranger:
                return _skillroute_error(request, stranger)
        return JSONResponse({"detail": refused.detail}, refused.status_code, refused.headers)

    app.add_exception_handler(HTTPException, no_such_route)
    app.add_exception_handler(SkillrouteError, _skillroute_error)
    app.add_exception_handler(Exception, _unexpected)


def problem(location: Sequence[str | int], message: str, kind: str = "value_error") -> dict[str, Any]:
    """Return one entry of a 422's detail, in FastAPI's shape; never the input, which may not even be encodable."""
    return {"type": kind, "loc": [_encodable(part) for part in location], "msg": _encodable(message)}


def _skillroute_error(request: Request, error: Exception) -> JSONResponse:
    status = next((status for type_, status in STATUS_OF if isinstance(error, type_)), 500)
    if isinstance(error, InvalidInput):
        place = "query" if request.method in {"GET", "DELETE"} else "body"
        return JSONResponse({"detail": [problem([place, *error.field.split(".")], error.message)]}, status)
    if isinstance(error, DependencyUnavailable):
        outage.note(error)
        # A change that may be stored must not be sent again unread.
        again = None if isinstance(error, OutcomeUnknown) else {"Retry-After": "1"}
        return JSONResponse({"detail": error.public_message}, status, headers=again)
    if status == 500:
        logger.exception("unexpected error", exc_info=error)
        return JSONResponse({"detail": "Internal Server Error"}, status)
    headers = {"WWW-Authenticate": error.challenge} if isinstance(error, Challenge) else None
    return JSONResponse({"detail": _encodable(str(error))}, status, headers=headers)


def _unexpected(_: Request, error: Exception) -> JSONResponse:
    logger.exception("unexpected error", exc_info=error)
    return JSONResponse({"detail": "Internal Server Error"}, 500)


def _encodable(part: Any) -> Any:
    # A field's name comes from the caller: it may be a megabyte, or hold lone surrogates, which no answer can carry.
    return shortened(part) if isinstance(part, str) else part


def shortened(text: str) -> str:
    """Return of a text that the caller chose what an answer says of it."""
    cut = text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[: MAX_MESSAGE_LENGTH - 3]}..."
    return encodable(cut)
