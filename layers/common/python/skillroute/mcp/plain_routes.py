"""`POST /mcp` and the metadata of who issues tokens for it (RFC 9728), as routes that need no FastAPI.

FastAPI takes a third of the time that function `mcp` needs to start, and has nothing to do here: what comes in is
checked by the protocol's own rules. `routes.py` has the same for apps that serve more than this.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from skillroute.core.caller import Caller, Scope
from skillroute.core.http.auth import Access, bearer_token_of
from skillroute.core.http.protected_resource import METADATA_PATH, ProtectedResource, metadata_of, url_of
from skillroute.core.http.time_limit import left_ms_of
from skillroute.core.time.deadline import Deadline
from skillroute.mcp.cost import asks_for_call
from skillroute.mcp.headers import Headers
from skillroute.mcp.server import McpServer, Reply
from skillroute.mcp.server_card import CARD_TYPE, server_card
from skillroute.mcp.tool import Asked

PATH = "/mcp"
METADATA_PATHS = (METADATA_PATH, METADATA_PATH + PATH)
CARD_PATHS = ("/.well-known/mcp/server-card.json", f"{PATH}/server-card")
"""Paths where clients look for the server's card: of a host, and of an address that they have."""

Endpoint = Callable[[Request], Awaitable[Response]]


def plain_routes(server: McpServer, access: Access, resource: ProtectedResource | None) -> list[Route]:
    """Return the route of the protocol, and those of the metadata, which are 404 where tokens are not what lets in.

    Requests are answered on the event loop's own thread: Lambda gives an environment one at a time.
    """
    guard = access.require(Scope.SEARCH, metadata_path=METADATA_PATHS[1])

    async def post_message(request: Request) -> Response:
        caller = await guard(request)
        headers, body, asked = await message_of(request, caller)
        if not asks_for_call(body):
            return response_of(server.answer(headers, body, asked))
        notices: list[bytes] = []
        reply = server.answer(headers, body, replace(asked, notices=notices.append) if headers.takes_stream else asked)
        return response_of(reply) if not notices else events_response([*notices, reply.body])

    get_metadata = metadata_endpoint(resource)
    return [
        Route(PATH, post_message, methods=["POST"]),
        *(Route(path, get_metadata, methods=["GET"]) for path in METADATA_PATHS),
        *(Route(path, get_card, methods=["GET"]) for path in CARD_PATHS),
    ]


async def get_card(request: Request) -> Response:
    """Answer with the server's card, for any client: it has what a client needs to connect, and nothing of anyone."""
    # Read by pages, too, as the draft of cards asks; it is the same for all.
    headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
    return JSONResponse(server_card(url_of(request, PATH)), headers=headers, media_type=CARD_TYPE)


async def message_of(request: Request, caller: Caller) -> tuple[Headers, bytes, Asked]:
    """Return what `McpServer.answer` takes."""
    headers, body = Headers(request.headers.items()), await request.body()
    left_ms = left_ms_of(request)
    deadline = None if left_ms is None else Deadline(left_ms / 1000.0)
    named = request.query_params.get("tools", "")
    token, base_url = bearer_token_of(request), url_of(request, "")
    return headers, body, Asked(caller, deadline, named, token, headers.session, base_url=base_url)


def response_of(reply: Reply) -> Response:
    """Return the answer over HTTP; one without a body has no type."""
    headers = {} if reply.retry_after_s is None else {"Retry-After": str(reply.retry_after_s)}
    if reply.session is not None:
        headers["Mcp-Session-Id"] = reply.session
    return Response(reply.body, reply.status, headers, media_type="application/json" if reply.body else None)


def event_of(message: bytes) -> bytes:
    """Return a message as an event of a stream."""
    return b"event: message\ndata: " + message + b"\n\n"


def events_response(messages: Iterable[bytes]) -> Response:
    """Return messages as a stream of events that has ended."""
    body = b"".join(event_of(message) for message in messages)
    return Response(body, 200, {"Cache-Control": "no-store"}, media_type="text/event-stream")


def metadata_endpoint(resource: ProtectedResource | None) -> Endpoint:
    """Return what answers with the metadata of a protected resource, for anybody: it says how to become somebody."""

    async def get_metadata(request: Request) -> Response:
        if resource is None:
            raise HTTPException(404, "Not Found")
        return JSONResponse(metadata_of(resource, request, PATH))

    return get_metadata
