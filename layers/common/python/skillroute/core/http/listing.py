"""Lists that are sorted, read since a moment, and paged by offset or cursor (docs/adr/0053)."""

# No `from __future__ import annotations`: FastAPI must see the types that are made within the function below.
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

from fastapi import HTTPException, Query, Request, Response
from pydantic import AfterValidator, BaseModel, BeforeValidator

from skillroute.core.http.errors import problem
from skillroute.core.http.paging import CUT_HEADER, PAGE_DOC, TOTAL_HEADER, Limit, Offset, Paging
from skillroute.core.listing import Cursor, InvalidCursor, Order

CURSOR_HEADER = "X-Next-Cursor"
_CURSOR_DOC = {
    "description": "What `cursor` takes for the page behind this one. Absent on the last page.",
    "schema": {"type": "string"},
}
LIST_DOC: dict[int | str, dict[str, Any]] = {200: {"headers": {**PAGE_DOC[200]["headers"], CURSOR_HEADER: _CURSOR_DOC}}}

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d(?:\.\d{1,9})?)([Zz]|[+ -]\d\d:\d\d)", re.ASCII)


def moment(value: object) -> object:
    """Return a time of RFC 3339 as pydantic reads it. Raises `ValueError`."""
    found = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError("must be a time in RFC 3339 format with its zone, such as 2026-01-31T12:00:00Z")
    day, time, zone = found.groups()
    return f"{day}T{time}{zone.replace(' ', '+').upper()}"  # + is a space in a query


def in_utc(value: datetime | None) -> datetime | None:
    """Return a time in UTC. Raises `ValueError`."""
    try:
        return None if value is None else value.astimezone(UTC)
    except OverflowError:
        raise ValueError("is before the year 1 or after the year 9999 in UTC") from None


UpdatedSince = Annotated[
    datetime | None,
    BeforeValidator(moment),
    AfterValidator(in_utc),
    Query(description="Only what was written at this moment (RFC 3339) or later. What is deleted is not listed."),
]
CursorParameter = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=2000,
        description=f"`{CURSOR_HEADER}` of the page before, with the same `sort` and filters. Pages by it hold each "
        "row once, also when others come and go in between.",
    ),
]

State = Literal["true", "false", "all"]
StateQuery = Annotated[
    State, Query(description="Those that are active or enabled, those that are not, or all. Searches find the former.")
]
STATES: dict[State, bool | None] = {"true": True, "false": False, "all": None}

_BY_ID = Order("id")


@dataclass(frozen=True, slots=True)
class Listing(Paging):
    """Which rows of a list are asked for, of a request whose other parameters the next page has as well.

    Attributes
    ----------
    is_plain : bool
        Whether `Link` goes on by offset: the request has neither cursor, order nor moment.
    """

    order: Order = _BY_ID
    is_plain: bool = True

    def listed(
        self, rows: Sequence[BaseModel], cursors: Callable[[int], Cursor], total: int, remaining: int
    ) -> Response:
        """Return a page of models, as many as fit, with the total and where to go on.

        Parameters
        ----------
        cursors : callable
            Returns the cursor of a row by its place in `rows`.
        """
        shown = self.that_fit(rows)
        headers = {TOTAL_HEADER: str(total)}
        if shown and len(shown) < remaining:
            cursor = cursors(len(shown) - 1).encoded()
            headers[CURSOR_HEADER] = cursor
            query = self._query(self.offset + len(shown)) if self.is_plain else self._query_behind(cursor)
            headers["Link"] = f'<?{query}>; rel="next"'
            if len(shown) < self.limit:
                headers[CUT_HEADER] = "bytes"
        return Response(b"[" + b",".join(shown) + b"]", media_type="application/json", headers=headers)

    def _query_behind(self, cursor: str) -> str:
        kept = [(name, value) for name, value in self.params if name not in {"limit", "offset", "cursor"}]
        return urlencode([*kept, ("cursor", cursor), ("limit", str(self.limit))])


def listing_of(sorts: Any, default: str, ids: type[int | str] = int) -> Callable[..., Listing]:
    """Return a dependency that reads which rows a request asks for.

    Parameters
    ----------
    sorts : type
        A `Literal` of the orders that the list has.
    default : str
    ids : type
        Of its rows: int or str.
    """

    def listing(
        request: Request,
        limit: Limit = 100,
        offset: Offset = 0,
        sort: Annotated[
            sorts, Query(description="What the list is ordered by; `-` turns it round. Equal ones come by id.")
        ] = default,
        updated_since: UpdatedSince = None,
        cursor: CursorParameter = None,
    ) -> Listing:
        if cursor is not None and offset:
            raise HTTPException(422, [problem(["query", "offset"], "goes on from a cursor already: leave one out")])
        try:
            after = None if cursor is None else Cursor.decoded(cursor, sort, ids)
        except InvalidCursor as error:
            raise HTTPException(422, [problem(["query", "cursor"], str(error))]) from None
        params = request.query_params
        is_plain = not {"cursor", "sort", "updated_since"} & set(params)
        return Listing(limit, offset, params.multi_items(), Order(sort, after, updated_since), is_plain)

    return listing
