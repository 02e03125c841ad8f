"""`POST /mcp`, and the metadata that tells clients who issues tokens for it (RFC 9728), as FastAPI documents them."""

# No `from __future__ import annotations`: FastAPI must see the types that are made within the function below.
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response

from skillroute.core.caller import Caller, Scope
from skillroute.core.errors.model import BudgetSpent
from skillroute.core.http.auth import Access
from skillroute.core.http.docs import BUDGET, IDENTITY
from skillroute.core.http.lanes import Lanes
from skillroute.core.http.one_at_a_time import OneAtATime
from skillroute.core.http.protected_resource import ProtectedResource
from skillroute.mcp.cost import asks_for_call, units_of
from skillroute.mcp.plain_routes import (
    CARD_PATHS,
    METADATA_PATHS,
    PATH,
    get_card,
    message_of,
    metadata_endpoint,
    response_of,
)
from skillroute.mcp.server import McpServer, spent
from skillroute.mcp.streamed import answer_call
from skillroute.mcp.tool import GROUPS

_OBJECT = {"type": "object", "additionalProperties": True}
_MESSAGE = {"content": {"application/json": {"schema": _OBJECT}}}
_BATCH = {"type": "array", "items": _OBJECT}
_ANSWERS: dict[int | str, dict[str, Any]] = IDENTITY | {
    200: {
        "description": "The response, or the responses of a batch.",
        "content": {"application/json": {"schema": {"anyOf": [_OBJECT, _BATCH]}}},
    },
    202: {"description": "A notification was taken."},
    400: {"description": "It is no request, or contradicts itself.", **_MESSAGE},
    403: {"description": "The token lacks the scope, or a page of another host asks.", **_MESSAGE},
    404: {"description": "The revision 2026-07-28 has no such method.", **_MESSAGE},
    406: {"description": "The client does not take JSON.", **_MESSAGE},
    413: {"description": "The body is too large.", **_MESSAGE},
    415: {"description": "The body is not said to be JSON.", **_MESSAGE},
    429: BUDGET[429] | _MESSAGE,
}
_OPENAPI = {
    "parameters": [
        {
            "name": "tools",
            "in": "query",
            "required": False,
            "description": "Tools to list where the caller has no use for them yet: `mail`, `skills` or both.",
            "schema": {"type": "string", "enum": [*GROUPS, ",".join(GROUPS)]},
        }
    ],
    "requestBody": {
        "required": True,
        "description": "A request of JSON-RPC 2.0.",
        "content": {"application/json": {"schema": {"anyOf": [_OBJECT, _BATCH]}}},
    },
}


def mcp_router(server: McpServer, access: Access, resource: ProtectedResource | None, lanes: Lanes) -> APIRouter:
    """Return the route of the protocol, and that of the metadata, which is 404 where tokens are not what lets in."""
    router = APIRouter(tags=["mcp"])
    batches = OneAtATime()
    AsCaller = Annotated[Caller, Depends(access.require(Scope.SEARCH, metadata_path=METADATA_PATHS[1]))]  # noqa: N806

    @router.post(
        PATH, summary="Speak the Model Context Protocol", response_class=Response, responses=_ANSWERS,
        openapi_extra=_OPENAPI,
    )  # fmt: skip
    async def post_mcp_message(request: Request, caller: AsCaller) -> Response:
        """Answer one request of the Model Context Protocol: streamable HTTP without sessions, always as JSON.

        Revisions 2025-03-26 to 2026-07-28. Only notices of how far a call of another server's tool is are streamed,
        before its answer; `GET` is 405.
        """
        headers, body, asked = await message_of(request, caller)
        if asks_for_call(body):
            return await answer_call(server, lanes, request, headers, body, asked)
        answer = partial(server.answer, headers, body, asked)
        if body.lstrip().startswith(b"["):
            try:
                return response_of(await batches.run(caller, answer))
            except BudgetSpent as error:
                return response_of(spent(error))
        return response_of(await lanes.run(caller, units_of(body), answer))

    # Not in the document of the API, whose every route asks who it is.
    for path in METADATA_PATHS:
        router.add_api_route(path, metadata_endpoint(resource), response_model=None, include_in_schema=False)
    for path in CARD_PATHS:
        router.add_api_route(path, get_card, response_model=None, include_in_schema=False)
    return router
