"""Lists in pages: by limit and offset, bounded in bytes, with the total in a header (decisions 28 and 36)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Path, Query, Request, Response
from pydantic import BaseModel

from skillroute.core.answer_size import PAGE_BYTES, on_the_way
from skillroute.core.input.text_fields import SnakeCase

TOTAL_HEADER = "X-Total-Count"
CUT_HEADER = "X-Page-Truncated"
_TOTAL_DOC: dict[str, Any] = {"description": "How many there are in all.", "schema": {"type": "integer"}}
TOTAL_DOC: dict[int | str, dict[str, Any]] = {200: {"headers": {TOTAL_HEADER: _TOTAL_DOC}}}
PAGE_DOC: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            TOTAL_HEADER: _TOTAL_DOC,
            "Link": {
                "description": 'Where the list goes on, as a relative reference: <?offset=100&limit=100>; rel="next". '
                "Absent on the last page.",
                "schema": {"type": "string"},
            },
            CUT_HEADER: {
                "description": f"`bytes` where the page has fewer rows than `limit` because more of them would be over "
                f"{PAGE_BYTES} bytes; `Link` goes on with the next one.",
                "schema": {"type": "string"},
            },
        }
    }
}

Limit = Annotated[int, Query(ge=1, le=1000, description="Rows of a page at most; it has fewer where they are large.")]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]
ItemId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The item's id, `db_id` in search results.")]
SkillId = Annotated[SnakeCase, Path(max_length=64, description="The skill's id.")]


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page is asked for, of a request whose other parameters the next page has as well."""

    limit: int
    offset: int
    params: Sequence[tuple[str, str]] = ()

    def response(self, rows: Iterable[BaseModel], total: int) -> Response:
        """Return a page of models as they are, as many as fit, with the total and where to go on."""
        shown = self.that_fit(rows)
        headers = {TOTAL_HEADER: str(total)}
        following = self.offset + len(shown)
        if shown and following < total:
            headers["Link"] = f'<?{self._query(following)}>; rel="next"'
            if len(shown) < self.limit:
                headers[CUT_HEADER] = "bytes"
        return Response(b"[" + b",".join(shown) + b"]", media_type="application/json", headers=headers)

    @staticmethod
    def that_fit(rows: Iterable[BaseModel]) -> list[bytes]:
        """Return models as JSON, as many as a page has bytes for; the first one in any case.

        FastAPI would validate each of them once more: half of the time of a page of 100.
        """
        shown: list[bytes] = []
        room = PAGE_BYTES
        for row in rows:
            content = row.__pydantic_serializer__.to_json(row, by_alias=True)  # as FastAPI does
            room -= on_the_way(content)
            if room < 0 and shown:
                break
            shown.append(content)
        return shown

    def _query(self, offset: int) -> str:
        kept = [(name, value) for name, value in self.params if name not in {"limit", "offset"}]
        return urlencode([*kept, ("offset", str(offset)), ("limit", str(self.limit))])


def paging_of(request: Request, limit: Limit = 100, offset: Offset = 0) -> Paging:
    """Return which page a request asks for. A dependency: ``page: Page``."""
    return Paging(limit, offset, request.query_params.multi_items())


Page = Annotated[Paging, Depends(paging_of)]
