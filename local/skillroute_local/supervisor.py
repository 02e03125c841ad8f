"""Keeps the event pump and PostgreSQL running for as long as this process does."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Self, TextIO

import psutil
from skillroute.core.observability import Metric, count, logger

from skillroute_local.errors import LocalError

if TYPE_CHECKING:
    from skillroute_local.postgres import EmbeddedPostgres

_MIN_PAUSE_S = 0.5
_MAX_PAUSE_S = 30.0
_WAS_WELL_AFTER_S = 30.0
_ENDS_WITHIN_S = 5.0
_LOOK_EVERY_S = 0.5
# Of looking after PostgreSQL, which goes on: a process that was not let in, or for which there were no more files.
_FAILURES = (LocalError, OSError, psutil.Error)


class Pauses:
    """How long to wait before what ended is started again: longer each time, until it has run well for a while."""

    def __init__(self) -> None:
        self._next_s = _MIN_PAUSE_S

    def after(self, ran_s: float) -> float:
        """Return the seconds to wait after something has run for `ran_s` seconds."""
        pause_s = _MIN_PAUSE_S if ran_s > _WAS_WELL_AFTER_S else self._next_s
        self._next_s = min(_MAX_PAUSE_S, 2 * pause_s)
        return pause_s


class Pump:
    """The pump's process, started again when it dies.

    It reads a pipe that this process holds the other end of, so it ends with this process, however that ends.

    Parameters
    ----------
    env : mapping of str to str
        The pump's whole environment.
    args : str
        Further arguments of `skillroute_local.pump`.
    output : file or None
        Takes what it prints; None leaves it the standard output of this process.
    """

    def __init__(self, env: Mapping[str, str], *args: str, output: TextIO | None = None) -> None:
        self._output = output
        self._env = dict(env)
        self._command = [sys.executable, "-m", "skillroute_local.pump", "--until-stdin-closes", *args]
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._keep_running, name="pump", daemon=True)

    @property
    def pid(self) -> int | None:
        """The process id of the pump that runs, None while none does."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def start(self) -> Self:
        """Start it, in the background."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End it. A handler at work gets some seconds to finish."""
        self._stop.set()
        with self._lock:
            process = self._process
        if process is not None:
            _close_stdin(process)
            try:
                process.wait(_ENDS_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _keep_running(self) -> None:
        pauses = Pauses()
        while process := self._started():
            began = time.monotonic()
            status = process.wait()
            _close_stdin(process)
            if self._stop.is_set():
                return
            pause_s = pauses.after(time.monotonic() - began)
            logger.warning("the event pump ended and is started again", extra={"status": status, "in_s": pause_s})
            self._stop.wait(pause_s)

    def _started(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._stop.is_set():
                return None
            self._process = subprocess.Popen(  # noqa: S603 (our own arguments)
                self._command,
                env=self._env,
                stdin=subprocess.PIPE,
                stdout=self._output,
                # Ctrl-C goes to the whole group of the terminal; the pump is ended by this process.
                start_new_session=True,
            )
            return self._process


class PostgresKeeper:
    """Starts PostgreSQL again, on the port that it had, when it is killed or ends by itself, as on a full disk.

    Parameters
    ----------
    postgres : EmbeddedPostgres
        Started. It is this object's to start again until `stop` has returned.
    say : callable
        Takes a line for whoever looks at the terminal.
    """

    def __init__(self, postgres: EmbeddedPostgres, say: Callable[[str], object]) -> None:
        self._postgres = postgres
        self._say = say
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_running, name="postgres-keeper", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Start it no more. A start under way is waited for."""
        self._stop.set()
        self._thread.join()

    def _keep_running(self) -> None:
        pauses, began = Pauses(), time.monotonic()
        while not self._stop.wait(_LOOK_EVERY_S):
            try:
                if self._postgres.is_running():
                    continue
                what, has_ended = "PostgreSQL has ended, and is started again", True
            except _FAILURES as error:
                what, has_ended = f"cannot determine whether PostgreSQL runs: {error}", False
            pause_s = pauses.after(time.monotonic() - began)
            self._tell(what, in_s=pause_s)
            if self._stop.wait(pause_s):
                return
            began = time.monotonic()
            if has_ended:
                self._start_again()

    def _start_again(self) -> None:
        try:
            self._postgres.start_again()
        except _FAILURES as error:
            self._tell(f"PostgreSQL is not back yet: {error}")
        else:
            count(Metric.POSTGRES_RESTARTED)
            self._tell("PostgreSQL is back")

    def _tell(self, what: str, **details: object) -> None:
        logger.warning(what, extra=details)
        # A terminal that was closed ends nothing here; SystemExit is how rich says that a pipe has no reader any more.
        with suppress(OSError, SystemExit):
            self._say(what)


def _close_stdin(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
