"""`/api/v1/trust`: definitions that changed since they were approved."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Response
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from skillroute.catalogue.model import ItemType
from skillroute.catalogue.sync import MAX_ITEMS
from skillroute.catalogue.trust.review import ChangedItem, Decision, ReviewDefinitions
from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import ERRORS
from skillroute.core.http.listing import LIST_DOC, STATES, Listing, State, listing_of
from skillroute.core.http.use_cases import given, require
from skillroute.core.listing import Cursor

router = APIRouter(prefix="/api/v1/trust", tags=["trust"], route_class=SafeJsonRoute, responses=ERRORS)

AsKeeper = Annotated[Caller, Depends(require(Scope.CATALOG))]
Review = Annotated[ReviewDefinitions, given(ReviewDefinitions)]
QuarantinedQuery = Annotated[
    State, Query(description="Those that nothing finds or calls until they are approved, those in use, or all.")
]
ChangedListing = Annotated[Listing, Depends(listing_of(Literal["id"], "id"))]


class DefinitionDifference(BaseModel):
    """A part of a definition that is not as it was approved."""

    field: str = Field(description="`title`, `description`, `input_schema`, `output_schema`, `annotations` or `http`.")
    diff: list[str] = Field(description="Lines of a unified diff; invisible characters as `<U+200B>`.")


class ChangedDefinition(BaseModel):
    """An item whose definition is not the approved one."""

    id: int
    org_id: str | None
    server: str | None
    type: ItemType
    name: str
    is_active: bool
    is_quarantined: bool = Field(description="Whether nothing finds or calls it until it is approved.")
    approved_by: str | None = Field(description="Null where it was taken as it first came.")
    approved_at: datetime = Field(description="When the definition before was approved.")
    changed_at: datetime = Field(description="When it changed.")
    differences: list[DefinitionDifference] = Field(description="What is not as it was approved.")

    @classmethod
    def of(cls, item: ChangedItem) -> ChangedDefinition:
        """Return what the API says of an item."""
        return cls(
            id=item.id,
            org_id=item.org_id,
            server=item.key.server or None,
            type=item.key.type,
            name=item.key.name,
            is_active=item.is_active,
            is_quarantined=item.is_quarantined,
            approved_by=item.approved_by,
            approved_at=item.approved_at,
            changed_at=item.changed_at,
            differences=[DefinitionDifference(field=each.field, diff=list(each.diff)) for each in item.differences],
        )


class TrustBody(BaseModel):
    """The items to decide on."""

    model_config = ConfigDict(extra="forbid", strict=True)

    ids: list[Annotated[int, Field(ge=1, le=2**63 - 1)]] = Field(
        min_length=1, max_length=MAX_ITEMS, description="Ids of items whose definitions changed."
    )
    seen: dict[Annotated[int, Field(strict=False)], Annotated[AwareDatetime, Field(strict=False)]] = Field(
        default_factory=dict,
        max_length=MAX_ITEMS,
        description="`changed_at` by id, as it was listed: items that changed since are left as they are, and their "
        "status is `changed_again`. Those that are not named are decided on as they are now.",
    )


class TrustDecision(BaseModel):
    """The decision on one item."""

    id: int
    status: Decision

    @classmethod
    def each(cls, decided: dict[int, Decision]) -> list[TrustDecision]:
        """Return what the API says of decisions."""
        return [cls(id=id_, status=status) for id_, status in decided.items()]


@router.get("/changed", response_model=list[ChangedDefinition], summary="List changed definitions", responses=LIST_DOC)
def list_changed_definitions(
    caller: AsKeeper, review: Review, page: ChangedListing, is_quarantined: QuarantinedQuery = "all"
) -> Response:
    """Return a page of the caller's own items whose definitions are not the approved ones, with the difference.

    Items that are switched off are left out.
    """
    which = STATES[is_quarantined]
    found = review.changed(caller, page.order, limit=page.limit, offset=page.offset, is_quarantined=which)
    rows = list(map(ChangedDefinition.of, found.rows))
    return page.listed(rows, lambda place: Cursor("id", found.rows[place].id, None), found.total, found.remaining)


@router.post("/approve", summary="Approve definitions")
def approve_definitions(body: TrustBody, caller: AsKeeper, review: Review) -> list[TrustDecision]:
    """Approve the caller's own items as they are now, or as they were `seen`.

    Those that are quarantined are found and called again.
    """
    return TrustDecision.each(review.approve(body.ids, caller, body.seen))


@router.post("/reject", summary="Reject changed definitions")
def reject_definitions(body: TrustBody, caller: AsKeeper, review: Review) -> list[TrustDecision]:
    """Switch those of the caller's own items off whose definitions changed; they stay off until they are approved."""
    return TrustDecision.each(review.reject(body.ids, caller, body.seen))
