"""A real PostgreSQL 18 from a wheel, on a port of 127.0.0.1.

    <data_dir>/
    ├── cluster/      PostgreSQL's own data directory
    ├── password      of the user `skillroute`, made on first start; readable by the owner only
    ├── port          of the last start
    └── server.log    of this start; server.log.1 is the one before

The wheel's own API listens on a Unix socket only. Containers share the host's loopback but not its files, so this one
listens on TCP and on nothing else; others on the same machine reach loopback too, hence the password (scram-sha-256).
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

from skillroute_local.errors import LocalError, ProgramError
from skillroute_local.loopback import HOST, free_port, port_free, require_free_port
from skillroute_local.postgres_programs import VERSION, Postmaster, Programs, clear_stale_pid_file

NAME = "skillroute"  # of the user and of the database

_INITDB = (
    *("-U", NAME, "--auth=scram-sha-256", "--encoding=UTF8", "--no-instructions"),
    # The same order of strings on every machine.
    *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"),
    # Not while creating; the finished cluster is synced in one go, which takes 0.05 s instead of 0.5 s to 3 s.
    "--no-sync",
)
# What is searched of 100,000 tools is 500 MB; of the buffers only what is used takes memory.
_SETTINGS = ("max_connections=100", "shared_buffers=256MB", "synchronous_commit=on", "timezone=UTC")
_NOT_DURABLE = ("fsync=off", "full_page_writes=off", "max_wal_size=128MB")  # the directory may be in memory
_START_WITHIN_S = 120  # recovery after a crash is part of the start
_STOP_WITHIN_S = 60


class EmbeddedPostgres:
    """A PostgreSQL server that lives as long as this object, and whose data stay.

    A server that a killed process left running on the same directory is adopted. Two objects must not use one
    directory at a time: `Home.locked` sees to that.

    Parameters
    ----------
    data_dir : Path
        Made when it is missing.
    port : int or None
        None takes the port of the last start where it is free, else a free one.
    durable : bool
        False saves the time of syncing to disk; a crash of the machine may then destroy the data. For tests.

    Examples
    --------
    >>> with EmbeddedPostgres(Path(".skillroute/postgres")) as postgres:  # doctest: +SKIP
    ...     migrate(postgres.url)
    """

    def __init__(self, data_dir: Path, port: int | None = None, *, durable: bool = True) -> None:
        self._data_dir = data_dir.resolve()
        self._cluster = self._data_dir / "cluster"
        self._password_file = self._data_dir / "password"
        self._port_file = self._data_dir / "port"
        self._log = self._data_dir / "server.log"
        self._wanted_port = port
        self._durable = durable
        self._programs: Programs | None = None
        self._postmaster: Postmaster | None = None
        self.adopted = False

    @property
    def url(self) -> str:
        """``postgresql://skillroute:PASSWORD@127.0.0.1:PORT/skillroute``, of a started server."""
        return self.url_of(NAME)

    def url_of(self, database: str) -> str:
        """Return the URL of another database of this server."""
        try:
            password = self._password_file.read_text(encoding="utf-8").strip()
        except FileNotFoundError as error:
            raise LocalError(
                f"{self._password_file} is missing, and the data with it: remove {self._data_dir} to start again"
            ) from error
        return f"postgresql://{NAME}:{password}@{HOST}:{self._running.port}/{database}"

    @property
    def port(self) -> int:
        """The port of a started server."""
        return self._running.port

    @property
    def pid(self) -> int:
        """The process of a started server."""
        return self._running.pid

    def start(self) -> Self:
        """Start the server, or adopt one that was left running, and return when it accepts connections.

        Raises
        ------
        LocalError
            It cannot start; one line that says why and what to do.
        """
        if self._postmaster is not None:
            return self
        try:
            self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            programs = self._programs = Programs(self._data_dir)
            running = Postmaster.find(self._cluster)
            if running is not None and not self._fits(running):
                self._stop(programs)
                running = None
            if running is None:
                self._initialise(programs)
                running = self._launch(programs)
            else:
                self.adopted = True
        except OSError as error:
            raise LocalError(f"{self._data_dir} cannot be used: {error.strerror} ({error.filename})") from error
        self._postmaster = running
        return self

    def stop(self) -> None:
        """Stop the server that this object started or adopted; open transactions are rolled back."""
        mine, self._postmaster, self.adopted = self._postmaster, None, False
        running = Postmaster.find(self._cluster)
        if mine is not None and running is not None and running.pid == mine.pid and self._programs is not None:
            self._stop(self._programs)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def _running(self) -> Postmaster:
        if self._postmaster is None:
            raise LocalError("PostgreSQL is not started: call start() first")
        return self._postmaster

    def _fits(self, running: Postmaster) -> bool:
        """Return whether a server that was left running is whole, and on the port that is asked for."""
        return running.is_ready and self._wanted_port in (None, running.port)

    def _initialise(self, programs: Programs) -> None:
        """Make the cluster with its user and its database, whole or not at all."""
        version_file = self._cluster / "PG_VERSION"
        if version_file.exists():
            found = version_file.read_text(encoding="utf-8").strip()
            if found != str(VERSION):
                raise LocalError(f"{self._cluster} is of PostgreSQL {found}, this is {VERSION}: move it away")
            return
        unfinished = self._data_dir / "cluster.new"
        shutil.rmtree(unfinished, ignore_errors=True)
        self._password_file.unlink(missing_ok=True)
        descriptor = os.open(self._password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(24))
        programs.own(self._password_file)
        programs.run("initdb", "-D", str(unfinished), f"--pwfile={self._password_file}", *_INITDB)
        create_database = f"CREATE DATABASE {NAME}\n"
        programs.run("postgres", "--single", "-F", "-D", str(unfinished), "postgres", text=create_database)
        if self._durable:
            programs.run("initdb", "-D", str(unfinished), "--sync-only")
        unfinished.rename(self._cluster)

    def _launch(self, programs: Programs) -> Postmaster:
        """Start the server on a port."""
        clear_stale_pid_file(self._cluster)
        port = self._choose_port()
        if self._log.exists():
            self._log.replace(self._log.with_name("server.log.1"))
        settings = " ".join(f"-c {setting}" for setting in _SETTINGS + (() if self._durable else _NOT_DURABLE))
        options = f"-h {HOST} -p {port} -k '' {settings}"
        where = ("-D", str(self._cluster), "-l", str(self._log))
        try:
            programs.run("pg_ctl", "start", "-w", "-t", str(_START_WITHIN_S), *where, "-o", options)
        except ProgramError as error:
            raise LocalError(f"PostgreSQL did not start: {self._reason(error)} (see {self._log})") from error
        running = Postmaster.find(self._cluster)
        if running is None:
            raise LocalError(f"PostgreSQL ended right after its start: see {self._log}")
        self._port_file.write_text(f"{port}\n", encoding="utf-8")
        programs.own(self._port_file)
        return running

    def _choose_port(self) -> int:
        if self._wanted_port is not None:
            require_free_port(self._wanted_port)
            return self._wanted_port
        try:
            last = int(self._port_file.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return free_port()
        return last if port_free(last) else free_port()

    def _reason(self, error: ProgramError) -> str:
        """Return the last fatal line of the server's log: the lines after it only say that it ended."""
        try:
            lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return str(error)
        fatal = [line.partition(level)[2].strip() for line in lines for level in ("FATAL:", "PANIC:") if level in line]
        return fatal[-1] if fatal else str(error)

    def _stop(self, programs: Programs) -> None:
        stop = ("stop", "-w", "-t", str(_STOP_WITHIN_S), "-m", "fast", "-D", str(self._cluster))
        try:
            programs.run("pg_ctl", *stop)
        except ProgramError as error:
            if Postmaster.find(self._cluster) is not None:  # else it ended by itself in between
                raise LocalError(f"PostgreSQL did not stop within {_STOP_WITHIN_S} s: see {self._log}") from error
