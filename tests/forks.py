"""Start Python processes that need not import: `fork_server.py` forks them, each with what it has imported.

A function takes 0.7 s of a processor to start (relay) or 1.9 s (search), and forked 0.15 s or 0.55 s: two cores.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.vectors import VARIABLE

_SERVER = Path(__file__).with_name("fork_server.py")
# What is read while modules are imported: who has other values than the server imports for itself.
_AT_IMPORT = ("AWS_LAMBDA_FUNCTION_NAME", "COLUMNS", "POWERTOOLS_METRICS_NAMESPACE", "SKILLROUTE_LOG_LEVEL")


class Forked:
    """A process in a session of its own, as `subprocess.Popen` has it."""

    def __init__(self, server: ForkServer, pid: int) -> None:
        self._server = server
        self._returncode: int | None = None
        self.pid = pid

    def poll(self) -> int | None:
        """Return how it ended, None while it runs."""
        if self._returncode is None:
            self._returncode = self._server.ask(ended=self.pid)
        return self._returncode

    def wait(self, timeout: float) -> int:
        """Wait for its end and return how it ended."""
        began = time.monotonic()
        while (returncode := self.poll()) is None:
            waited_s = time.monotonic() - began
            if waited_s > timeout:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            pause(waited_s)
        return returncode

    def kill(self) -> None:
        """Kill it, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, 9)


class ForkServer:
    """Forks processes off one that is started by the first request and lives as long as this one.

    Parameters
    ----------
    env : mapping of str to str
        What the modules of all see while they are imported.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = dict(env)
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, code: str, args: Sequence[str], env: Mapping[str, str], stdout: Path, stderr: Path) -> Forked:
        """Start what `python -c` would start, reading nothing and appending to files."""
        alone = any(self._env.get(name) != env.get(name) for name in _AT_IMPORT)
        request = {"code": code, "args": list(args), "env": dict(env), "alone": alone}
        return Forked(self, self.ask(**request, stdout=str(stdout), stderr=str(stderr)))

    def run(
        self, code: str, args: Sequence[str], env: Mapping[str, str], *, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        with tempfile.TemporaryDirectory(prefix="skillroute-forks-") as directory:
            stdout, stderr = Path(directory) / "stdout", Path(directory) / "stderr"
            process = self.start(code, args, env, stdout, stderr)
            try:
                returncode = process.wait(timeout)
            finally:
                process.kill()
            return subprocess.CompletedProcess(list(args), returncode, _text(stdout), _text(stderr))

    def ask(self, **request: Any) -> Any:
        """Send one request and return its answer."""
        with self._lock:
            process = self._process = self._process or self._started()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{json.dumps(request)}\n".encode())
            process.stdin.flush()
            return json.loads(process.stdout.readline())

    def _started(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, str(_SERVER)],
            env=self._env | {name: os.environ[name] for name in (VARIABLE,) if name in os.environ},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the tests, which end it
        )
        atexit.register(process.communicate)
        return process


def pause(waited_s: float) -> None:
    """Pause before something is asked again that was waited for so long: a twentieth of it, 5 ms to 0.1 s.

    Who asks every 5 ms takes a good part of a processor from what it waits for.
    """
    time.sleep(min(max(0.005, waited_s / 20), 0.1))


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")
