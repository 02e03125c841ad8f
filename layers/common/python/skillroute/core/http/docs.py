"""The errors that the OpenAPI document lists for every route."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class _Refusal(BaseModel):
    code: str = Field(description="What programs go by: docs/api.md has the table.")
    request_id: str = Field(description="The request's id, as in `X-Request-Id` and in the log.")


class Problem(_Refusal):
    """Why a request was refused."""

    detail: str


class FieldProblem(BaseModel):
    """One field of a request, and what is wrong with it."""

    type: str
    loc: list[str | int] = Field(description="Where the field is: body or query, then the path to it.")
    msg: str


class InvalidRequest(_Refusal):
    """The wrong fields of a request."""

    detail: list[FieldProblem]


_CHALLENGE = {"WWW-Authenticate": {"description": "How to be let in (RFC 6750).", "schema": {"type": "string"}}}

IDENTITY: dict[int | str, dict[str, Any]] = {
    401: {"model": Problem, "description": "Nobody vouches for the caller.", "headers": _CHALLENGE}
}

ERRORS: dict[int | str, dict[str, Any]] = IDENTITY | {
    400: {"model": Problem, "description": "The request cannot be read."},
    403: {"model": Problem, "description": "The token lacks a scope, or the item is not the caller's to change."},
    413: {"model": Problem, "description": "The body is too large."},
    415: {"model": Problem, "description": "The body is not said to be JSON."},
    422: {"model": InvalidRequest, "description": "A field is wrong; each is named."},
    503: {"model": Problem, "description": "PostgreSQL is down."},
}

NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "No such item."}}

CONFLICT: dict[int | str, dict[str, Any]] = {
    409: {"model": Problem, "description": "It exists already, or its state does not allow the change."}
}

CREATED: dict[int | str, dict[str, Any]] = {
    201: {
        "description": "It was created.",
        "headers": {"Location": {"description": "Where it can be read.", "schema": {"type": "string"}}},
    }
}
