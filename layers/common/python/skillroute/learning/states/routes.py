"""`/api/v1/learning`: what was learned, and which state of it searches go by."""

from __future__ import annotations

from typing import Annotated, Self

from fastapi import APIRouter, Depends, Path, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS, NOT_FOUND
from skillroute.core.http.lanes import Lanes
from skillroute.core.http.paging import PAGE_DOC, Page
from skillroute.core.http.use_cases import given, require
from skillroute.learning.states.answers import LearnedRequestOut, LearningOut
from skillroute.learning.states.manage import ManageStates, Status

_STATUS_UNITS = 2.0
"""In plain searches (docs/adr/0065), of an organisation with 100,000 receipts."""

_MAX_ID = 2**63 - 1

router = APIRouter(prefix="/api/v1/learning", tags=["learning"], route_class=SafeJsonRoute, responses=ERRORS)

AsReviewer = Annotated[Caller, Depends(require(Scope.SKILLS))]
Manage = Annotated[ManageStates, given(ManageStates)]
Threads = Annotated[Lanes, given(Lanes)]
StateId = Annotated[int, Path(ge=1, le=_MAX_ID, description="The state's id.")]


class SwitchRequest(BaseModel):
    """The state that is to be live, by hand or by itself."""

    model_config = ConfigDict(extra="forbid", strict=True)

    state_id: Annotated[int, Field(ge=1, le=_MAX_ID)] | None = Field(
        None,
        description="A state of the caller's organisation; null switches what was learned off. It stays so until it is "
        "switched again, or `is_automatic`.",
    )
    is_automatic: bool = Field(False, description="States that are measured to be better go live by themselves again.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if self.is_automatic == ("state_id" in self.model_fields_set):
            raise ValueError("state_id or is_automatic: true is needed, and only one of them")
        return self


@router.get("", summary="Show what was learned", responses=BUDGET)
async def get_learning(caller: AsReviewer, manage: Manage, lanes: Threads) -> LearningOut:
    """Return what is kept of the use of the caller's organisation, and its states, each with its measurement.

    For callers without an organisation it is the global catalogue's.
    """
    return LearningOut.of(await lanes.charged(caller, _STATUS_UNITS, lambda: manage.status(caller)))


@router.get(
    "/states/{state_id}/tools",
    response_model=list[LearnedRequestOut],
    summary="List what a state has learned",
    responses=PAGE_DOC | NOT_FOUND,
)
def list_learned_requests(state_id: StateId, caller: AsReviewer, manage: Manage, page: Page) -> Response:
    """Return a page of the learned requests of a state of the caller's organisation, tool by tool."""
    rows, total = manage.tools(caller, state_id, limit=page.limit, offset=page.offset)
    return page.response(map(LearnedRequestOut.of, rows), total)


@router.put("/live", summary="Switch what was learned", responses=NOT_FOUND | BUDGET)
async def switch_learning(body: SwitchRequest, caller: AsReviewer, manage: Manage, lanes: Threads) -> LearningOut:
    """Make a state of the caller's organisation live, also an earlier one, or none; or let it go on by itself.

    Searches go by it within 15 seconds. What was learned later does not take its place. Callers without an organisation
    switch that of the global catalogue, which takes scope `admin`.
    """

    def switched() -> Status:
        return manage.go_on(caller) if body.is_automatic else manage.switch(caller, body.state_id)

    return LearningOut.of(await lanes.charged(caller, _STATUS_UNITS, switched))
