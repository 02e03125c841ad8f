"""An export and an import of all that an organisation has, as lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from skillroute_client.calls import Call, Calls, answer_of, given, one, path_of
from skillroute_client.lines import ENDS, Earlier, Key, Row
from skillroute_client.models.written import Imported
from skillroute_client.pages import Listing, Page

LINES_OF_A_CALL = 200
BYTES_OF_A_CALL = 512 * 1024
"""Of the lines of a call: half of what the route takes, since JSON may write a character in more bytes than a file."""

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


def import_calls(
    lines: Iterable[Line],
    progress: Callable[[Imported], None] | None = None,
    *,
    dry_run: bool | None = None,
    earlier: Earlier | None = None,
) -> Calls[Imported]:
    """Yield the calls that write lines, or only try them, and return what came of all of them.

    Parameters
    ----------
    earlier : Earlier, optional
        The lines that were tried before these. A call that is tried begins with those of them that its lines name.

    Raises
    ------
    ValueError
        A line is not a JSON object; those of the calls before are written.
    """
    report = Imported()
    earlier = Earlier() if earlier is None else earlier
    for batch in _batches(lines, earlier):
        answer = yield from answer_of(_import_call([*batch.needed.values(), *batch.rows], dry_run))
        _take(batch, answer)
        for result in answer.results:
            if dry_run and result.status != "failed":
                earlier.add(batch.rows[result.index])
            result.index = batch.places[result.index]
        report.add(answer)
        if progress is not None:
            progress(answer)
    return report


def _import_call(rows: list[Row], dry_run: bool | None) -> Call[Imported]:
    # What is there already is left alone, so a second attempt does no harm.
    params = given({"dry_run": dry_run})
    return Call(method="POST", path=path_of("import"), params=params, body={"lines": rows}, read=one(Imported))


@dataclass(slots=True)
class _Batch:
    """The rows of a call, which of the lines they are, and the earlier ones that they name."""

    places: list[int] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    needed: dict[Key, Row] = field(default_factory=dict)
    size: int = 0


def _take(batch: _Batch, answer: Imported) -> None:
    """Leave out of an answer what became of the earlier lines."""
    number = len(batch.needed)
    if not number:
        return
    for result in answer.results[:number]:
        setattr(answer, result.status, getattr(answer, result.status) - 1)
    answer.results = answer.results[number:]
    for result in answer.results:
        result.index -= number


def _batches(lines: Iterable[Line], earlier: Earlier) -> Generator[_Batch, None, None]:
    """Yield as many rows as a call may have."""
    batch = _Batch()
    for place, line in enumerate(lines):
        row = _row(place, line)
        if row is None or row.get("kind") in ENDS:
            continue
        needed = earlier.needed_by(row)
        weight = len(line) if isinstance(line, bytes) else _bytes_of(row)
        more = weight + sum(_bytes_of(other) for key, other in needed.items() if key not in batch.needed)
        number = len(batch.rows) + len(batch.needed | needed)
        if batch.rows and (number >= LINES_OF_A_CALL or batch.size + more > BYTES_OF_A_CALL):
            yield batch
            batch, needed = _Batch(), earlier.needed_by(row)
            more = weight + sum(map(_bytes_of, needed.values()))
        batch.places.append(place)
        batch.rows.append(row)
        batch.needed |= needed
        batch.size += more
    if batch.rows:
        yield batch


def _bytes_of(row: Row) -> int:
    return len(json.dumps(row, ensure_ascii=False).encode())


def _row(place: int, line: Line) -> dict[str, Any] | None:
    """Return the object of a line, None where it is blank."""
    if isinstance(line, Mapping):
        return dict(line)
    if not line.strip():
        return None
    try:
        value = json.loads(line)
    except ValueError as error:
        raise ValueError(f"line {place + 1} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ValueError(f"line {place + 1} is not a JSON object")
    return value


def _lines(response: httpx.Response) -> list[bytes]:
    return response.content.splitlines()
