"""`/api/v1/learning`: what people look at of use, export, and have deleted."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, HTTPException, Query, Request, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS, NOT_FOUND
from skillroute.core.http.errors import problem
from skillroute.core.http.lanes import Lanes
from skillroute.core.http.listing import LIST_DOC, CursorParameter, Listing
from skillroute.core.http.paging import PAGE_DOC, ItemId, Limit, Page
from skillroute.core.http.use_cases import given, require
from skillroute.core.input.text_fields import Text
from skillroute.core.listing import Cursor, InvalidCursor, Order
from skillroute.learning.review.answers import DeletedReceipts, ForgottenTool, JudgedOut, ReceiptOut, UnservedOut
from skillroute.learning.review.model import KeptReceipt, ReceiptPlace
from skillroute.learning.review.repository import MAX_OUTCOMES, MAX_RECEIPTS, MAX_WORDINGS
from skillroute.learning.review.review import ReviewUse

# In plain searches (docs/adr/0065); of the most that is grouped or judged it is ten times that.
_GROUP_UNITS, _JUDGE_UNITS, _DELETE_UNITS = 5.0, 5.0, 5.0
_PAGE_UNITS, _ROW_UNITS = 1.0, 0.005
_SORT = "asked_at"

router = APIRouter(prefix="/api/v1/learning", tags=["learning"], route_class=SafeJsonRoute, responses=ERRORS)

AsReviewer = Annotated[Caller, Depends(require(Scope.SKILLS))]
AsAdmin = Annotated[Caller, Depends(require(Scope.ADMIN))]
Review = Annotated[ReviewUse, given(ReviewUse)]
Threads = Annotated[Lanes, given(Lanes)]
Days = Annotated[int, Query(ge=1, le=400, description="Only what was asked or reported in so many days.")]
_WHO = "Who asked or reported: the subject of their token (`sub`)."
CallerName = Annotated[Text, Query(min_length=1, max_length=1000, description=_WHO)]


@router.get(
    "/unserved",
    response_model=list[UnservedOut],
    summary="List requests that found nothing",
    responses=PAGE_DOC | BUDGET,
    description=f"""Return a page of the requests of the caller's organisation that found nothing, or of which a caller
reported that nothing fits: those of one meaning together, the most frequent first.

Of the latest {MAX_RECEIPTS:,} the {MAX_WORDINGS:,} most frequent wordings are grouped. Those of callers without an
organisation are for the operator alone.""",
)
async def list_unserved(caller: AsReviewer, review: Review, lanes: Threads, page: Page, days: Days = 30) -> Response:
    """Return what people miss."""
    found = await lanes.charged(
        caller, _GROUP_UNITS, lambda: review.unserved(caller, days=days, limit=page.limit, offset=page.offset)
    )
    return page.response((UnservedOut.of(group, found.tools) for group in found.groups), found.total)


@router.get(
    "/judged",
    response_model=list[JudgedOut],
    summary="List requests that outcomes judge",
    responses=PAGE_DOC | BUDGET,
    description=f"""Return a page of judged requests, as an evaluation reads them: what was asked, and the tools that
were called for it more often than they were reported wrong. Equal texts are one.

Only of receipts with their text, and of the latest {MAX_OUTCOMES:,} outcomes that may teach. Those of callers without
an organisation are for the operator alone.""",
)
async def list_judged(caller: AsReviewer, review: Review, lanes: Threads, page: Page, days: Days = 30) -> Response:
    """Return a set of judged requests from use."""
    found, total = await lanes.charged(
        caller, _JUDGE_UNITS, lambda: review.judged(caller, days=days, limit=page.limit, offset=page.offset)
    )
    return page.response(map(JudgedOut.of, found), total)


def _listing(request: Request, limit: Limit = 100, cursor: CursorParameter = None) -> Listing:
    try:
        after = None if cursor is None else Cursor.decoded(cursor, _SORT, str)
        _place(after)
    except InvalidCursor as error:
        raise HTTPException(422, [problem(["query", "cursor"], str(error))]) from None
    return Listing(limit, 0, request.query_params.multi_items(), Order(_SORT, after), is_plain=False)


@router.get("/receipts", response_model=list[ReceiptOut], summary="Export receipts", responses=LIST_DOC | BUDGET)
async def list_receipts(
    admin: AsAdmin,
    review: Review,
    lanes: Threads,
    page: Annotated[Listing, Depends(_listing)],
    caller: Annotated[Text | None, Query(min_length=1, max_length=1000, description=_WHO)] = None,
) -> Response:
    """Return a page of the receipts of the caller's organisation with their outcomes, the oldest first."""
    found = await lanes.charged(
        admin,
        _PAGE_UNITS + page.limit * _ROW_UNITS,
        lambda: review.receipts(admin, caller, _place(page.order.after), limit=page.limit),
    )
    return page.listed(
        [ReceiptOut.of(receipt) for receipt in found.rows],
        lambda place: _cursor(found.rows[place]),
        found.total,
        found.remaining,
    )


@router.delete("/receipts", summary="Delete a caller's receipts", responses=BUDGET)
async def delete_receipts(admin: AsAdmin, review: Review, lanes: Threads, caller: CallerName) -> DeletedReceipts:
    """Delete all receipts and outcomes of one caller in the organisation of who asks, and count them.

    So are the organisation's learned requests that are of one caller alone, which are not marked with whose they are.
    What was learned from several callers stays: it is the mean of three or more searches.
    """
    return DeletedReceipts.of(await lanes.charged(admin, _DELETE_UNITS, lambda: review.delete(admin, caller)))


@router.delete("/tools/{item_id}", summary="Forget what was learned of a tool", responses=NOT_FOUND)
def delete_learned_of_tool(item_id: ItemId, caller: AsReviewer, review: Review) -> ForgottenTool:
    """Forget what the caller's organisation learned of a tool in all states, and the outcomes of its calls."""
    return ForgottenTool.of(review.forget(caller, item_id))


def _cursor(receipt: KeptReceipt) -> Cursor:
    return Cursor(_SORT, f"{receipt.search_id}:{receipt.nth}", receipt.asked_at)


def _place(after: Cursor | None) -> ReceiptPlace | None:
    """Return where a cursor stands. Raises `InvalidCursor` where it is none of receipts."""
    if after is None:
        return None
    search_id, _, nth = str(after.id).partition(":")
    try:
        number = int(nth)
        if not 0 <= number < 2**15:
            raise ValueError(number)
        return ReceiptPlace(after.value, UUID(search_id), number)  # type: ignore[arg-type]
    except ValueError:
        raise InvalidCursor("is not a cursor of this list") from None
