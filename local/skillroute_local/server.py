"""The web process of the laptop: both functions' routes in one app, on one port, with docs at /docs."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio.to_thread
import uvicorn
from fastapi import FastAPI
from skillroute.bootstrap import Parts
from skillroute.errors import SkillrouteError
from skillroute.observability import logger
from skillroute.web.app import create_app

# Requests take turns at the interpreter anyway; more threads than this only make each wait longer. With 40, FastAPI's
# default, the p95 of 8 connections at 10,000 tools was four times that of 2 (benchmarks/latency.py --threads).
THREADS = 4
_EMBED_MISSING_EVERY_S = 15.0


def local_app(parts: Parts, *, threads: int = THREADS) -> FastAPI:
    """Return one app with all routes."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = threads
        yield

    app = create_app([*parts.search_routers(), *parts.catalog_routers()])
    app.router.lifespan_context = lifespan
    return app


class Housekeeping:
    """Embeds what was written while the model was away, every `every_s` seconds."""

    def __init__(self, parts: Parts, *, every_s: float = _EMBED_MISSING_EVERY_S) -> None:
        self._parts = parts
        self._every_s = every_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)

    def __enter__(self) -> Housekeeping:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            try:
                embedded = self._parts.embed_missing()
            except SkillrouteError as error:
                logger.warning("could not embed what waits", extra={"reason": str(error)})
                continue
            if embedded:
                logger.info("embedded what had waited for the model", extra={"rows": embedded})


def serve(app: FastAPI, sock: socket.socket, *, on_ready: Callable[[], None]) -> None:
    """Serve a listening socket until Ctrl-C or SIGTERM; requests under way get five seconds to end."""
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=5)
    _Server(config, on_ready).run(sockets=[sock])


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_ready()
