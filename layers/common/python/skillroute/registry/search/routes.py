"""`/api/v1/search/registry`: servers, their tools, and agents."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.lanes import Lanes
from skillroute.core.http.search_headers import SEARCHED, search_headers
from skillroute.core.http.use_cases import given, require
from skillroute.registry.search.model import RegistrySearchRequest, RegistrySearchResponse
from skillroute.registry.search.search import RegistrySearch

_RERANKING = 4.0


def cost_of(request: RegistrySearchRequest) -> float:
    """Return the units of a search, in plain searches for tools (docs/adr/0065)."""
    return (
        1.0
        + request.max_results / 100
        + (0.5 if request.explain else 0.0)
        + _RERANKING * (request.mode == "hybrid_rerank")
    )


router = APIRouter(prefix="/api/v1/search", tags=["search"], route_class=SafeJsonRoute, responses=ERRORS | BUDGET)


@router.post(
    "/registry",
    response_model=RegistrySearchResponse,
    summary="Find servers, their tools, and agents",
    responses=SEARCHED,
)
async def search_registry(
    request: RegistrySearchRequest,
    caller: Annotated[Caller, Depends(require(Scope.SEARCH))],
    search: Annotated[RegistrySearch, given(RegistrySearch)],
    lanes: Annotated[Lanes, given(Lanes)],
) -> Response:
    """Search by meaning and by keywords, and return the best of each type.

    While the embedding model is away the answer is by keywords alone, and its `search_mode` says so.
    """
    answer = await lanes.charged(caller, cost_of(request), partial(search, request, caller))
    # Already checked and typed: FastAPI would validate it once more.
    headers = search_headers(answer.search_mode, answer.metadata.degraded)
    return Response(answer.__pydantic_serializer__.to_json(answer), media_type="application/json", headers=headers)
