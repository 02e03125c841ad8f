"""What FastAPI says of requests that its models refuse, in the shape of all other errors."""

from __future__ import annotations

from typing import cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse

from skillroute.core.http.errors import problem

MOST_PROBLEMS = 100
"""Wrong fields that a 422 names."""


def add_validation_errors(app: FastAPI) -> None:
    """Teach an app how wrong fields are answered: 422, and each is named."""
    app.add_exception_handler(RequestValidationError, _validation_error)


def _validation_error(_: Request, error: Exception) -> JSONResponse:
    problems = cast(RequestValidationError, error).errors()
    detail = [problem(found["loc"], found["msg"], found["type"]) for found in problems[:MOST_PROBLEMS]]
    if len(problems) > MOST_PROBLEMS:
        detail.append(problem(["body"], f"{len(problems) - MOST_PROBLEMS} more problems are not named", "too_many"))
    return JSONResponse({"detail": detail}, 422)
