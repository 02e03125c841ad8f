"""What lists share: a page by limit and offset, and the total in a header (decisions 28)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

from fastapi import Path, Query, Response
from pydantic import BaseModel, TypeAdapter

TOTAL_HEADER = "X-Total-Count"
TOTAL_DOC: dict[int | str, dict[str, Any]] = {
    200: {"headers": {TOTAL_HEADER: {"description": "How many there are in all.", "schema": {"type": "integer"}}}}
}

Limit = Annotated[int, Query(ge=1, le=1000)]
Offset = Annotated[int, Query(ge=0, le=2**31 - 1)]
ItemId = Annotated[int, Path(ge=1, le=2**63 - 1, description="The item's id, `db_id` in search results.")]
SkillId = Annotated[str, Path(pattern=r"^[a-z][a-z0-9_]*$", max_length=64, description="The skill's id.")]


def page_response(rows: Sequence[BaseModel], total: int, kind: type[BaseModel]) -> Response:
    """Return a page of models as they are, with the total.

    FastAPI would validate each of them once more: half of the time of a page of 100.
    """
    content = _many(kind).dump_json(list(rows), by_alias=True)  # as FastAPI does
    return Response(content, media_type="application/json", headers={TOTAL_HEADER: str(total)})


@cache
def _many(kind: type[BaseModel]) -> TypeAdapter[list[BaseModel]]:
    return TypeAdapter(list[kind])  # type: ignore[valid-type]
