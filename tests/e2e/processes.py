"""Real processes for the tests: started, asked, waited for, interrupted and killed."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self, TypeVar

import httpx
import psutil
import uvicorn
from fastapi import FastAPI
from skillroute.core.embedding.hashing import HashingEmbedder
from skillroute_local.home import Home
from skillroute_local.loopback import listen
from skillroute_local.postgres_programs import Postmaster

from tests.forks import ForkServer, pause
from tests.soak import SOAK  # noqa: F401 (the tests here take it from here)

T = TypeVar("T")

HASHING = {"SKILLROUTE_EMBEDDING_PROVIDER": "hashing"}
"""Settings of a server that loads no model: a second less for each start."""

_CLI = "import sys; sys.argv[0] = 'skillroute'; from skillroute_local.cli import main; main()"
_SERVE = Path(__file__).with_name("serve.py")
_WITHIN_S = 180.0  # where all takes ten times as long, as in CI; what is wrong waits as long, and rarely


def eventually(condition: Callable[[], T], what: str, *, within_s: float = _WITHIN_S) -> T:
    """Return the condition's first true result; it is asked again and again until the time is up, see `pause`."""
    began = time.monotonic()
    while not (result := condition()):
        waited_s = time.monotonic() - began
        assert waited_s < within_s, f"not within {within_s:g} s: {what}"
        pause(waited_s)
    return result


def environment(home: Path, **settings: str) -> dict[str, str]:
    """Return what a process sees: nothing of the Skillroute that may run beside the tests; tables 200 wide."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SKILLROUTE_") and name != "PORT"}
    return kept | {"SKILLROUTE_HOME": str(home), "SKILLROUTE_LOG_LEVEL": "WARNING", "COLUMNS": "200"} | settings


def cli(home: Path, *args: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run `skillroute` with these arguments to its end."""
    return next(_forks).run(_CLI, args, environment(home, **settings), timeout=_WITHIN_S)


# In turn: strings have other hashes in each, as they have in processes that start alone, so that what goes by the order
# of a set goes otherwise in two servers.
_forks = itertools.cycle([ForkServer(environment(Path(os.devnull))) for _ in range(2)])


class Running:
    """A Python process in a session of its own, as a terminal would start it, whose output goes to a file."""

    def __init__(self, code: str, args: Sequence[str], env: dict[str, str], output: Path) -> None:
        self._output = output
        output.touch()
        self._process = next(_forks).start(code, args, env, output, output)
        self.pid = self._process.pid

    @property
    def output(self) -> str:
        """All that it has written so far."""
        return self._output.read_text(encoding="utf-8", errors="replace")

    def interrupt(self, signal_: signal.Signals = signal.SIGINT) -> int:
        """Press Ctrl-C: the terminal sends it to the whole group. Return the exit status."""
        os.killpg(self.pid, signal_)
        return self.wait()

    def kill(self) -> None:
        """Kill the process with SIGKILL, if it still runs, and collect it."""
        self._process.kill()
        self.wait()

    def wait(self) -> int:
        """Wait for its end and return the exit status."""
        return self._process.wait(timeout=_WITHIN_S)

    def _unless_ended(self, result: T) -> T:
        assert self._process.poll() is None, f"it ended before it was ready:\n{self.output}"
        return result


class Server(Running):
    """A process that answers HTTP.

    Attributes
    ----------
    url : str
        Known once it is ready.
    http : httpx.Client
        For `url`. A request that takes half a minute hangs.
    """

    url: str
    http: httpx.Client

    def ready(self) -> Self:
        """Return when it answers."""
        self.url = eventually(lambda: self._unless_ended(self._announced()), "the server says where it answers")
        self.http = self.client()
        return self

    def client(self) -> httpx.Client:
        """Return another client, for another thread."""
        return httpx.Client(base_url=self.url, timeout=30.0, trust_env=False)

    def put(self, *items: dict[str, Any]) -> dict[str, Any]:
        """Write items; what the server answers must be 200."""
        return answered(self.http.put("/api/v1/tools", json={"items": items}))

    def search(self, query: str, **request: Any) -> dict[str, Any]:
        """Search; what the server answers must be 200."""
        return answered(self.http.post("/api/v1/search", json={"query": query, **request}))

    def items(self, **where: Any) -> list[dict[str, Any]]:
        """List items, up to 1000."""
        found: list[dict[str, Any]] = answered(self.http.get("/api/v1/tools", params={"limit": 1000, **where}))
        return found

    def close(self) -> None:
        """Kill it and let go of the connections."""
        self.kill()
        if "http" in self.__dict__:
            self.http.close()

    def _announced(self) -> str | None:
        return next((line for line in self.output.splitlines() if line.startswith("http://")), None)


