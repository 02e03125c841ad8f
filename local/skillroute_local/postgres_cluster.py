"""The files of a PostgreSQL cluster: made whole or not at all, and mended where something of them was lost.

    <data_dir>/
    ├── cluster/      PostgreSQL's own data directory
    ├── cluster.new/  one that is being made; a start that was cut short leaves it, and the next one makes it anew
    └── password      of the user `skillroute`; where it is lost, the next start sets a new one

`cluster/` gets its name last, when the user and the database are in it and all of it is on disk.
"""

from __future__ import annotations

import logging
import os
import secrets
import shutil
from pathlib import Path

from skillroute.core.postgres.roles import scram_verifier

from skillroute_local.errors import LocalError, ProgramError
from skillroute_local.postgres_programs import VERSION, Programs

_logger = logging.getLogger(__name__)

NAME = "skillroute"  # of the user and of the database

_INITDB = (
    *("-U", NAME, "--auth=scram-sha-256", "--encoding=UTF8", "--no-instructions"),
    # The same order of strings on every machine.
    *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
    # Not while creating; the finished cluster is synced in one go, which takes 0.05 s instead of 0.5 s to 3 s.
    "--no-sync",
)
_CREATE = f"CREATE DATABASE {NAME}\n"
_FIND = f"SELECT datname FROM pg_database WHERE datname = '{NAME}'\n"
_FOUND = f'datname = "{NAME}"'


class Cluster:
    """A cluster that no server runs on, or none yet.

    Parameters
    ----------
    data_dir : Path
        Where `cluster` and `password` are.
    durable : bool
        False saves the time of syncing to disk.
    """

    def __init__(self, data_dir: Path, *, durable: bool) -> None:
        self.path = data_dir / "cluster"
        self._unfinished = data_dir / "cluster.new"
        self._password_file = data_dir / "password"
        self._durable = durable

    def password(self) -> str | None:
        """Return the password of the user; None where it is lost: no file, or an empty one."""
        try:
            return self._password_file.read_text(encoding="utf-8").strip() or None
        except FileNotFoundError:
            return None

    def prepare(self, programs: Programs) -> None:
        """Make the cluster where there is none, or mend the one that is there. It may be repeated whenever it failed.

        Raises
        ------
        LocalError
            It is of another PostgreSQL, or a program failed; nothing is left that a next time would take for whole.
        """
        version_file = self.path / "PG_VERSION"
        if not version_file.exists():
            if self.path.exists() and any(self.path.iterdir()):
                raise LocalError(
                    f"{self.path} is not a whole cluster of PostgreSQL, PG_VERSION is missing: put back what was in "
                    f"it, or move {self.path} away to begin anew"
                )
            self._make(programs)
            return
        found = version_file.read_text(encoding="utf-8").strip()
        if found != str(VERSION):
            raise LocalError(f"{self.path} is of PostgreSQL {found}, this is {VERSION}: move it away")
        if self.password() is None:
            self.set_password(programs)

    def create_database(self, programs: Programs) -> None:
        """Create the database in a cluster that has none: a full disk kept versions before 0.2 from it, unnoticed."""
        self._create_database(programs, self.path)

    def set_password(self, programs: Programs) -> None:
        """Set a new password without the old one: a cluster is its owner's, who may open it without a login."""
        draft = self._password_file.with_name("password.new")
        verifier = scram_verifier(self._write_password(programs, draft))
        self._single(programs, self.path, f"ALTER ROLE {NAME} PASSWORD '{verifier}'\n")
        draft.replace(self._password_file)
        _logger.warning("%s was lost or of another cluster: a new password is set", self._password_file)

    def _make(self, programs: Programs) -> None:
        shutil.rmtree(self._unfinished, ignore_errors=True)
        self._write_password(programs, self._password_file)
        try:
            programs.run("initdb", "-D", str(self._unfinished), f"--pwfile={self._password_file}", *_INITDB)
            self._create_database(programs, self._unfinished)
            if self._durable:
                programs.run("initdb", "-D", str(self._unfinished), "--sync-only")
        except ProgramError:
            # A disk that was full has room again for whoever looks what to do.
            shutil.rmtree(self._unfinished, ignore_errors=True)
            raise
        self._unfinished.rename(self.path)

    def _create_database(self, programs: Programs, cluster: Path) -> None:
        printed = self._single(programs, cluster, _CREATE + _FIND)
        if not any(_FOUND in line for line in printed):
            raise ProgramError(f"the database {NAME} was not created in {cluster}, and postgres does not say why")

    def _single(self, programs: Programs, cluster: Path, text: str) -> list[str]:
        # Left to itself it goes on after an error, and ends as if there had been none.
        options = ("-c", "exit_on_error=on", *(() if self._durable else ("-F",)))
        return programs.run("postgres", "--single", *options, "-D", str(cluster), "postgres", text=text)

    def _write_password(self, programs: Programs, path: Path) -> str:
        """Write a new password into a file that only its owner may read, and return it."""
        path.unlink(missing_ok=True)
        password = secrets.token_urlsafe(24)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(password)
            file.flush()
            if self._durable:
                os.fsync(descriptor)
        programs.own(path)
        return password
