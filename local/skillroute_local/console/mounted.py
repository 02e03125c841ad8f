"""The console below `/console` of the laptop's Skillroute, made when it is first opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from skillroute_local.browsers import Hosts, OwnPagesOnly

if TYPE_CHECKING:
    from skillroute_client import AsyncSkillroute

    from skillroute_local.console.lent_parts import LendParts
    from skillroute_local.history.source import History

PATH = "/console"


def add_console(
    app: FastAPI,
    *,
    url: str,
    requests: Path,
    hosts: Hosts,
    lend: LendParts | None,
    history: History | None = None,
    home: Path | None = None,
    reaches: bool = True,
) -> None:
    """Let an app serve the console below `/console`, which asks that very app.

    It asks as whoever opens the page: with the token that is entered there, and as nobody without.

    Parameters
    ----------
    app : FastAPI
    url : str
        Of the app, to be shown.
    requests : Path
        The file of judged requests that marking results writes.
    hosts : Hosts
        What the machine may be called. Other origins that may ask the API have nothing to do here.
    lend, history, home : callable, History or None, Path or None
        Lends the database and the queues to whoever opens the page, has figures of hours and days, and its folder; see
        `console_app`.
    reaches : bool
        Whether an import reaches addresses for who opens the page.
    """

    def made() -> ASGIApp:
        # The client package and the pages: nobody waits for them who opens no page.
        from skillroute_local.console.app import console_app  # noqa: PLC0415

        connect = _connection(app, url)
        console = console_app(
            connect, url=url, requests=requests, lend=lend, history=history, home=home, reaches=reaches
        )
        return OwnPagesOnly(console, hosts)

    def to_the_page(_: Request) -> Response:
        return RedirectResponse(f"{PATH}/", status_code=308)

    app.add_route(PATH, to_the_page, methods=["GET"], include_in_schema=False)
    app.mount(PATH, OnFirstRequest(made))


class OnFirstRequest:
    """ASGI application that is made when it is first asked."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._app is None:
            self._app = self._make()
        await self._app(scope, receive, send)


def _connection(app: FastAPI, url: str) -> Callable[[str | None], AsyncSkillroute]:
    import httpx  # noqa: PLC0415
    from skillroute_client import AsyncSkillroute, Retry  # noqa: PLC0415

    # Within the process: no port, no name that another could have.
    http = httpx.AsyncClient(transport=httpx.ASGITransport(app, raise_app_exceptions=False))

    def connect(token: str | None) -> AsyncSkillroute:
        return AsyncSkillroute(url, token=token, sign_region=None, http=http, retry=Retry(attempts=2))

    return connect
