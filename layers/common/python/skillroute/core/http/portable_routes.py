"""`/api/v1/export` and `/api/v1/import`: all that an organisation has, as lines (docs/adr/0052)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Depends, Query, Response
from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from skillroute.core.caller import Caller, Scope
from skillroute.core.errors.model import InvalidInput
from skillroute.core.http.body import BulkTextsRoute
from skillroute.core.http.bulk_answers import DryRun, Result, UpsertCounts, bare_list_of
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.lanes import Lanes
from skillroute.core.http.use_cases import given, require
from skillroute.core.input.text_fields import Text
from skillroute.core.portable.cursor import MAX_LENGTH
from skillroute.core.portable.export import Export
from skillroute.core.portable.restore import MAX_LINES, ImportLines, LineOutcome

_NDJSON = "application/jsonl"  # Mangum sends it as text, and not as base64, which is a third larger
# Of an export, in plain searches (docs/adr/0065): a page of 500 rows 3.5, one of 1000 six.
_PAGE_UNITS, _ROW_UNITS = 1.0, 0.005
_KINDS = "skill, tool, suggestion, server, agent, project, product, mail_agent and message"
_LINE: dict[str, Any] = {
    "title": "ExportLine",
    "type": "object",
    "description": "A line as `GET /api/v1/export` answers it.",
    "properties": {"kind": {"type": "string", "description": f"One of {_KINDS}; of the last line, page or end."}},
    "required": ["kind"],
    "additionalProperties": True,  # the fields of its kind
}
_EXPORT_DOC: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "One JSON object a line: a line for each row, and the last one of kind `page` or `end`.",
        "content": {_NDJSON: {"schema": {"type": "array", "items": _LINE}}},
    }
}

_AnyLine = Annotated[Any, WithJsonSchema(_LINE)]


class ImportRequest(BaseModel):
    """Lines to write: ``{"lines": [...]}`` or a bare list."""

    model_config = ConfigDict(extra="forbid")

    lines: list[_AnyLine] = Field(max_length=MAX_LINES, description="In the order of the export.")


ImportBody = Annotated[ImportRequest, bare_list_of("lines")]


class LineResult(Result):
    """The result of one line."""

    kind: str | None = Field(description="That of the line; null where it is none of any kind.")

    @classmethod
    def of(cls, outcome: LineOutcome) -> LineResult:
        """Return what the API says of an outcome."""
        return cls(**cls.shared(outcome, "line"), kind=outcome.kind)


class ImportResponse(UpsertCounts):
    """The results of all lines that are rows, in the order of the request."""

    results: list[LineResult]
    result_type: ClassVar = LineResult


router = APIRouter(prefix="/api/v1", tags=["operations"], route_class=BulkTextsRoute, responses=ERRORS)

AsAdmin = Annotated[Caller, Depends(require(Scope.ADMIN))]


@router.get("/export", summary="Export rows as lines", response_class=Response, responses=_EXPORT_DOC | BUDGET)
async def export_lines(
    caller: AsAdmin,
    export: Annotated[Export, given(Export)],
    lanes: Annotated[Lanes, given(Lanes)],
    kind: Annotated[
        Text | None, Query(max_length=200, description=f"Comma-separated, of {_KINDS}; all without it.")
    ] = None,
    after: Annotated[
        Text | None,
        Query(
            max_length=MAX_LENGTH,
            description="What the last line of the page before says as `after`. That of an export's end exports "
            "the kinds that have changed since, each whole.",
        ),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="Rows of a page at most.")] = 500,
) -> Response:
    """Return a page of the rows that are the caller's own, in a form that `POST /api/v1/import` takes."""
    kinds = [name.strip() for name in (kind or "").split(",") if name.strip()]
    if kind is not None and not kinds:
        raise InvalidInput("kind", f"must name kinds, of {_KINDS}, or be left out")

    def page() -> bytes:
        return b"".join(line + b"\n" for line in export(kinds, after, caller, limit=limit))

    lines = await lanes.charged(caller, _PAGE_UNITS + limit * _ROW_UNITS, page)
    return Response(lines, media_type=_NDJSON)


@router.post("/import", summary=f"Import up to {MAX_LINES} lines of an export")
def import_lines(
    body: ImportBody, caller: AsAdmin, restore: Annotated[ImportLines, given(ImportLines)], dry_run: DryRun = False
) -> ImportResponse:
    """Write lines as the caller's own; each is judged on its own, and what is there already is left alone.

    A dry run knows what is stored and the lines of its own call: what they name must be among these.
    """
    return ImportResponse.of(restore(body.lines, caller, dry_run=dry_run))
