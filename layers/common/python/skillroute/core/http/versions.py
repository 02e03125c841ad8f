"""Versions in headers: `ETag` of what is answered, `If-Match` of what is written (RFC 9110, section 13.1.1)."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Request, Response

from skillroute.core.http.docs import Problem
from skillroute.core.http.errors import problem
from skillroute.core.versions import Expected

ETAG_HEADER = "ETag"

_ENTITY_TAG = re.compile(r'(?:W/)?"([^"]*)"|([^",\s]+)')

_ETAG_DOC: dict[str, Any] = {ETAG_HEADER: {"description": "The version, for `If-Match`.", "schema": {"type": "string"}}}
VERSIONED: dict[int | str, dict[str, Any]] = {200: {"headers": _ETAG_DOC}}
"""Of a route that answers with something that has a version."""


class StaleVersion(Problem):
    """Why a change was refused that was made from another version."""

    current: str | None


STALE: dict[int | str, dict[str, Any]] = {
    412: {
        "model": StaleVersion,
        "description": "It is not the version that `If-Match` names; `current` is its ETag now, null where it is gone.",
        "headers": _ETAG_DOC,
    }
}
"""Of a route that takes `If-Match`."""


def etag(version: str) -> str:
    """Return a version as an entity tag.

    Examples
    --------
    >>> etag("63c9")
    '"63c9"'
    """
    return f'"{version}"'


def tell_version(response: Response, version: str) -> None:
    """Add the version to an answer."""
    response.headers[ETAG_HEADER] = etag(version)


def expected_of(
    if_match: Annotated[
        str | None,
        Header(
            alias="If-Match",
            max_length=1000,
            description="The ETag that was read: the change is refused (412) where others have made one since. Without "
            "it the change is made in any case. `*` stands for any version.",
        ),
    ] = None,
) -> Expected | None:
    """Return what a request says of the version that it has read; None without the header.

    Weak tags count as well, since a proxy that compresses makes tags weak, and those without quotes.

    Examples
    --------
    >>> sorted(expected_of('W/"a", "b", c').versions)
    ['a', 'b', 'c']
    """
    if if_match is None:
        return None
    if if_match.strip() == "*":
        return Expected(None)
    return Expected(frozenset(quoted or bare for quoted, bare in _ENTITY_TAG.findall(if_match)))


IfMatch = Annotated[Expected | None, Depends(expected_of)]


def _refuse_version(request: Request) -> None:
    if "if-match" in request.headers:
        what = "is of one thing, and this route writes many: write that one at its own path"
        raise HTTPException(422, [problem(["header", "If-Match"], what)])


MANY_AT_ONCE = Depends(_refuse_version)
"""Of a bulk route: a version that nobody compares must not look as if it had been."""
