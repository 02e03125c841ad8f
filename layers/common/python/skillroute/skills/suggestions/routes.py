"""`/api/v1/skills/suggestions`: what classifiers suggest and people decide (skill-contract BR-005)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import CONFLICT, ERRORS, NOT_FOUND
from skillroute.core.http.listing import LIST_DOC, Listing, listing_of
from skillroute.core.http.paging import PAGE_DOC, Page
from skillroute.core.http.use_cases import given, require
from skillroute.core.input.text_fields import Text
from skillroute.core.listing import Cursor
from skillroute.skills.answers import ReviewResponse, SuggestionOut
from skillroute.skills.schemas import MergeRequest, Rejection, ReviewBody, SuggestionEdits
from skillroute.skills.suggestions.answers import ReviewManyResponse, SuggestionGroupOut
from skillroute.skills.suggestions.group_decisions import GroupDecision
from skillroute.skills.suggestions.model import SuggestionStatus
from skillroute.skills.suggestions.review import ReviewSuggestions
from skillroute.skills.suggestions.review_many import ReviewMany

SuggestionSort = Literal["id", "-id", "name", "-name", "updated_at", "-updated_at"]
SuggestionListing = Annotated[Listing, Depends(listing_of(SuggestionSort, "id"))]
SuggestionId = Annotated[int, Path(ge=1, le=2**63 - 1)]


router = APIRouter(
    prefix="/api/v1/skills/suggestions", tags=["suggestions"], route_class=SafeJsonRoute, responses=ERRORS
)

AsReviewer = Annotated[Caller, Depends(require(Scope.SKILLS))]
Review = Annotated[ReviewSuggestions, given(ReviewSuggestions)]


@router.get("", response_model=list[SuggestionOut], summary="List suggestions", responses=LIST_DOC)
def list_suggestions(
    caller: AsReviewer,
    review: Review,
    page: SuggestionListing,
    status: SuggestionStatus = SuggestionStatus.PENDING,
    name: Annotated[
        Text | None, Query(max_length=255, description="Those of a name, case, spacing and separators aside.")
    ] = None,
) -> Response:
    """Return a page of suggestions of a status, by id, or in another order.

    `updated_at` is when one was made or decided on.
    """
    found = review.listed(status, caller, page.order, name=name, limit=page.limit, offset=page.offset)

    def cursor(place: int) -> Cursor:
        one = found.rows[place]
        updated_at = one.reviewed_at or one.created_at
        return page.order.cursor(one.id, name=one.suggested_name, updated_at=updated_at)

    return page.listed(list(map(SuggestionOut.of, found.rows)), cursor, found.total, found.remaining)


@router.get("/groups", response_model=list[SuggestionGroupOut], summary="List suggestions by name", responses=PAGE_DOC)
def list_suggestion_groups(
    caller: AsReviewer,
    review: Review,
    page: Page,
    status: SuggestionStatus = SuggestionStatus.PENDING,
) -> Response:
    """Return a page of the names that suggestions of a status have, the most frequent first, with examples."""
    groups, total = review.groups(status, caller, limit=page.limit, offset=page.offset)
    return page.response((SuggestionGroupOut.of(*group) for group in groups), total)


@router.post("/review", summary="Decide on many suggestions")
def review_suggestions(
    body: ReviewBody, caller: AsReviewer, review_many: Annotated[ReviewMany, given(ReviewMany)]
) -> ReviewManyResponse:
    """Carry out decisions one after the other, each in a transaction of its own, and say what became of each.

    Approving makes one skill, worded as the oldest suggestion, and assigns all the tools; merging assigns them to a
    skill that is there; rejecting leaves them without. What is wrong with one decision or suggestion keeps no other
    from being carried out.
    """
    decisions = body.read()
    outcomes = review_many([one for one in decisions if isinstance(one, GroupDecision)], caller)
    return ReviewManyResponse.of(decisions, outcomes)


@router.get("/{suggestion_id}", summary="Get a suggestion", responses=NOT_FOUND)
def get_suggestion(suggestion_id: SuggestionId, caller: AsReviewer, review: Review) -> SuggestionOut:
    """Return a suggestion, decided or not."""
    return SuggestionOut.of(review.get(suggestion_id, caller))


@router.post("/{suggestion_id}/approve", summary="Approve a suggestion", responses=NOT_FOUND | CONFLICT)
def approve_suggestion(
    suggestion_id: SuggestionId, caller: AsReviewer, review: Review, body: SuggestionEdits | None = None
) -> ReviewResponse:
    """Create the skill and assign the tool. Other open suggestions of the name are merged into it."""
    edits = body.model_dump(exclude_unset=True) if body else {}
    return ReviewResponse.of(review.approve(suggestion_id, edits, caller))


@router.post("/{suggestion_id}/reject", summary="Reject a suggestion", responses=NOT_FOUND | CONFLICT)
def reject_suggestion(
    suggestion_id: SuggestionId, caller: AsReviewer, review: Review, body: Rejection | None = None
) -> SuggestionOut:
    """Discard a suggestion; its tool stays without skills."""
    return SuggestionOut.of(review.reject(suggestion_id, body.reason if body else None, caller))


@router.post("/{suggestion_id}/merge", summary="Merge a suggestion", responses=NOT_FOUND | CONFLICT)
def merge_suggestion(
    suggestion_id: SuggestionId, body: MergeRequest, caller: AsReviewer, review: Review
) -> ReviewResponse:
    """Assign the tool to a skill that is there."""
    return ReviewResponse.of(review.merge(suggestion_id, body.skill_id, caller))
