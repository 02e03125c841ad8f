"""The errors that the OpenAPI document lists for every route."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema


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


_REF = "#/components/schemas/{model}"


def _refused(description: str, model: type[BaseModel] = Problem) -> dict[str, Any]:
    """Describe a refusal by a reference; `with_error_schemas` adds to the document what it refers to.

    FastAPI takes models too, but makes a validator for each status of each route: half of the time of making an app.
    """
    schema = {"$ref": _REF.format(model=model.__name__)}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def with_error_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Return an OpenAPI document with the schemas of the refusals that its routes refer to, all sorted by name."""
    operations = [operation for path in document.get("paths", {}).values() for operation in path.values()]
    responses = [response for operation in operations for response in operation["responses"].values()]
    used = {content["schema"].get("$ref") for response in responses for content in response.get("content", {}).values()}
    models = [model for model in (Problem, InvalidRequest) if _REF.format(model=model.__name__) in used]
    _, errors = models_json_schema([(model, "serialization") for model in models], ref_template=_REF)
    if models:
        components = document.setdefault("components", {})
        components["schemas"] = dict(sorted({**components.get("schemas", {}), **errors["$defs"]}.items()))
    return document


_CHALLENGE = {"WWW-Authenticate": {"description": "How to be let in (RFC 6750).", "schema": {"type": "string"}}}

IDENTITY: dict[int | str, dict[str, Any]] = {401: _refused("The request has no credentials.") | {"headers": _CHALLENGE}}

UNKNOWN_PARAMETER: dict[int | str, dict[str, Any]] = {
    422: _refused("A parameter is not known; each is named.", InvalidRequest)
}

ERRORS: dict[int | str, dict[str, Any]] = IDENTITY | {
    400: _refused("The request cannot be read."),
    403: _refused("The token lacks a scope, or the item is not the caller's to change."),
    413: _refused("The body is too large."),
    415: _refused("The `Content-Type` of the request is not JSON."),
    422: _refused("A field is wrong; each is named.", InvalidRequest),
    503: _refused("PostgreSQL is down."),
}

BUDGET: dict[int | str, dict[str, Any]] = {
    429: _refused("The budget of the caller or of its organisation is spent.")
    | {"headers": {"Retry-After": {"description": "Seconds until there is some again.", "schema": {"type": "integer"}}}}
}

NOT_FOUND: dict[int | str, dict[str, Any]] = {404: _refused("No such item.")}

CONFLICT: dict[int | str, dict[str, Any]] = {
    409: _refused("The object exists already, or its state does not allow the change.")
}

CREATED: dict[int | str, dict[str, Any]] = {
    201: {
        "description": "It was created.",
        "headers": {"Location": {"description": "Where it can be read.", "schema": {"type": "string"}}},
    }
}
