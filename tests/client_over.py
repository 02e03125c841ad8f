"""Clients of applications in this process: what `skillroute_client` sends, they answer, without a port."""

from __future__ import annotations

from typing import Any

import httpx
from fastapi.testclient import TestClient
from skillroute_client import AsyncSkillroute, Skillroute

URL = "http://testserver"


class AppTransport(httpx.BaseTransport):
    """Asks an application; Starlette's own client is of another library than ours."""

    def __init__(self, app: Any) -> None:
        self._app = TestClient(app, raise_server_exceptions=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        asked = self._app.request(
            request.method, str(request.url), content=request.read(), headers=dict(request.headers.items())
        )
        headers = [(name, value) for name, value in asked.headers.items() if name != "content-encoding"]
        return httpx.Response(asked.status_code, headers=headers, content=asked.content)


def client_over(app: Any, **options: Any) -> Skillroute:
    """Return a client of an application."""
    http = httpx.Client(transport=AppTransport(app))
    return Skillroute(URL, **{"token": None, "sign_region": None, "http": http, **options})


def async_client_over(app: Any, **options: Any) -> AsyncSkillroute:
    """Return a client of an application, to be awaited."""
    http = httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False))
    return AsyncSkillroute(URL, **{"token": None, "sign_region": None, "http": http, **options})
