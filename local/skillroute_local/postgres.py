"""A real PostgreSQL 18 from a wheel, on a port of 127.0.0.1.

    <data_dir>/
    ├── cluster/, password    see skillroute_local.postgres_cluster; readable by the owner only
    ├── port                  of the last start
    └── server.log            of this start; server.log.1 is the one before

The wheel's own API listens on a Unix socket only. Containers share the host's loopback but not its files, so this one
listens on TCP and on nothing else; others on the same machine reach loopback too, hence the password (scram-sha-256).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

import pg8000.native

from skillroute_local.errors import LocalError, ProgramError
from skillroute_local.loopback import HOST, free_port, port_free, require_free_port
from skillroute_local.postgres_cluster import NAME, Cluster
from skillroute_local.postgres_programs import Postmaster, Programs, clear_stale_pid_file

# What is searched of 100,000 tools is 500 MB; of the buffers only what is used takes memory.
_SETTINGS = ("max_connections=100", "shared_buffers=256MB", "synchronous_commit=on", "timezone=UTC")
_NOT_DURABLE = ("fsync=off", "full_page_writes=off", "max_wal_size=128MB")  # the directory may be in memory
_START_WITHIN_S = 120  # recovery after a crash is part of the start
_STOP_WITHIN_S = 60

Mend = Callable[[Cluster, Programs], None]
_MENDS: dict[str, Mend] = {"28P01": Cluster.set_password, "3D000": Cluster.create_database}
"""Codes with which PostgreSQL refuses a login: a wrong password, no such database."""


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
        self._files = Cluster(self._data_dir, durable=durable)
        self._cluster = self._files.path
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
        password = self._files.password()
        if password is None:
            raise LocalError(
                f"{self._data_dir / 'password'} is gone since the start: start again, which sets a new one"
            )
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
            self.adopted = running is not None and self._fits(running)
            if running is None or not self.adopted:
                running = self._restart(programs)
            mend = self._needed(running.port)
            if mend is not None:
                running, self.adopted = self._restart(programs, mend), False
        except OSError as error:
            raise LocalError(f"{self._data_dir} cannot be used: {error.strerror} ({error.filename})") from error
        self._postmaster = running
        return self

    def is_running(self) -> bool:
        """Return whether the server that this object started or adopted still runs."""
        running = Postmaster.find(self._cluster)
        return running is not None and running.pid == self._running.pid

    def start_again(self) -> None:
        """Start a server that has ended once more, on the port that it had: others know it by its URL.

        Raises
        ------
        LocalError
            It cannot start; it may be tried again.
        """
        if self._programs is None:
            raise LocalError("PostgreSQL is not started: call start() first")
        self._wanted_port = self._running.port
        try:
            self._postmaster = self._restart(self._programs)
        except OSError as error:
            raise LocalError(f"{self._data_dir} cannot be used: {error.strerror} ({error.filename})") from error

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
        is_open = self._files.password() is not None
        return is_open and running.is_ready and self._wanted_port in (None, running.port)

    def _needed(self, port: int) -> Mend | None:
        """Return what lets us into a server that does not let us in; None where it does, or nothing of ours helps."""
        password = self._files.password()
        try:
            pg8000.native.Connection(NAME, host=HOST, port=port, password=password, database=NAME, timeout=10).close()
        except pg8000.native.DatabaseError as error:
            return _MENDS.get(error.args[0].get("C"))
        except pg8000.native.InterfaceError:  # it does not answer: whoever asks it next says so
            return None
        return None

    def _restart(self, programs: Programs, mend: Mend | None = None) -> Postmaster:
        """Start the server anew, over files that are whole; `mend` is done between."""
        if Postmaster.find(self._cluster) is not None:
            self._stop(programs)
        clear_stale_pid_file(self._cluster)
        self._files.prepare(programs)
        if mend is not None:
            mend(self._files, programs)
        try:
            return self._launch(programs)
        except OSError:  # of the file that keeps the port, where the disk is full
            if Postmaster.find(self._cluster) is not None:
                self._stop(programs)
            raise

    def _launch(self, programs: Programs) -> Postmaster:
        """Start the server on a port."""
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