class Up(Server):
    """`skillroute up --port 0`, unless another port is asked for."""

    def __init__(self, home: Path, output: Path, *args: str, **settings: str) -> None:
        self.home = Home(home)
        super().__init__(_CLI, ("up", "--port", "0", *args), environment(home, **settings), output)

    def postmaster(self) -> Postmaster | None:
        """Return the PostgreSQL of its home, None when none runs."""
        return Postmaster.find(self.home.postgres_dir / "cluster")

    def _announced(self) -> str | None:
        run = self.home.running()
        return run.url if run is not None and run.pid == self.pid else None


class Bare(Server):
    """The web server alone, over a database: `serve.py`."""

    def __init__(self, home: Path, output: Path, database_url: str, *args: str, **settings: str) -> None:
        env = environment(home, SKILLROUTE_DATABASE_URL=database_url, **settings)
        super().__init__(f"import runpy; runpy.run_path({str(_SERVE)!r}, run_name='__main__')", args, env, output)


class Processes:
    """Starts servers that end with the test, whatever becomes of it."""

    def __init__(self, outputs: Path) -> None:
        self._outputs = outputs
        self._started: list[Server] = []

    def up(self, home: Path, *args: str, **settings: str) -> Up:
        """Start everything on a home; `ready` waits for it."""
        return self._noted(Up(home, self._output(), *args, **settings))

    def bare(self, home: Path, database_url: str, *args: str, **settings: str) -> Bare:
        """Start a web server over a database; `ready` waits for it."""
        return self._noted(Bare(home, self._output(), database_url, *args, **settings))

    def close(self) -> None:
        """End all that still runs, PostgreSQL of killed servers included."""
        for server in self._started:
            server.close()
            left = server.postmaster() if isinstance(server, Up) else None
            if left is not None:
                with suppress(psutil.NoSuchProcess):
                    os.kill(left.pid, signal.SIGQUIT)  # at once, without tidying up
                    eventually(lambda pid=left.pid: has_ended(pid), "PostgreSQL ends")

    def _output(self) -> Path:
        return self._outputs / f"output-{len(self._started)}.txt"

    def _noted(self, server: T) -> T:
        self._started.append(server)  # type: ignore[arg-type]
        return server


def answered(response: httpx.Response, status: int = 200) -> Any:
    """Return the JSON of a response that must have this status."""
    assert response.status_code == status, f"{response.status_code}: {response.text}"
    return response.json()


def has_ended(pid: int) -> bool:
    """Tell whether a process that is no child has ended; in a container nobody may collect it."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@contextmanager
def served(app: FastAPI) -> Iterator[httpx.Client]:
    """Serve an app of this process on a port, in a thread, and lend a client for it."""
    sock = listen()
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, name="served")
    thread.start()
    try:
        eventually(lambda: server.started, "the app is served")
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"
        with httpx.Client(base_url=url, timeout=30.0, trust_env=False) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
        sock.close()


class EmbeddingStub:
    """An OpenAI-compatible endpoint on a port of its own, that can go away and come back. Its vectors count words."""

    dimension = 64

    def __init__(self) -> None:
        self._port = 0
        self._server: ThreadingHTTPServer | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where it answers, or did when it was there."""
        return f"http://127.0.0.1:{self._port}/v1"

    def start(self) -> Self:
        """Listen, on the same port as the last time."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), _Embeddings)
        self._port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def stop(self) -> None:
        """Go away: connections are refused from now on."""
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
            self._server = self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()


class _Embeddings(BaseHTTPRequestHandler):
    # HTTP/1.0, the default: no connection outlives its request, so none is answered after `stop`.
    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["content-length"])))["input"]
        vectors = HashingEmbedder(EmbeddingStub.dimension).embed(texts, timeout_s=10)
        data = [{"index": index, "embedding": list(vector)} for index, vector in enumerate(vectors)]
        body = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""
