"""Request bodies, read so that whatever cannot be read is the caller's error, never ours."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastapi import HTTPException, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from skillroute.core.http.auth import Guard
from skillroute.core.http.body_limit import MAX_BODY_BYTES
from skillroute.core.http.errors import problem
from skillroute.core.http.json_values import TooManyValues, UnreadableJson, read_json
from skillroute.core.http.query_names import QueryNames, query_names_of
from skillroute.core.http.versions import (
    IF_MATCH,
    IF_NONE_MATCH,
    NOT_MODIFIED,
    VERSIONED,
    expected_of,
    has_tag,
    is_only_new,
    refuse_conditions,
    tag_answer,
)

MAX_FIELDS = 1000
"""Fields of a body's outermost object: each that is unknown is named in the answer."""


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The limits of a body, measured before it is parsed: a value costs time and memory however few bytes it has.

    Attributes
    ----------
    max_bytes : int
    max_values : int
        Texts, numbers, objects and lists, at any depth.
    """

    max_bytes: int
    max_values: int


ONE = BodyLimits(max_bytes=1024 * 1024, max_values=15_000)
"""Of a question or a single thing; the largest is a search within 10,000 projects."""

MANY = BodyLimits(max_bytes=MAX_BODY_BYTES, max_values=400_000)
"""Of a bulk write. 6 MB of real tools have 250,000 values; parsed and checked, 400,000 take 0.5 s and 100 MB."""

TEXTS = BodyLimits(max_bytes=1024 * 1024, max_values=100_000)
"""Of a bulk write of messages: each character is searched for secrets and cut into words, which takes 2 to 5 µs."""


class SafeJsonRequest(Request):
    """A request whose JSON may be malformed in more ways than the standard library reports as such."""

    limits: BodyLimits = ONE

    async def json(self) -> Any:
        """Measure the body, then parse it.

        Raises
        ------
        HTTPException
            413: it is larger than the route takes. 422: it has more values than that, or more fields than any object
            that is asked for; is no JSON, not UTF-8, nested too deeply, or holds an integer of thousands of digits.
        """
        body = await self.body()
        if len(body) > self.limits.max_bytes:
            raise HTTPException(413, f"the body is larger than {self.limits.max_bytes} bytes")
        try:
            value = read_json(body, self.limits.max_values)
        except TooManyValues as error:
            raise _refusal(str(error)) from None
        except json.JSONDecodeError as error:
            raise _refusal(_reason(error), "json_invalid", error.pos) from None
        except UnreadableJson as error:
            raise _refusal(str(error), "json_invalid") from None
        if isinstance(value, dict) and len(value) > MAX_FIELDS:
            raise _refusal(f"has {len(value)} fields; at most {MAX_FIELDS} are allowed")
        return value


def _refusal(message: str, kind: str = "value_error", position: int | None = None) -> HTTPException:
    place: list[str | int] = ["body"] if position is None else ["body", position]
    return HTTPException(422, [problem(place, message, kind)])


def _reason(error: json.JSONDecodeError) -> str:
    return f"is not JSON: {error.msg} (line {error.lineno}, column {error.colno})"


class SafeJsonRoute(APIRoute):
    """A route that asks who calls before it reads anything, and reads the body as `SafeJsonRequest` does.

    FastAPI reads and parses the body before it asks any dependency: strangers could make it parse megabytes, and would
    get 422 where they should get 401. Query parameters that the route does not have are 422 (`QueryNames`); a body that
    is not said to be JSON is 415; conditions (`If-Match`) on a route that writes and compares no versions are 422.
    """

    limits: ClassVar[BodyLimits] = ONE
    headers: ClassVar[Mapping[str, str]] = {}
    """Of every answer."""
    ignores_unknown_query: ClassVar[bool] = False
    """Whether query parameters that the route does not have are passed over."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **kwargs: Any) -> None:
        responses = kwargs.get("responses") or {}
        described = responses.get(200, {}).get("headers", {})
        if set(kwargs.get("methods") or {"GET"}) == {"GET"} and has_tag(described) and not self.headers:
            shown = {**responses[200], "headers": {**described, **VERSIONED[200]["headers"]}}
            kwargs["responses"] = {**responses, 200: shown, **NOT_MODIFIED}
        super().__init__(path, endpoint, **kwargs)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        guards = [dependency.call for dependency in self.dependant.dependencies if isinstance(dependency.call, Guard)]
        query = QueryNames(query_names_of(self.dependant))
        conditions = _foreign_conditions(self.dependant) if _WRITING & (self.methods or set()) else ()

        async def safe(request: Request) -> Response:
            for guard in guards:
                await guard(request)
            refuse_conditions(request.headers, conditions)
            scope = request.scope
            if scope["query_string"] and not self.ignores_unknown_query:
                scope = {**scope, "query_string": query.settle(request.query_params)}
            measured = SafeJsonRequest(scope, request.receive)
            measured.limits = self.limits
            if self.body_field is not None and not _is_json(request) and await measured.body():
                raise HTTPException(
                    415, "the body must be JSON: send it with the header Content-Type: application/json"
                )
            response = await handler(measured)
            response.headers.update(self.headers)
            if response.status_code >= 300 or self.headers or not has_tag(response.headers):
                return response
            reads = request.method == "GET"
            return tag_answer(response, request.headers.get(IF_NONE_MATCH, "") if reads else None)

        return safe


_WRITING = {"PUT", "POST", "PATCH", "DELETE"}
_CONDITIONS = {IF_MATCH: expected_of, IF_NONE_MATCH: is_only_new}


def _foreign_conditions(dependant: Dependant) -> tuple[str, ...]:
    """Return the headers with conditions that a route does not look at."""
    asked: set[Any] = set()
    left = [dependant]
    while left:
        one = left.pop()
        asked.add(one.call)
        left += one.dependencies
    return tuple(header for header, call in _CONDITIONS.items() if call not in asked)


def _is_json(request: Request) -> bool:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


class BulkJsonRoute(SafeJsonRoute):
    """A route that writes many things at once."""

    limits = MANY


_PRIVATE = {"Cache-Control": "private, no-store"}


class PrivateJsonRoute(SafeJsonRoute):
    """A route whose answers are letters: nothing on the way may keep them."""

    headers = _PRIVATE


class BulkTextsRoute(PrivateJsonRoute):
    """A route that writes many things whose texts are read to the last letter; its answers are letters too."""

    limits = TEXTS
