"""The one place where errors become HTTP answers (docs/adr/0049).

Bodies are ``{"detail": ..., "code": ..., "request_id": ...}``. `detail` is a list for 422, else a sentence; `code` is
one of `core/errors/codes.py`. What is down is reported by a sentence of our own; hosts, secrets and the other side's
answer stand in the log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from skillroute.core.errors import outage
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import (
    BudgetSpent,
    DependencyUnavailable,
    InvalidInput,
    OutcomeUnknown,
    SkillrouteError,
    VersionConflict,
)
from skillroute.core.http.challenge import Challenge
from skillroute.core.http.methods import PathMethods
from skillroute.core.http.request_id import REQUEST_ID_HEADER, request_id_of
from skillroute.core.input.encodable import encodable
from skillroute.core.observability import logger
from skillroute.core.trace.noted import note_code

_CODE_OF: Mapping[int, ErrorCode] = {
    404: ErrorCode.ROUTE_NOT_FOUND,
    405: ErrorCode.METHOD_NOT_ALLOWED,
    413: ErrorCode.BODY_TOO_LARGE,
    415: ErrorCode.UNSUPPORTED_MEDIA_TYPE,
    422: ErrorCode.INVALID_REQUEST,
}
"""Codes of what is refused before any use case is asked."""

_SENTENCE_OF: Mapping[int, str] = {
    404: "there is no such path",
    405: "the path has no such method: the header Allow names those that it has",
}

_NO_JSON = "json_invalid"
"""The type of the problem of a body that is no JSON."""

MAX_PROBLEMS = 100
"""Wrong fields that a 422 names."""

MAX_MESSAGE_LENGTH = 2000
"""Characters of a field's name, or of a message, that an answer holds."""


def add_error_handlers(
    app: Starlette, methods: PathMethods, identified: Callable[[Request], Awaitable[object]] | None = None
) -> None:
    """Teach an app the error table.

    Parameters
    ----------
    app : Starlette
        FastAPI's apps are.
    methods : PathMethods
        The methods that a 405 names.
    identified : callable, optional
        Raises `Unauthenticated` for a caller without an identity: they are not shown which paths there are.
    """

    async def refused(request: Request, error: Exception) -> Response:
        refusal = cast(HTTPException, error)
        if identified is not None and refusal.status_code in {404, 405}:
            try:
                await identified(request)
            except SkillrouteError as stranger:
                return _skillroute_error(request, stranger)
        headers = dict(refusal.headers or {})
        if refusal.status_code == 405:
            # The pages of the documents are routes of the app's own, whose methods come in any order.
            own = ", ".join(sorted(headers.get("Allow", "").split(", ")))
            headers["Allow"] = methods.allow(request.url.path) or own
        code = _CODE_OF.get(refusal.status_code, ErrorCode.BAD_REQUEST)
        # Starlette's own refusals say no more than the name of their status.
        is_bare = refusal.detail == HTTPStatus(refusal.status_code).phrase
        detail = _SENTENCE_OF.get(refusal.status_code, refusal.detail) if is_bare else refusal.detail
        return answer_error(request, detail, code, status=refusal.status_code, headers=headers)

    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(SkillrouteError, _skillroute_error)
    app.add_exception_handler(Exception, _unexpected)


def problem(location: Sequence[str | int], message: str, kind: str = "value_error") -> dict[str, Any]:
    """Return one entry of a 422's detail, in FastAPI's shape; never the input, which may not even be encodable."""
    return {"type": kind, "loc": [_encodable(part) for part in location], "msg": _encodable(message)}


def error_body(detail: object, code: ErrorCode, request_id: str, **more: object) -> dict[str, object]:
    """Return the body of an error."""
    return {"detail": detail, "code": code.value, **more, "request_id": request_id}


def answer_error(
    request: Request,
    detail: Any,
    code: ErrorCode,
    *,
    status: int | None = None,
    headers: Mapping[str, str] | None = None,
    **more: object,
) -> JSONResponse:
    """Return the answer of an error; its status is that of the code, unless another one is given."""
    if code is ErrorCode.INVALID_REQUEST and any(found["type"] == _NO_JSON for found in detail):
        code = ErrorCode.INVALID_JSON
    note_code(code.value)
    body = error_body(detail, code, request_id_of(request.scope), **more)
    return JSONResponse(body, status or code.status, headers=dict(headers or {}))


def _skillroute_error(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, SkillrouteError) or error.code.status == 500:
        return _unexpected(request, error)
    if isinstance(error, InvalidInput):
        place = "query" if request.method in {"GET", "DELETE"} else "body"
        detail = [problem([place, *found.field.split(".")], found.message, found.type) for found in error.problems]
        return answer_error(request, first_problems(detail), error.code)
    if isinstance(error, VersionConflict):
        current = None if error.current is None else f'"{error.current}"'
        known = {} if current is None else {"ETag": current}
        return answer_error(request, _encodable(str(error)), error.code, headers=known, current=current)
    if isinstance(error, DependencyUnavailable):
        outage.note(error)
        # A change that may be stored must not be sent again unread.
        again = None if isinstance(error, OutcomeUnknown) else {"Retry-After": "1"}
        return answer_error(request, error.public_message, error.code, headers=again)
    if isinstance(error, BudgetSpent):
        again = {"Retry-After": str(error.retry_after_s)}
        return answer_error(request, str(error), error.code, headers=again)
    headers = {"WWW-Authenticate": error.challenge} if isinstance(error, Challenge) else None
    return answer_error(request, _encodable(str(error)), error.code, headers=headers)


def first_problems(problems: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return as many problems as an answer names, and how many are left out."""
    if len(problems) <= MAX_PROBLEMS:
        return problems
    left_out = f"{len(problems) - MAX_PROBLEMS} more problems are not named"
    return [*problems[:MAX_PROBLEMS], problem(["body"], left_out, "too_many")]


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    request_id = request_id_of(request.scope)
    logger.exception("unexpected error", exc_info=error, extra={"request_id": request_id})
    # Starlette answers outside of all middleware then, so the header is not there yet.
    return answer_error(
        request, "Internal Server Error", ErrorCode.INTERNAL_ERROR, headers={REQUEST_ID_HEADER: request_id}
    )


def _encodable(part: Any) -> Any:
    # A field's name comes from the caller: it may be a megabyte, or hold lone surrogates, which no answer can carry.
    return shortened(part) if isinstance(part, str) else part


def shortened(text: str) -> str:
    """Return of a text that the caller chose what an answer says of it."""
    cut = text if len(text) <= MAX_MESSAGE_LENGTH else f"{text[: MAX_MESSAGE_LENGTH - 3]}..."
    return encodable(cut)
