"""Versions in headers: `ETag` of what is answered, `If-Match` of what is written (RFC 9110, section 13.1).

An answer's tag is the version of the thing, for `If-Match`, and a hash of what is said of it, for `If-None-Match`: of a
skill whose number of tools changed the version stays, and an answer that is kept must not.

A route that writes and compares no versions refuses them (`refuse_conditions`): a version that is not compared must not
look as if it had been.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any

from fastapi import Depends, Header, HTTPException, Response
from starlette.datastructures import Headers

from skillroute.core.bulk.versions import Expected
from skillroute.core.http.docs import Problem
from skillroute.core.http.errors import problem
from skillroute.core.http.paging import TOTAL_HEADER

ETAG_HEADER = "ETag"

IF_MATCH, IF_NONE_MATCH = "If-Match", "If-None-Match"

_TAG = r'(?:(?:W/)?"[^"]*"|(?!W/(?:[\s,]|$))[^",\s]+)'
_ENTITY_TAG = re.compile(r'(?:W/)?"([^"]*)"|([^",\s]+)')
_ENTITY_TAGS = re.compile(rf"\s*{_TAG}(?:\s*,\s*{_TAG})*\s*")

_HASH_BYTES = 8
_HASH_MARK = "."

_ETAG_DOC: dict[str, Any] = {
    ETAG_HEADER: {
        "description": "The version, for `If-Match`, and a hash of the answer, for `If-None-Match`.",
        "schema": {"type": "string"},
    }
}
VERSIONED: dict[int | str, dict[str, Any]] = {200: {"headers": _ETAG_DOC}}
"""Of a route that answers with something that has a version."""


NOT_MODIFIED: dict[int | str, dict[str, Any]] = {
    304: {"description": "`If-None-Match` names the ETag of this answer: what was kept of it is still true."}
}
"""Of a route that reads something whose answer has an `ETag`."""


class StaleVersion(Problem):
    """Why a change was refused that was made from another version."""

    current: str | None


STALE: dict[int | str, dict[str, Any]] = {
    412: {
        "model": StaleVersion,
        "description": "It is not the version that `If-Match` names; `current` is the one now, null where it is gone.",
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
    return Expected(frozenset(tag.partition(_HASH_MARK)[0] for tag in _tags_in(if_match)))


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


def has_tag(headers: Mapping[str, Any]) -> bool:
    """Return whether an answer gets a tag: it has the version of a thing, or is a list that says its total."""
    return ETAG_HEADER in headers or TOTAL_HEADER in headers


def tag_answer(response: Response, if_none_match: str | None) -> Response:
    """Give an answer its tag, and return it, or 304 in its place where the caller has kept it already.

    Parameters
    ----------
    if_none_match : str or None
        The header of a request that reads; None for one that writes. Tags that are weak, as those of compressed
        answers, count as well; what is no entity tag matches nothing.
    """
    headers = response.headers
    version = "".join(_tags_in(headers.get(ETAG_HEADER, "")))
    digest = hashlib.blake2b(bytes(response.body), digest_size=_HASH_BYTES)
    if not version:  # a page of a list, whose total may change and the page not
        digest.update(headers.get(TOTAL_HEADER, "").encode())
    tag = f"{version}{_HASH_MARK}{digest.hexdigest()}"
    headers[ETAG_HEADER] = etag(tag)
    if if_none_match is None:
        return response
    headers.setdefault("Cache-Control", "private, no-cache")  # kept by the caller alone, and never shown unasked
    if if_none_match.strip() != "*" and tag not in _tags_in(if_none_match):
        return response
    kept = {name: value for name, value in headers.items() if name not in {"content-length", "content-type"}}
    return Response(status_code=304, headers=kept)


def refuse_conditions(headers: Headers, names: Collection[str]) -> None:
    """Refuse the headers of these names. Raises `HTTPException` (422)."""
    for name in names:
        if name in headers:
            raise _refused(name, "cannot be used on this route, which compares no versions: leave it out")


def _tags_in(header: str) -> list[str]:
    return [quoted or bare for quoted, bare in _ENTITY_TAG.findall(header)]


def _refused(header: str, message: str) -> HTTPException:
    return HTTPException(422, [problem(["header", header], message)])
