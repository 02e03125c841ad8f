"""What FastAPI says of requests that its models refuse, in the shape of all other errors."""

from __future__ import annotations

from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from skillroute.core.error_codes import ErrorCode
from skillroute.core.http.errors import answer_error, first_problems, problem
from skillroute.core.sentences import sentence_of


def add_validation_errors(app: FastAPI) -> None:
    """Teach an app how wrong fields are answered: 422, and each is named."""
    app.add_exception_handler(RequestValidationError, _validation_error)


def _validation_error(request: Request, error: Exception) -> JSONResponse:
    problems = cast(RequestValidationError, error).errors()
    detail = [problem(found["loc"], sentence_of(found), found["type"]) for found in problems]
    return answer_error(request, 422, first_problems(detail), ErrorCode.INVALID_REQUEST)
