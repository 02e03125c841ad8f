"""`/api/v1/search`: the three routes of search-contract."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Depends, Response
from fastapi import Query as QueryParameter

from skillroute.catalogue.model import DEFAULT_TOOL_THRESHOLD, ItemType
from skillroute.core.caller import Caller, Scope
from skillroute.core.errors.model import InvalidInput
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.lanes import Lanes
from skillroute.core.http.search_headers import SEARCHED, search_headers
from skillroute.core.http.use_cases import given, require
from skillroute.core.input.text_fields import Text
from skillroute.search.answer.explanation import ExplainedMatch
from skillroute.search.answer.mcp_format import AnySearchResponse, in_format
from skillroute.search.candidates.server_names import MAX_SERVERS
from skillroute.search.cost import cost_of_one, search_cost
from skillroute.search.model import (
    DEFAULT_SKILL_THRESHOLD,
    Mode,
    Query,
    SearchRequest,
    SkillMatch,
    ToolMatch,
)
from skillroute.search.receipts import Door
from skillroute.search.run import ToolSearchRun
from skillroute.search.search import ToolSearch

CUT_HEADER = "X-Descriptions-Cut"
CONFIDENCE_HEADER = "X-Confidence"
NO_MATCH_HEADER = "X-No-Match"
UNKNOWN_SERVERS_HEADER = "X-Unknown-Servers"
ANNOTATIONS_HEADER = "X-Annotations-Omitted"
SEARCH_ID_HEADER = "X-Search-Id"
_MODE_DOC: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            **SEARCHED[200]["headers"],
            CUT_HEADER: {
                "description": "`true` where the longest descriptions were cut for room; they end in `…`.",
                "schema": {"type": "string"},
            },
        }
    }
}
_TOOLS_DOC: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            **_MODE_DOC[200]["headers"],
            CONFIDENCE_HEADER: {
                "description": "In the hybrid modes how likely the first tool serves the request, 0..1; else absent.",
                "schema": {"type": "number"},
            },
            NO_MATCH_HEADER: {
                "description": "`true` where nothing seems to fit: the tools are the nearest alternatives.",
                "schema": {"type": "string"},
            },
            UNKNOWN_SERVERS_HEADER: {
                "description": "Those of `server` that have no active item that the caller sees, percent-encoded, with "
                "commas between; absent where there are none.",
                "schema": {"type": "string"},
            },
            ANNOTATIONS_HEADER: {
                "description": "Of how many tools `annotations` had no room; absent where there are none.",
                "schema": {"type": "integer"},
            },
            SEARCH_ID_HEADER: {
                "description": "By which the results of calls are reported; absent where no receipts are kept.",
                "schema": {"type": "string"},
            },
        }
    }
}


router = APIRouter(prefix="/api/v1/search", tags=["search"], route_class=SafeJsonRoute, responses=ERRORS | BUDGET)

AsSearcher = Annotated[Caller, Depends(require(Scope.SEARCH))]
Search = Annotated[ToolSearch, given(ToolSearch)]
OnLanes = Annotated[Lanes, given(Lanes)]
Count = Annotated[int, QueryParameter(ge=1, le=50)]
SkillIds = Annotated[
    Text | None, QueryParameter(description="Comma-separated; a tool of any of them passes.", max_length=10_000)
]
LeavesReceipt = Annotated[
    bool,
    QueryParameter(
        alias="receipt", description="False where no one needs the tools: the search counts as no use, and leaves none."
    ),
]
Servers = Annotated[
    Text | None,
    QueryParameter(
        description=f"Comma-separated; a tool of any of these MCP servers passes, {MAX_SERVERS} at most.",
        max_length=10_000,
    ),
]


@router.post(
    "",
    response_model=AnySearchResponse,
    summary="Find the tools that fit a request",
    responses=SEARCHED,
)
async def search_tools(
    request: SearchRequest, caller: AsSearcher, search: Search, lanes: OnLanes, receipt: LeavesReceipt = True
) -> Response:
    """Match the query to skills, then to the tools of those skills, and return the best with their schemas."""
    door: Door | None = "http" if receipt else None
    return await lanes.charged(caller, cost_of_one(request), partial(_answer, search, request, caller, door))


@router.get("/skills", summary="Find skills", responses=_MODE_DOC)
async def find_skills(
    response: Response,
    caller: AsSearcher,
    search: Search,
    lanes: OnLanes,
    query: Annotated[Query, QueryParameter()],
    limit: Count = 5,
    threshold: Annotated[
        float | None,
        QueryParameter(ge=0, le=1, description=f"Least cosine; {DEFAULT_SKILL_THRESHOLD}, none in the hybrid modes."),
    ] = None,
    mode: Mode | None = None,
) -> list[SkillMatch]:
    """Stage 1 alone: the active skills that the query matches."""
    find = partial(search.skills, query, caller, limit=limit, threshold=threshold, mode=mode)
    skills, run = await lanes.charged(caller, search_cost(query, limit=limit, mode=mode), find)
    _tell(response, run)
    return skills


@router.get(
    "/tools",
    response_model=list[ExplainedMatch] | list[ToolMatch],
    summary="Find tools, optionally of some skills or servers",
    responses=_TOOLS_DOC,
)
async def find_tools(
    response: Response,
    caller: AsSearcher,
    search: Search,
    lanes: OnLanes,
    query: Annotated[Query, QueryParameter()],
    skill_ids: SkillIds = None,
    item_type: ItemType | None = None,
    limit: Count = 10,
    threshold: Annotated[
        float | None,
        QueryParameter(ge=0, le=1, description=f"Least cosine; {DEFAULT_TOOL_THRESHOLD}, none in the hybrid modes."),
    ] = None,
    mode: Mode | None = None,
    server: Servers = None,
    explain: Annotated[bool, QueryParameter(description="Say of each tool what its score is made of.")] = False,
) -> Sequence[ToolMatch]:
    """Stage 2 alone: tools without their schemas."""
    find = partial(
        search.tools,
        query,
        caller,
        skill_ids=_split(skill_ids),
        item_type=item_type,
        limit=limit,
        threshold=threshold,
        mode=mode,
        servers=_servers(server),
        explain=explain,
    )
    units = search_cost(query, limit=limit, mode=mode, explain=explain)
    tools, run = await lanes.charged(caller, units, find)
    _tell(response, run)
    return tools


def _answer(search: ToolSearch, request: SearchRequest, caller: Caller, door: Door | None) -> Response:
    # Already checked and typed: FastAPI would validate it once more.
    found = search.search(request, caller, door=door)
    headers = search_headers(found.metadata.search_mode, found.metadata.degraded)
    shown = in_format(request, found)
    return Response(shown.__pydantic_serializer__.to_json(shown), media_type="application/json", headers=headers)


def _tell(response: Response, run: ToolSearchRun) -> None:
    response.headers.update(search_headers(run.search_mode, run.degraded))
    if run.descriptions_cut:
        response.headers[CUT_HEADER] = "true"
    if run.confidence is not None:
        response.headers[CONFIDENCE_HEADER] = f"{run.confidence:.4f}"
    if run.no_match:
        response.headers[NO_MATCH_HEADER] = "true"
    if run.unknown_servers:
        response.headers[UNKNOWN_SERVERS_HEADER] = ", ".join(quote(name, safe="") for name in run.unknown_servers)
    if run.annotations_omitted:
        response.headers[ANNOTATIONS_HEADER] = str(run.annotations_omitted)
    if run.search_id is not None:
        response.headers[SEARCH_ID_HEADER] = str(run.search_id)


def _split(skill_ids: str | None) -> list[str] | None:
    # Nothing but blanks and commas names no skill, and so matches nothing (decision 4).
    return None if skill_ids is None else [part.strip() for part in skill_ids.split(",") if part.strip()]


def _servers(server: str | None) -> list[str] | None:
    names = _split(server)
    if names is not None and len(names) > MAX_SERVERS:
        raise InvalidInput("server", f"names {len(names)} servers; at most {MAX_SERVERS} are allowed")
    return names
