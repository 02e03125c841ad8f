"""`POST /mcp`, and the metadata that tells clients who issues tokens for it (RFC 9728)."""

# No `from __future__ import annotations`: FastAPI must see the types that are made within the function below.
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool

from skillroute.core.caller import Caller, Scope
from skillroute.core.deadline import Deadline
from skillroute.core.http.auth import Access
from skillroute.core.http.docs import IDENTITY
from skillroute.core.http.protected_resource import METADATA_PATH, ProtectedResource, metadata_of
from skillroute.core.http.time_limit import left_ms_of
from skillroute.mcp.headers import Headers
from skillroute.mcp.server import McpServer
from skillroute.mcp.tool import Asked

PATH = "/mcp"

_MESSAGE = {"content": {"application/json": {"schema": {"type": "object"}}}}
_ANSWERS: dict[int | str, dict[str, Any]] = IDENTITY | {
    200: {"description": "The response, or the responses of a batch.", "content": {"application/json": {"schema": {}}}},
    202: {"description": "A notification was taken."},
    400: {"description": "It is no request, or contradicts itself.", **_MESSAGE},
    403: {"description": "The token lacks the scope, or a page of another host asks.", **_MESSAGE},
    404: {"description": "The revision 2026-07-28 has no such method.", **_MESSAGE},
    406: {"description": "The client does not take JSON.", **_MESSAGE},
    413: {"description": "The body is too large.", **_MESSAGE},
    415: {"description": "The body is not said to be JSON.", **_MESSAGE},
}
_OPENAPI = {
    "requestBody": {
        "required": True,
        "description": "A request of JSON-RPC 2.0.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


def mcp_router(server: McpServer, access: Access, resource: ProtectedResource | None) -> APIRouter:
    """Return the route of the protocol, and that of the metadata, which is 404 where tokens are not what lets in."""
    router = APIRouter(tags=["mcp"])
    AsCaller = Annotated[Caller, Depends(access.require(Scope.SEARCH, metadata_path=METADATA_PATH + PATH))]  # noqa: N806

    @router.post(
        PATH, summary="Speak the Model Context Protocol", response_class=Response, responses=_ANSWERS,
        openapi_extra=_OPENAPI,
    )  # fmt: skip
    async def post_message(request: Request, caller: AsCaller) -> Response:
        """Answer one request of the Model Context Protocol: streamable HTTP without sessions, always as JSON.

        Revisions 2025-03-26 to 2026-07-28. Nothing is streamed, so `GET` is 405.
        """
        headers, body = Headers(request.headers.items()), await request.body()
        left_ms = left_ms_of(request)
        asked = Asked(caller, None if left_ms is None else Deadline(left_ms / 1000.0))
        reply = await run_in_threadpool(server.answer, headers, body, asked)
        return Response(reply.body, reply.status, media_type="application/json" if reply.body else None)

    # Not in the document of the API, whose every route asks who it is.
    @router.get(METADATA_PATH, include_in_schema=False)
    @router.get(METADATA_PATH + PATH, include_in_schema=False)
    async def get_metadata(request: Request) -> dict[str, Any]:
        """Return the metadata of a protected resource (RFC 9728), for anybody: it says how to become somebody."""
        if resource is None:
            raise HTTPException(404, "Not Found")
        return metadata_of(resource, request, PATH)

    return router
