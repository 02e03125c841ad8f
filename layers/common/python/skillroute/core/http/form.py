"""Forms of the pages for browsers: read without a parser of files, which none of them sends."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request

_MAX_BYTES = 100_000
_MAX_FIELDS = 10


async def read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form; none where the body is no form, too long, or not UTF-8."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    body = await request.body()
    if kind != "application/x-www-form-urlencoded" or len(body) > _MAX_BYTES:
        return {}
    try:
        fields = parse_qsl(body.decode("ascii"), errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError:
        return {}
    return dict(fields)
