"""Versions in headers: `ETag` of what is answered, `If-Match` of what is written (RFC 9110, section 13.1).

A route that writes and compares no versions refuses them (`refuse_conditions`): a version that nobody compares must not
look as if it had been.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Response
from starlette.datastructures import Headers

from skillroute.core.http.docs import Problem
from skillroute.core.http.errors import problem
from skillroute.core.versions import Expected

ETAG_HEADER = "ETag"

IF_MATCH, IF_NONE_MATCH = "If-Match", "If-None-Match"

_TAG = r'(?:(?:W/)?"[^"]*"|(?!W/(?:[\s,]|$))[^",\s]+)'
_ENTITY_TAG = re.compile(r'(?:W/)?"([^"]*)"|([^",\s]+)')
_ENTITY_TAGS = re.compile(rf"\s*{_TAG}(?:\s*,\s*{_TAG})*\s*")

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
            alias=IF_MATCH,
            max_length=1000,
            description="The ETag that was read: the change is refused (412) where others have made one since. Without "
            "it the change is made in any case. `*` stands for any version.",
        ),
    ] = None,
) -> Expected | None:
    """Return what a request says of the version that it has read; None without the header.

    Weak tags count as well, since a proxy that compresses makes tags weak, and those without quotes.

    Raises
    ------
    HTTPException
        422: it is no list of entity tags.

    Examples
    --------
    >>> sorted(expected_of('W/"a", "b", c').versions)
    ['a', 'b', 'c']
    """
    if if_match is None:
        return None
    if if_match.strip() == "*":
        return Expected(None)
    if not _ENTITY_TAGS.fullmatch(if_match):
        raise _refused(IF_MATCH, 'is not an entity tag: send the ETag that was read, such as "6474dd2f70000"')
    return Expected(frozenset(quoted or bare for quoted, bare in _ENTITY_TAG.findall(if_match)))


IfMatch = Annotated[Expected | None, Depends(expected_of)]


def is_only_new(
    if_none_match: Annotated[
        str | None,
        Header(
            alias=IF_NONE_MATCH,
            max_length=1000,
            description="`*`: only creates; what is there already is refused (412).",
        ),
    ] = None,
    expected: IfMatch = None,
) -> bool:
    """Return whether a request only creates.

    Raises
    ------
    HTTPException
        422: it names versions, or a version that is expected as well.
    """
    if if_none_match is None:
        return False
    if if_none_match.strip() != "*":
        raise _refused(IF_NONE_MATCH, "must be *, which only creates: versions are not compared by it")
    if expected is not None:
        raise _refused(IF_NONE_MATCH, "contradicts If-Match: give one of them")
    return True


OnlyNew = Annotated[bool, Depends(is_only_new)]


def refuse_conditions(headers: Headers, names: Collection[str]) -> None:
    """Refuse the headers of these names. Raises `HTTPException` (422)."""
    for name in names:
        if name in headers:
            raise _refused(name, "cannot be used on this route, which compares no versions: leave it out")


def _refused(header: str, message: str) -> HTTPException:
    return HTTPException(422, [problem(["header", header], message)])
