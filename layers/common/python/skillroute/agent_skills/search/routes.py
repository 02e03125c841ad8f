"""`/api/v1/search/agent-skills`: the search for Agent Skills, in descriptions and bodies."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Response

from skillroute.agent_skills.search.model import AgentSkillSearchRequest, AgentSkillSearchResponse
from skillroute.agent_skills.search.search import AgentSkillSearch
from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.lanes import Lanes
from skillroute.core.http.search_headers import SEARCHED, search_headers
from skillroute.core.http.use_cases import given, require

router = APIRouter(prefix="/api/v1/search", tags=["search"], route_class=SafeJsonRoute, responses=ERRORS | BUDGET)


@router.post("/agent-skills", response_model=AgentSkillSearchResponse, summary="Find Agent Skills", responses=SEARCHED)
async def search_agent_skills(
    request: AgentSkillSearchRequest,
    caller: Annotated[Caller, Depends(require(Scope.SEARCH))],
    search: Annotated[AgentSkillSearch, given(AgentSkillSearch)],
    lanes: Annotated[Lanes, given(Lanes)],
) -> Response:
    """Search by meaning and by words, and return each skill once, with the piece that fits best.

    While the embedding model is unavailable the answer is by words alone, and its `search_mode` shows that.
    """
    answer = await lanes.charged(caller, 1.0 + request.limit / 100, partial(search, request, caller))
    # Already checked and typed: FastAPI would validate it once more.
    headers = search_headers(answer.search_mode, answer.metadata.degraded)
    return Response(answer.__pydantic_serializer__.to_json(answer), media_type="application/json", headers=headers)
