"""Measures the cost of one request: processor time of this process and of PostgreSQL, memory, and bytes."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pg8000.native
import psutil
from fastapi import FastAPI
from skillroute.core.answer_size import on_the_way

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of the application."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a request.

    Attributes
    ----------
    cpu_s, database_cpu_s : float
        Processor time of all threads of this process, and of PostgreSQL's processes (in steps of 10 ms).
    memory_mib : float or None
        How far resident memory rose at its highest; None where Linux does not tell.
    answer_mib : float
        What the body weighs as part of Lambda's answer.
    """

    cpu_s: float
    database_cpu_s: float
    memory_mib: float | None
    answer_mib: float


class Caller:
    """Asks an application within this process, as Mangum does: the body in one piece, without a network."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._runner = asyncio.Runner()

    def __call__(self, method: str, target: str, body: bytes | None = None) -> Answer:
        """Return the answer; `target` is a path with its query."""
        return self._runner.run(self._ask(method, target, body or b""))

    async def _ask(self, method: str, target: str, body: bytes) -> Answer:
        path, _, query = target.partition("?")
        headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [*headers, (b"content-length", str(len(body)).encode())],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._app(scope, receive, send)
        found = {name.decode().lower(): value.decode("latin-1") for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:]))

    def close(self) -> None:
        self._runner.close()


class Meter:
    """Measures requests, one after the other.

    Parameters
    ----------
    database_url : str
        Of a PostgreSQL on this machine that does nothing else meanwhile.
    """

    def __init__(self, database_url: str) -> None:
        parts = urlsplit(database_url)
        with closing(
            pg8000.native.Connection(
                parts.username or "",
                host=parts.hostname or "localhost",
                port=parts.port or 5432,
                password=parts.password,
                database=parts.path.lstrip("/"),
                ssl_context=False,
            )
        ) as connection:
            [[backend]] = connection.run("SELECT pg_backend_pid()")
            self._postmaster = psutil.Process(psutil.Process(backend).ppid())

    def measure(self, ask: Callable[[], Answer]) -> tuple[Answer, Cost]:
        """Return the answer of a request and what it cost."""
        before_mib = _fresh_peak()
        database_s, started_s = self.database_s(), time.process_time()
        answer = ask()
        cpu_s, database_s = time.process_time() - started_s, self.database_s() - database_s
        peak_mib = _mib("VmHWM")
        memory_mib = None if before_mib is None or peak_mib is None else max(0.0, peak_mib - before_mib)
        return answer, Cost(cpu_s, database_s, memory_mib, on_the_way(answer.body) / 2**20)

    def database_s(self) -> float:
        """Return the processor time that PostgreSQL's processes have used so far."""
        times = self._postmaster.cpu_times()
        total = float(times.children_user + times.children_system)  # of those that ended
        for child in self._postmaster.children():
            try:
                used = child.cpu_times()
            except psutil.NoSuchProcess:
                continue
            total += float(used.user + used.system)
        return total


def _fresh_peak() -> float | None:
    """Give back what is free, let the highest resident memory begin again, and return what is resident."""
    gc.collect()
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        _CLEAR.write_text("5", "ascii")
    except (OSError, AttributeError):
        return None
    return _mib("VmRSS")


def _mib(name: str) -> float | None:
    try:
        lines = _STATUS.read_text("utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith(name)), None)
