"""The directory that holds everything a local Skillroute keeps, for one process at a time.

    .skillroute/
    ├── lock                 locked by the process that runs; says its pid
    ├── run.json             where it answers, while it does
    ├── history.sqlite       what it did in the last hours and days
    ├── skillroute.log       warnings and errors of one that was started in a terminal
    ├── tokens.key           the key that encrypts what persons log in with at servers, once one did
    ├── token-key.pem        the private key that signs tokens for trying, once one was made
    ├── postgres/            see skillroute_local.postgres
    └── index/replica-*      replicas of the vector index, of no use without their process

The lock is flock's: the kernel releases it however the process ends, and child processes do not inherit it. Windows has
none, and nothing runs in a directory there: `fcntl` is loaded where there is something to lock, so that commands which
call a Skillroute elsewhere, and `connect`, start without it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

from skillroute_local.errors import LocalError

_REPLICA = re.compile(r"replica-(\d+)-.+")
_CLOCK_SLACK_S = 2.0


@dataclass(frozen=True, slots=True)
class Run:
    """Where a running Skillroute answers. The database's URL holds its password, so it is not shown."""

    pid: int
    url: str
    database_url: str = field(repr=False)
    sqs_url: str
    started_at: str
    tokens: dict[str, str] | None = None  # what tokens of this home's key must look like; None: it takes none


class Home:
    """The state directory.

    Parameters
    ----------
    path : Path
        Made by `locked` when it is missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()
        self.postgres_dir = self.path / "postgres"
        self.index_dir = self.path / "index"
        self.run_file = self.path / "run.json"
        self.history_file = self.path / "history.sqlite"
        self.log_file = self.path / "skillroute.log"
        self.lock_file = self.path / "lock"
        self.token_key_file = self.path / "token-key.pem"

    @classmethod
    def from_environment(cls) -> Home:
        """Return the directory that SKILLROUTE_HOME names, else ``.skillroute`` in the working directory."""
        return cls(Path(os.environ.get("SKILLROUTE_HOME") or ".skillroute"))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the directory, cleared of what killed processes left; the kernel unlocks it for a killed one.

        Raises
        ------
        LocalError
            Another Skillroute has locked it, or it cannot be written.
        """
        try:
            # Others may pass, not look: root's PostgreSQL runs as another user. What lies inside is closed to them.
            self.path.mkdir(mode=0o711, parents=True, exist_ok=True)
            self.index_dir.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LocalError(
                f"{self.path} cannot be used ({error.strerror}): set SKILLROUTE_HOME to another directory"
            ) from error
        try:
            self._take(descriptor)
            self._remove_dead_replicas()
            try:
                self.run_file.unlink(missing_ok=True)
                yield
            finally:
                self.run_file.unlink(missing_ok=True)
        finally:
            os.close(descriptor)  # and with it the lock

    def announce(self, run: Run) -> None:
        """Write run.json at once and whole, readable by the owner only. Call it when everything is ready."""
        draft = self.run_file.with_name("run.json.new")
        draft.unlink(missing_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(run), file, indent=2)
        draft.replace(self.run_file)

    def running(self) -> Run | None:
        """Return where the Skillroute of this directory answers, None when none runs or it is not ready.

        A run.json that a killed process left counts for nothing.
        """
        run = self._read_run()
        if run is None or not psutil.pid_exists(run.pid) or not self._is_locked():
            return None
        return run

    def _take(self, descriptor: int) -> None:
        import fcntl  # noqa: PLC0415 (see above)

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            pid = os.read(descriptor, 32).decode("ascii", "replace").strip()
            run = self._read_run()
            who = [f"pid {pid}"] if pid else []
            who += [run.url] if run is not None and str(run.pid) == pid else []
            known = f" ({', '.join(who)})" if who else ""
            raise LocalError(
                f"another Skillroute is using {self.path}{known}: stop it or set SKILLROUTE_HOME"
            ) from error
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode("ascii"))

    def _is_locked(self) -> bool:
        """Return whether a process has locked the directory, by trying for an instant."""
        import fcntl  # noqa: PLC0415 (see above)

        try:
            with self.lock_file.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False
        return False

    def _read_run(self) -> Run | None:
        try:
            return Run(**json.loads(self.run_file.read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):  # none, or of another version
            return None

    def _remove_dead_replicas(self) -> None:
        for replica in self.index_dir.iterdir():
            made_by = _REPLICA.fullmatch(replica.name)
            if made_by and not _could_have_made(int(made_by[1]), replica):
                shutil.rmtree(replica, ignore_errors=True)  # a leftover is no reason not to start


def _could_have_made(pid: int, path: Path) -> bool:
    """Return whether the living process `pid` is older than `path`: numbers are used again, in containers at once."""
    try:
        process = psutil.Process(pid)
        born = process.create_time()
        is_alive = process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
    return bool(is_alive and born <= path.stat().st_mtime + _CLOCK_SLACK_S)
