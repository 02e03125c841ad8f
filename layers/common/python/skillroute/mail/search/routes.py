"""`/api/v1/search/messages`: agent mail."""

# No `from __future__ import annotations`: FastAPI must see the types that are made within the function below.
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.auth import Access
from skillroute.core.http.body import PrivateJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.search_headers import SEARCHED, search_headers
from skillroute.core.rationing.work import Work
from skillroute.mail.search.answers import MessageSearchResponse
from skillroute.mail.search.invocation import InvocationBudget
from skillroute.mail.search.model import MessageSearchRequest
from skillroute.mail.search.search import MessageSearch


def message_search_router(search: MessageSearch, access: Access, work: Work) -> APIRouter:
    """Return the route over a message search."""
    router = APIRouter(
        prefix="/api/v1/search", tags=["search"], route_class=PrivateJsonRoute, responses=ERRORS | BUDGET
    )
    AsCaller = Annotated[Caller, Depends(access.require(Scope.SEARCH))]  # noqa: N806 (a type)

    @router.post(
        "/messages",
        response_model=MessageSearchResponse,
        response_model_exclude_none=True,
        summary="Find messages, agents and projects",
        responses=SEARCHED,
    )
    def search_messages(request: MessageSearchRequest, caller: AsCaller, budget: InvocationBudget) -> Response:
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

    return router
