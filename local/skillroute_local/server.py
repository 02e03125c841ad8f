"""The web process of the laptop: the routes of all functions in one app, on one port, with docs at /docs."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio.to_thread
import uvicorn
from fastapi import FastAPI
from skillroute.core.http.app import create_app
from skillroute.identity.links import LINK_PATH
from skillroute.identity.routes import CALLBACK_PATH
from skillroute.wiring import Parts

from skillroute_local.api_document.pages import add_pages
from skillroute_local.browsers import Hosts, OwnPagesOnly
from skillroute_local.http_in_time import RequestsInTime

# Requests take turns at the interpreter anyway; more threads than this only make each wait longer. With 40, FastAPI's
# default, the p95 of 8 connections at 10,000 tools was four times that of 2 (benchmarks/standing/latency.py --threads).
THREADS = 4


def local_app(parts: Parts, *, threads: int = THREADS, hosts: Hosts | None = None) -> FastAPI:
    """Return one app with all routes, for programs and for its own pages; `hosts` says what else it may be called."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = threads
        yield

    routers, use_cases = parts.served()
    app = create_app(
        routers,
        access=parts.access,
        use_cases=use_cases,
        too_large=parts.mcp.too_large,
        cors_origins=parts.cors_origins,
        trace=lambda: parts.tracing.watch,
    )
    add_pages(app, routers)
    app.router.lifespan_context = lifespan
    landings = (CALLBACK_PATH, LINK_PATH)  # authorization servers lead to the one, and agents' answers to the other
    app.add_middleware(OwnPagesOnly, hosts=hosts or Hosts(), pages=parts.cors_origins, landings=landings)
    return app


def serve(app: FastAPI, sock: socket.socket, *, on_ready: Callable[[], None]) -> None:
    """Serve a listening socket until Ctrl-C or SIGTERM; requests under way get five seconds to end."""
    config = uvicorn.Config(
        app, http=RequestsInTime, log_level="warning", access_log=False, timeout_graceful_shutdown=5
    )
    _Server(config, on_ready).run(sockets=[sock])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()
