"""What an invocation of Lambda has left bounds what its request waits for, on whatever thread."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi import APIRouter
from fastapi.testclient import TestClient
from skillroute.core.http.app import create_app
from skillroute.core.http.plain_app import create_plain_app
from skillroute.core.time.time_left import at_most_s
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send


class Invocation:
    def get_remaining_time_in_millis(self) -> int:
        return 5_000


def invoked(app: ASGIApp, context: object) -> ASGIApp:
    """Put Lambda's context where Mangum puts it."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "aws.context": context}, receive, send)

    return serve


def plain() -> ASGIApp:
    def in_a_thread(request: Request) -> JSONResponse:
        return JSONResponse(at_most_s(300.0))

    async def in_the_loop(request: Request) -> JSONResponse:
        return JSONResponse(at_most_s(300.0))

    return create_plain_app([Route("/in-a-thread", in_a_thread), Route("/in-the-loop", in_the_loop)])


def with_fastapi() -> ASGIApp:
    router = APIRouter()

    @router.get("/in-a-thread")
    def in_a_thread() -> float:
        return at_most_s(300.0)

    @router.get("/in-the-loop")
    async def in_the_loop() -> float:
        return at_most_s(300.0)

    return create_app([router])


@pytest.fixture(params=[plain, with_fastapi])
def app(request: pytest.FixtureRequest) -> Any:
    return request.param()


@pytest.mark.parametrize("path", ["/in-a-thread", "/in-the-loop"])
def test_a_request_waits_no_longer_than_its_invocation_goes_on(app: Any, path: str) -> None:
    assert 0 < TestClient(invoked(app, Invocation())).get(path).json() < 5


@pytest.mark.parametrize("path", ["/in-a-thread", "/in-the-loop"])
def test_elsewhere_there_is_no_end(app: Any, path: str) -> None:
    assert TestClient(app).get(path).json() == 300.0
    assert TestClient(invoked(app, None)).get(path).json() == 300.0
