"""What an HTTP status of an error means: the server's own error, or a session that it forgot."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest
from skillroute_local.mcp_servers.errors import FromServer, HttpStatus
from skillroute_local.mcp_servers.http_answers import failure

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def answer(status: int, *, session: bool = True, **body: Any) -> httpx2.Response:
    request = httpx2.Request("POST", "http://a/mcp", headers={"mcp-session-id": "s"} if session else {})
    return httpx2.Response(status, request=request, **body)


def error(code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message, "data": 7}}


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (400, -32602, "browser_session_id is required"),
        (400, -32602, "the session is required"),
        (400, -32000, "No obsession found"),
        (400, -32000, "session_id is required"),
        (404, -32002, "Resource not found"),
        (404, -32601, "Method not found"),
        (403, -32001, "Session not found"),
    ],
)
async def test_an_error_of_what_was_asked_for_passes_as_it_came(status: int, code: int, message: str) -> None:
    found = await failure(answer(status, json=error(code, message)))
    assert (found.code, found.message, found.data) == (code, message, FromServer(7))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"json": error(-32001, "Session not found")}),
        (404, {"json": error(-32600, "Session terminated")}),
        (404, {"text": ""}),
        (404, {"json": {"detail": "Not Found"}}),
        (400, {"json": error(-32000, "Bad Request: No valid session ID provided")}),
        (400, {"json": error(-32600, "Bad Request: Mcp-Session-Id is unknown")}),
        (400, {"json": {"error": "Invalid session"}}),
        (400, {"text": "Invalid session"}),
    ],
)
async def test_a_forgotten_session_is_told_by_its_status_and_only_where_there_was_one(
    status: int, body: dict[str, Any]
) -> None:
    lost = (await failure(answer(status, **body))).data
    assert lost == HttpStatus(status, is_session_lost=True)
    other = (await failure(answer(status, session=False, **body))).data
    assert isinstance(other, FromServer) or other == HttpStatus(status)


@pytest.mark.parametrize("body", [{"text": "obsession"}, {"content": b"\xff"}, {"json": {"error": {"code": "a"}}}])
async def test_another_refusal_is_its_status(body: dict[str, Any]) -> None:
    assert (await failure(answer(400, **body))).data == HttpStatus(400)
