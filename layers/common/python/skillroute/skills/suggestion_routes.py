"""`/api/v1/skills/suggestions`: what classifiers suggest and people decide (skill-contract BR-005)."""

# No `from __future__ import annotations`: FastAPI must see the types that are made within the function below.
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.auth import Access
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import CONFLICT, ERRORS, NOT_FOUND
from skillroute.core.http.paging import PAGE_DOC, Page
from skillroute.skills.answers import ReviewResponse, SuggestionOut
from skillroute.skills.review import ReviewSuggestions
from skillroute.skills.schemas import Merge, Rejection, SuggestionEdits
from skillroute.skills.suggestions import SuggestionStatus

SuggestionId = Annotated[int, Path(ge=1, le=2**63 - 1)]


def suggestion_router(review: ReviewSuggestions, access: Access) -> APIRouter:
    """Return the routes over suggestions."""
    router = APIRouter(
        prefix="/api/v1/skills/suggestions", tags=["suggestions"], route_class=SafeJsonRoute, responses=ERRORS
    )
    AsReviewer = Annotated[Caller, Depends(access.require(Scope.SKILLS))]  # noqa: N806 (a type)

    @router.get("", response_model=list[SuggestionOut], summary="List suggestions", responses=PAGE_DOC)
    def list_suggestions(
        caller: AsReviewer,
        page: Page,
        status: SuggestionStatus = SuggestionStatus.PENDING,
    ) -> Response:
        """Return a page of suggestions of a status, by id."""
        suggestions, total = review.page(status, caller, limit=page.limit, offset=page.offset)
        return page.response(map(SuggestionOut.of, suggestions), total)

    @router.get("/{suggestion_id}", summary="Get a suggestion", responses=NOT_FOUND)
    def get_suggestion(suggestion_id: SuggestionId, caller: AsReviewer) -> SuggestionOut:
        """Return a suggestion, decided or not."""
        return SuggestionOut.of(review.get(suggestion_id, caller))

    @router.post("/{suggestion_id}/approve", summary="Approve a suggestion", responses=NOT_FOUND | CONFLICT)
    def approve(suggestion_id: SuggestionId, caller: AsReviewer, body: SuggestionEdits | None = None) -> ReviewResponse:
        """Create the skill and assign the tool. Other open suggestions of the name are merged into it."""
        edits = body.model_dump(exclude_unset=True) if body else {}
        return ReviewResponse.of(review.approve(suggestion_id, edits, caller))

    @router.post("/{suggestion_id}/reject", summary="Reject a suggestion", responses=NOT_FOUND | CONFLICT)
    def reject(suggestion_id: SuggestionId, caller: AsReviewer, body: Rejection | None = None) -> SuggestionOut:
        """Discard a suggestion; its tool stays without skills."""
        return SuggestionOut.of(review.reject(suggestion_id, body.reason if body else None, caller))

    @router.post("/{suggestion_id}/merge", summary="Merge a suggestion", responses=NOT_FOUND | CONFLICT)
    def merge(suggestion_id: SuggestionId, body: Merge, caller: AsReviewer) -> ReviewResponse:
        """Assign the tool to a skill that is there."""
        return ReviewResponse.of(review.merge(suggestion_id, body.skill_id, caller))

    return router
