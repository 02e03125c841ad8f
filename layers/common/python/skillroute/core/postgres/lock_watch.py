"""Find out which sessions another one waits for, while it waits: the error of a lock timeout names none."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.address import Address
from skillroute.core.postgres.connection import Connection


@dataclass(frozen=True, slots=True)
class Blocker:
    """A session that another one waits for. What this login may not see is None."""

    pid: int
    application: str | None
    state: str | None
    since: datetime | None
    words: str | None

    def __str__(self) -> str:
        if not self.pid:
            return "a prepared transaction (see pg_prepared_xacts)"
        state = self.state or "in a state that this login may not see"
        if self.since is not None:
            state += f" since {self.since.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
        shown = [self.application or "without a name", state, *([self.words] if self.words else [])]
        return f"process {self.pid} ({', '.join(shown)})"


class LockWatch:
    """Looks regularly, over a connection of its own, which sessions another one waits for.

    Parameters
    ----------
    pid : int
        The session's process in the server.
    every_s : float
        Seconds between looks. No connection is opened before the first one.
    """

    def __init__(self, address: Address, pid: int, *, every_s: float) -> None:
        self._address = address
        self._pid = pid
        self._every_s = every_s
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="lock-watch", daemon=True)
        self._blockers: list[Blocker] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._is_over.set()
        self._thread.join()

    @property
    def blockers(self) -> list[Blocker]:
        """The sessions that it waited for when it was last seen waiting; empty when it never was."""
        return self._blockers

    def _watch(self) -> None:
        connection: Connection | None = None
        # The names are a help; without them the migration still reports that it was blocked.
        with suppress(DatabaseUnavailable, StatementRejected):
            while not self._is_over.wait(self._every_s):
                connection = connection or Connection(self._address, connect_timeout_s=5.0, statement_timeout_s=5.0)
                if rows := connection.run("blocking_sessions", pid=self._pid):
                    self._blockers = [Blocker(*row) for row in rows]
        if connection is not None:
            connection.close()
