"""`/api/v1/tools/search_messages` and `/search_messages_product`: the tools of message search over HTTP.

Arguments are judged by the tools themselves, so that MCP refuses the same with the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends
from fastapi.responses import JSONResponse

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.body import PrivateJsonRoute
from skillroute.core.http.docs import BUDGET, ERRORS
from skillroute.core.http.use_cases import given, require
from skillroute.core.rationing.work import Work
from skillroute.mail.search.invocation import InvocationBudget
from skillroute.mail.search.tools.arguments import SEARCH_MESSAGES, SEARCH_MESSAGES_PRODUCT, Tool
from skillroute.mail.search.tools.schemas import SEARCH_MESSAGES_ANSWER, SEARCH_MESSAGES_PRODUCT_ANSWER
from skillroute.mail.search.tools.search import MessageTools

Arguments = Annotated[dict[str, Any], Body()]
AsCaller = Annotated[Caller, Depends(require(Scope.SEARCH))]
Tools = Annotated[MessageTools, given(MessageTools)]
Admission = Annotated[Work, given(Work)]


def _documented(tool: Tool, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the OpenAPI document says of a tool's route in the place of what FastAPI would find out."""

    def content(schema: Mapping[str, Any]) -> dict[str, Any]:
        return {"content": {"application/json": {"schema": dict(schema)}}}

    return {
        "summary": tool.description.rstrip("."),
        "response_model": None,
        "responses": {200: content(answer)},
        "openapi_extra": {"requestBody": content(tool.schema)},
    }


router = APIRouter(prefix="/api/v1/tools", tags=["messages"], route_class=PrivateJsonRoute, responses=ERRORS | BUDGET)


@router.post("/search_messages", **_documented(SEARCH_MESSAGES, SEARCH_MESSAGES_ANSWER))
def call_search_messages(
    arguments: Arguments, caller: AsCaller, tools: Tools, work: Admission, budget: InvocationBudget
) -> JSONResponse:
    """Search the messages of one project, and say what else might help.

    What is written into the query as `from:`, `thread:`, `importance:`, `before:` or `after:` is searched as words
    and reported as a hint; arguments filter.
    """
    with work(caller, 1.0):
        return JSONResponse(tools.search_messages(arguments, caller, budget))


@router.post("/search_messages_product", **_documented(SEARCH_MESSAGES_PRODUCT, SEARCH_MESSAGES_PRODUCT_ANSWER))
def call_search_messages_product(
    arguments: Arguments, caller: AsCaller, tools: Tools, work: Admission, budget: InvocationBudget
) -> JSONResponse:
    """Search the messages of all projects of a product that the caller may see."""
    with work(caller, 1.0):
        return JSONResponse(tools.search_messages_product(arguments, caller, budget))
