"""The console as a process of its own, on loopback, for a Skillroute here or elsewhere."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn
from skillroute_client import AsyncSkillroute, ConfigurationError, Retry
from skillroute_client.connection import Token, execute_api_region, is_here
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route

from skillroute_local.browsers import Hosts, OwnPagesOnly
from skillroute_local.console.app import Connect, console_app
from skillroute_local.console.lent_parts import LendParts
from skillroute_local.errors import Misused
from skillroute_local.history.source import History
from skillroute_local.http_in_time import RequestsInTime

_GZIP_FROM_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Target:
    """The Skillroute that a console asks, and as whom where no token is entered on the page."""

    url: str
    token: Token | None = None
    sign_region: str | None = None


def connection(target: Target) -> Connect:
    """Return what makes the clients of a target.

    Raises
    ------
    Misused
        The URL is none, or there are both a token and a region.
    """
    if target.token and target.sign_region:
        raise Misused("requests are signed or carry a token: give --sign-region or --token, not both")
    http = httpx.AsyncClient(trust_env=not is_here(target.url))
    retry = Retry(attempts=2)  # somebody looks at the page: what does not pass at once is shown

    def connect(entered: str | None) -> AsyncSkillroute:
        token = entered or target.token
        region = None if token else target.sign_region or execute_api_region(target.url)
        return AsyncSkillroute(target.url, token=token, sign_region=region, http=http, retry=retry)

    try:
        connect(None)
    except ConfigurationError as error:
        raise Misused(str(error)) from error
    return connect


def whole_app(
    target: Target,
    *,
    requests: Path,
    key: str | None,
    lend: LendParts | None = None,
    history: History | None = None,
    home: Path | None = None,
) -> Starlette:
    """Return the console below `/console`, which refuses other hosts and other origins."""
    console = console_app(
        connection(target), url=target.url, requests=requests, key=key, lend=lend, history=history, home=home
    )
    to_the_page = RedirectResponse("/console/", status_code=308)
    return Starlette(
        routes=[Route("/", to_the_page), Route("/console", to_the_page), Mount("/console", console)],
        middleware=[
            Middleware(OwnPagesOnly, hosts=Hosts()),
            Middleware(GZipMiddleware, minimum_size=_GZIP_FROM_BYTES),
        ],
    )


def new_key() -> str:
    """Return a key: other users of the machine reach the port, and without it get nothing."""
    return secrets.token_urlsafe(24)


def serve(app: Starlette, sock: socket.socket, *, on_ready: Callable[[], None]) -> None:
    """Serve a listening socket until Ctrl-C or SIGTERM."""
    config = uvicorn.Config(
        app, http=RequestsInTime, log_level="warning", access_log=False, timeout_graceful_shutdown=2
    )
    server = uvicorn.Server(config)
    started = server.startup

    async def startup(sockets: list[socket.socket] | None = None) -> None:
        await started(sockets)
        on_ready()

    server.startup = startup  # type: ignore[method-assign]
    server.run(sockets=[sock])
