"""Turns FastAPI's validation errors into answers, in the shape of all other errors."""

from __future__ import annotations

from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.sentences import sentence_of
from skillroute.core.http.errors import answer_error, first_problems, problem
from skillroute.core.input.json_input import MAX_PROBLEMS, said_of


def add_validation_errors(app: FastAPI) -> None:
    """Teach an app how wrong fields are answered: 422, and each is named."""
    app.add_exception_handler(RequestValidationError, _validation_error)


def _validation_error(request: Request, error: Exception) -> JSONResponse:
    body = getattr(request.scope.get("route"), "body_field", None)
    kind = None if body is None else body.field_info.annotation
    detail = []
    for number, found in enumerate(cast(RequestValidationError, error).errors()):
        place = found["loc"]
        # Which field was meant is looked for as often as people read on.
        said = said_of(found, kind, place[1:]) if number < MAX_PROBLEMS else sentence_of(found)
        detail.append(problem(place, said, found["type"]))
    return answer_error(request, first_problems(detail), ErrorCode.INVALID_REQUEST)
