"""`/api/v1/search/messages`: agent mail."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import PrivateJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.search_headers import SEARCHED, search_headers
from skillroute.core.http.use_cases import given, require
from skillroute.core.rationing.work import Work
from skillroute.mail.search.answers import MessageSearchResponse
from skillroute.mail.search.invocation import InvocationBudget
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.mail.search.search import MessageSearch

router = APIRouter(prefix="/api/v1/search", tags=["search"], route_class=PrivateJsonRoute, responses=ERRORS | BUDGET)


@router.post(
    "/messages",
    response_model=MessageSearchResponse,
    response_model_exclude_none=True,
    summary="Find messages, agents and projects",
    responses=SEARCHED,
)
def search_messages(
    request: MessageSearchRequest,
    caller: Annotated[Caller, Depends(require(Scope.SEARCH))],
    search: Annotated[MessageSearch, given(MessageSearch)],
    work: Annotated[Work, given(Work)],
    budget: InvocationBudget,
) -> Response:
    """Search by words, by meaning, or by both, within filters, page by page.

    Whatever is away, the model, the index or the reranker, the answer is what can be found without it: `mode` and
    `engine` say what was served, `explain` why. Callers see the projects of the mail agent that their token
    names; operators see all mail of their organisation.
    """
    # Already checked and typed: FastAPI would validate it once more.
    with work(caller, 1.0):
        answer = search.search(request, caller, budget=budget)
    degraded = [answer.reason] if answer.is_degraded and answer.reason is not None else []
    headers = search_headers(answer.actual, degraded)
    return Response(answer.response.to_json(), media_type="application/json", headers=headers)
