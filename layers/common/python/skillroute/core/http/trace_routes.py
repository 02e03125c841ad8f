"""`/api/v1/trace`: who did what in the caller's organisation (docs/trace.md)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.errors import problem
from skillroute.core.http.lanes import Lanes
from skillroute.core.http.listing import in_utc, moment
from skillroute.core.http.use_cases import given, require
from skillroute.core.input.text_fields import Text
from skillroute.core.trace.model import Kind, Outcome, TraceDoor
from skillroute.core.trace.repository import KeptEvent, Place, ReadTrace, TraceFilter

MAX_EVENTS = 500
_UNITS, _ROW_UNITS = 1.0, 0.005  # in plain searches (docs/adr/0065)

router = APIRouter(prefix="/api/v1/trace", tags=["operations"], route_class=SafeJsonRoute, responses=ERRORS | BUDGET)

AsAdmin = Annotated[Caller, Depends(require(Scope.ADMIN))]
Since = Annotated[
    datetime | None,
    BeforeValidator(moment),
    AfterValidator(in_utc),
    Query(description="Only events of this moment (RFC 3339) or later."),
]
Until = Annotated[
    datetime | None,
    BeforeValidator(moment),
    AfterValidator(in_utc),
    Query(description="Only events before this moment (RFC 3339)."),
]
After = Annotated[
    str | None,
    Query(
        min_length=1,
        max_length=100,
        description="`at` and `id` of an event with a comma between: those that came after it, the oldest first. "
        "Searches are written a second or two late: ask from a few seconds before, and know events by their `id`.",
    ),
]


class TraceEventOut(BaseModel):
    """An event of the trace."""

    id: UUID
    at: datetime = Field(description="When the request was answered.")
    kind: Kind = Field(description="What it was: `refusal` is any request that was refused for want of rights.")
    outcome: Outcome = Field(description="How it ended: done, refused, or failed.")
    code: str | None = Field(description="Of the error, or why a call was refused or has no answer.")
    actor: str | None = Field(description="The subject of the caller's token.")
    agent: str | None = Field(description="The mail agent of the caller's token.")
    roles: list[str] = Field(description="Roles and groups of the caller; scopes where it has none.")
    door: TraceDoor = Field(description="`function` is the one that makes calls.")
    what: str = Field(description="Method and path of a route, or the name of a tool.")
    targets: dict[str, int | str] = Field(description="Ids by kind: `tool`, `server`, `skill` and others.")
    took_ms: float = Field(description="Milliseconds from the request to its answer.")
    bytes_in: int | None = Field(description="null: of one request of a batch through `/mcp`.")
    bytes_out: int | None = Field(description="null: of one request of a batch through `/mcp`.")
    search_id: UUID | None = Field(description="Of the search, as its answer has it.")
    request_id: str | None = Field(description="Of the request, as its answer and the log have it.")
    trace_id: str | None = Field(description="Of OpenTelemetry.")
    arguments: str | None = Field(description="JSON without secrets; null where arguments are not kept.")

    @classmethod
    def of(cls, event: KeptEvent) -> TraceEventOut:
        """Return what the API says of an event."""
        return cls.model_validate(event._asdict())


@router.get("", summary="List events of the trace")
async def list_trace(
    caller: AsAdmin,
    read: Annotated[ReadTrace, given(ReadTrace)],
    lanes: Annotated[Lanes, given(Lanes)],
    kind: Annotated[Kind | None, Query(description="Only events of this kind.")] = None,
    outcome: Annotated[Outcome | None, Query(description="Only those that ended so.")] = None,
    actor: Annotated[Text | None, Query(min_length=1, max_length=1000, description="The subject of a token.")] = None,
    since: Since = None,
    until: Until = None,
    after: After = None,
    limit: Annotated[int, Query(ge=1, le=MAX_EVENTS)] = 100,
) -> list[TraceEventOut]:
    """Return events of the caller's organisation, the latest first; with `after` those that follow, the oldest first.

    Events of callers without an organisation are for the operator alone.
    """
    asked = TraceFilter(kind, outcome, actor, since, until, None if after is None else _place(after), limit)
    found = await lanes.charged(caller, _UNITS + limit * _ROW_UNITS, lambda: read(caller, asked))
    return [TraceEventOut.of(event) for event in found]


def _place(after: str) -> Place:
    at, _, id_ = after.rpartition(",")
    try:
        read = in_utc(datetime.fromisoformat(str(moment(at))))
        if read is None:
            raise ValueError(at)
        return Place(read, UUID(id_))
    except ValueError:
        message = "is not a place in the trace: give `at` and `id` of an event with a comma between"
        raise HTTPException(422, [problem(["query", "after"], message)]) from None
