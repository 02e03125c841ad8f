"""An export and an import of all that an organisation has, as lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any

import httpx

from skillroute_client.calls import Call, Calls, answer_of, one, path_of
from skillroute_client.models.written import Imported
from skillroute_client.pages import Listing, Page

LINES_OF_A_CALL = 200
BYTES_OF_A_CALL = 512 * 1024
"""Of the lines of a call: half of what the route takes, since JSON may write a character in more bytes than a file."""

_ENDS = frozenset({"page", "end"})
"""The kinds of last lines, which are no rows."""

Line = bytes | str | Mapping[str, Any]
"""A line of an export, as it was read or as a mapping."""


def export_call(kinds: Sequence[str], after: str | None, limit: int | None) -> Call[list[bytes]]:
    """Return the call of one page of an export, whose last line says where the next one begins."""
    # Where a walk goes on, the place says of which kinds it is.
    where = {"kind": list(kinds) or None} if after is None else {"after": after}
    headers = {"accept": "application/x-ndjson"}
    return Call(method="GET", path=path_of("export"), params={**where, "limit": limit}, headers=headers, read=_lines)


class Export(Listing[bytes]):
    """The lines of an export, page by page: those that are rows, and the one that ends it."""

    def __init__(self, kinds: Sequence[str], after: str | None, limit: int | None) -> None:
        self._kinds, self._after, self._limit = kinds, after, limit

    def first(self) -> Call[Page[bytes]]:
        """Return the call of the first page."""
        return self._page(self._kinds, self._after)

    def after(self, page: Page[bytes]) -> Call[Page[bytes]] | None:
        """Return the call of the page after one, None when it is the last."""
        return None if page.following is None else self._page((), page.following["after"])

    def _page(self, kinds: Sequence[str], after: str | None) -> Call[Page[bytes]]:
        call = export_call(kinds, after, self._limit)

        def read(response: httpx.Response) -> Page[bytes]:
            *rows, last = call.read(response)
            about = json.loads(last)
            if about["kind"] == "end":
                return Page([*rows, last], None, None)
            return Page(rows, None, {"after": about["after"]})

        return Call(method=call.method, path=call.path, params=call.params, headers=call.headers, read=read)


def import_calls(lines: Iterable[Line], progress: Callable[[Imported], None] | None = None) -> Calls[Imported]:
    """Yield the calls that write lines, and return what came of all of them.

    Raises
    ------
    ValueError
        A line is no JSON object; those of the calls before are written.
    """
    report = Imported()
    for places, rows in _batches(lines):
        answer = yield from answer_of(_import_call(rows))
        for result in answer.results:
            result.index = places[result.index]
        report.add(answer)
        if progress is not None:
            progress(answer)
    return report


def _import_call(rows: list[dict[str, Any]]) -> Call[Imported]:
    # What is there already is left alone, so a second attempt does no harm.
    return Call(method="POST", path=path_of("import"), body={"lines": rows}, read=one(Imported))


def _batches(lines: Iterable[Line]) -> Generator[tuple[list[int], list[dict[str, Any]]], None, None]:
    """Yield as many rows as a call may have, and which of the lines they are."""
    places: list[int] = []
    rows: list[dict[str, Any]] = []
    size = 0
    for place, line in enumerate(lines):
        row = _row(place, line)
        if row is None or row.get("kind") in _ENDS:
            continue
        weight = len(line) if isinstance(line, bytes) else len(json.dumps(row, ensure_ascii=False).encode())
        if rows and (len(rows) == LINES_OF_A_CALL or size + weight > BYTES_OF_A_CALL):
            yield places, rows
            places, rows, size = [], [], 0
        places.append(place)
        rows.append(row)
        size += weight
    if rows:
        yield places, rows


def _row(place: int, line: Line) -> dict[str, Any] | None:
    """Return the object of a line, None where it is blank."""
    if isinstance(line, Mapping):
        return dict(line)
    if not line.strip():
        return None
    try:
        value = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {place + 1} is no JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"line {place + 1} is no JSON object")
    return value


def _lines(response: httpx.Response) -> list[bytes]:
    return response.content.splitlines()
