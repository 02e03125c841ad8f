"""`/api/v1/feedback`: what became of the tools that a search showed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends

from skillroute.core.caller import Caller, Scope
from skillroute.core.errors.model import InvalidInput
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import ERRORS
from skillroute.core.http.use_cases import given, require
from skillroute.learning.outcomes.report import ReportOutcomes
from skillroute.learning.outcomes.schemas import FeedbackBody, FeedbackManyResponse, FeedbackResponse, OutcomeReport

router = APIRouter(prefix="/api/v1/feedback", tags=["learning"], route_class=SafeJsonRoute, responses=ERRORS)

# Agents have no other scope than that of their searches.
AsSearcher = Annotated[Caller, Depends(require(Scope.SEARCH))]
Report = Annotated[ReportOutcomes, given(ReportOutcomes)]


@router.post("", summary="Report an outcome")
def report_outcome(body: OutcomeReport, caller: AsSearcher, report: Report) -> FeedbackResponse:
    """Store what became of a tool that a search showed, or that nothing fits.

    The answer does not depend on the search: an outcome that fits no search of the caller's organisation, or names a
    tool that it did not show, counts for nothing. Of several of a caller for one tool of a search the last counts.
    """
    return FeedbackResponse(kept=report([body.reported()], caller))


@router.post("/batch", summary="Report up to 500 outcomes")
def report_outcomes(body: FeedbackBody, caller: AsSearcher, report: Report) -> FeedbackManyResponse:
    """Store outcomes, each judged on its own as `POST /api/v1/feedback` does; those that are wrong are left out."""
    read = body.read()
    kept = report([one for one in read if not isinstance(one, InvalidInput)], caller)
    return FeedbackManyResponse.of(read, kept=kept)
