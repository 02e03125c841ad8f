"""Shared parts of the benchmarks: the machine's description, a fresh database, the server, tables and JSON."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from skillroute.core.observability import logger
from skillroute.core.postgres.migrate import migrate
from skillroute_local.loopback import free_port
from skillroute_local.postgres import EmbeddedPostgres

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
STANDING = HERE / "standing"
SEARCH = "/api/v1/search"
_PACKAGES = (
    "fastapi",
    "pydantic",
    "uvicorn",
    "uvloop",
    "httptools",
    "pg8000",
    "qdrant-edge-py",
    "onnxruntime",
    "numpy",
)
_READY_WITHIN_S = 600.0

logger.setLevel("ERROR")  # a warning for every search without a skill would bury the tables
console = Console()
if not console.is_terminal:  # a pipe or a file has no width
    console = Console(width=200)


def machine() -> dict[str, Any]:
    """Describe where and on what this runs."""
    return {
        "cpu": _cpu_model(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "load_average": [round(load, 2) for load in os.getloadavg()],
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _commit() -> str:
    def git(*args: str) -> str:
        return subprocess.run(["git", *args], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", "layers", "functions", "local", "benchmarks")
        return git("rev-parse", "--short", "HEAD") + (" with uncommitted changes" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with what every script takes."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results, with the machine, here")
    parser.add_argument("--seed", type=int, default=7, help="of everything that is drawn (default: 7)")
    return parser


def numbers(text: str) -> list[int]:
    """Read a list of whole numbers: ``1,8,32``."""
    return [int(part) for part in text.split(",")]


def words(text: str) -> list[str]:
    """Read a list of words: ``hierarchical,direct``."""
    return text.split(",")


def save(args: argparse.Namespace, benchmark: str, results: Mapping[str, Any]) -> None:
    """Write the JSON that `report.py` reads, where ``--json`` asks for it."""
    if args.json is None:
        return
    document = {"benchmark": benchmark, "machine": machine(), "options": vars(args), "results": results}
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(document, indent=1, ensure_ascii=False, default=str) + "\n", encoding="utf-8")
    console.print(f"written: {args.json}")


def print_table(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print rows under the names of the first one's fields."""
    table = Table(title=title, title_justify="left")
    for name, value in rows[0].items():
        table.add_column(name, justify="left" if isinstance(value, str) else "right")
    for row in rows:
        table.add_row(*(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values()))
    console.print(table)


def progress() -> Progress:
    """Return a progress bar; it writes nothing where there is no terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """Return p50, p95 and p99 (nearest rank); zeros of nothing."""
    ranked = sorted(values)

    def at(share: float) -> float:
        return round(ranked[min(len(ranked) - 1, int(share * len(ranked)))], 3) if ranked else 0.0

    return {"p50": at(0.50), "p95": at(0.95), "p99": at(0.99)}


@contextmanager
def fresh_database() -> Iterator[str]:
    """Start PostgreSQL in a temporary folder, migrated and empty, without syncing to disk; yield its URL."""
    with (
        tempfile.TemporaryDirectory(prefix="skillroute-bench-") as directory,
        EmbeddedPostgres(Path(directory) / "postgres", durable=False) as server,
    ):
        migrate(server.url)
        yield server.url


def child_environment(database_url: str) -> dict[str, str]:
    """Return the environment of a process under test: none of the caller's own settings of Skillroute."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SKILLROUTE_")}
    return inherited | {"SKILLROUTE_DATABASE_URL": database_url}


class Server:
    """Skillroute under uvicorn, in a process of its own."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.port = port
        self._process = process
        self._psutil = psutil.Process(process.pid)

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = _READY_WITHIN_S,
    ) -> Any:
        """Send a request and return the answer's JSON, None of an empty answer."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        url = f"http://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, data, sent, method=method)
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            answer = response.read()
        return json.loads(answer) if answer else None

    def wait_for_index(self) -> None:
        """Return when the index is built and, where it is large enough for one, its graph as well."""
        deadline = time.monotonic() + _READY_WITHIN_S
        while self.request("GET", "/ready")["index_rebuilding"]:
            if time.monotonic() > deadline:
                raise RuntimeError("the index is not ready")
            time.sleep(0.2)

    def cpu_s(self) -> float:
        """Return the processor time that it has used so far."""
        times = self._psutil.cpu_times()
        return float(times.user + times.system)

    def memory_mib(self) -> dict[str, float]:
        """Return its resident memory now and at its highest.

        The highest is VmHWM where Linux tells it: ru_maxrss of a child also counts what its parent held at the fork.
        """
        now = self._psutil.memory_info().rss / 2**20
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="utf-8")
            peak = next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM"))
        except (OSError, StopIteration):
            peak = now
        return {"now": round(now, 1), "peak": round(max(peak, now), 1)}


@contextmanager
def serving(database_url: str, *options: str, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Start the server and wait until it answers.

    Parameters
    ----------
    options : str
        Those of ``app_process.py``.
    environment : mapping or None
        Added to that of the process.
    """
    port = free_port()
    command = [sys.executable, str(STANDING / "app_process.py"), "--port", str(port), *options]
    variables = child_environment(database_url) | dict(environment or {})
    # It logs as it does in production, to nobody.
    process = subprocess.Popen(command, env=variables, stdout=subprocess.DEVNULL)
    try:
        server = Server(process, port)
        _wait_until_it_listens(process, server)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=60)


def write_requests(file: Path, lines: Iterable[Sequence[Mapping[str, Any]]]) -> Path:
    """Write what `client.py` sends: a list of requests a line."""
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def drive(server: Server, requests: Path, concurrency: int, seconds: float) -> dict[str, Any]:
    """Load the server from another process; return what `client.py` measured, and the server's processor time."""
    command = [sys.executable, "-S", str(STANDING / "client.py"), str(server.port), str(concurrency), str(seconds)]
    before = server.cpu_s()
    done = subprocess.run([*command, str(requests)], check=True, capture_output=True, text=True)
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured | {"server_cpu_s": round(server.cpu_s() - before, 2)}


def _wait_until_it_listens(process: subprocess.Popen[bytes], server: Server) -> None:
    deadline = time.monotonic() + _READY_WITHIN_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with status {process.returncode}")
        try:
            server.request("GET", "/openapi.json")
        except OSError:
            time.sleep(0.02)
        else:
            return
    raise RuntimeError("the server does not answer")
