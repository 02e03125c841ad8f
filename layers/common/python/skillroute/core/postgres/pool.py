"""Lend connections to units of work: a small pool, one connection per thread at a time.

pg8000 connections must not be shared between threads, so each unit of work borrows one for its length. This module also
decides which failures are retried.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TypeVar

from skillroute.core.errors.model import DatabaseUnavailable, SkillrouteError
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.address import Address, AddressSource, fixed
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.outcome import was_committed
from skillroute.core.postgres.refusals import CommitUnanswered, LoginRefused, NoAnswer
from skillroute.core.time.cooldown import Cooldown
from skillroute.core.time.retry import Retry

T = TypeVar("T")

_TRY_AGAIN_STATES = {"40001", "40P01"}  # serialisation failure, deadlock
_COLLISIONS = Retry(attempts=5, base_s=0.02)  # spreads transactions that collided
# How long a server that did not answer is not asked again, so that not every request waits for it (decision 9).
_REST_S = 1.0
# A connection that was idle for this long is checked before it is used: a round trip (0.1 ms on loopback), where a lost
# connection costs the whole wait for a statement. Requests that follow each other closely skip it.
_IDLE_S = 2.0

CONNECTIONS = 8
"""Connections that one process keeps open between units of work. Not measured."""


class _TakenBack(Exception):
    """Rolls back what was only tried."""


def _is_collision(error: SkillrouteError) -> bool:
    return isinstance(error, StatementRejected) and error.state in _TRY_AGAIN_STATES


class Pool:
    """Lends connections to units of work, and keeps up to `size` of them open between units.

    While the server does not answer, one request at a time waits for it; the others get `DatabaseUnavailable` at once.

    Parameters
    ----------
    address : str or AddressSource
        A URL (see `Address.parse`), or a source that is asked each time that a connection is opened. Nothing is opened
        before the first unit of work.
    connect_timeout_s : float
        The limit of a login, and of every other request that a healthy server answers at once.
    statement_timeout_s : float
        The limit of a statement.
    idle_timeout_s : float
        After so long without use the server ends a connection, and the next unit of work opens another; 0: never. The
        server does it, since a process that Lambda has frozen can close nothing.
    clock : callable
        Seconds; replaced in tests.
    """

    def __init__(
        self,
        address: str | AddressSource,
        *,
        size: int = CONNECTIONS,
        connect_timeout_s: float = 2.0,
        statement_timeout_s: float = 20.0,
        idle_timeout_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = fixed(Address.parse(address)) if isinstance(address, str) else address
        self._size = size
        self._connect_timeout_s = connect_timeout_s
        self._statement_timeout_s = statement_timeout_s
        self._idle_timeout_s = idle_timeout_s
        self._clock = clock
        self._outage = Cooldown(_REST_S, clock)
        self._idle: list[Connection] = []
        self._lock = threading.Lock()

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` with each statement on its own. It may run twice, so it must only read."""
        lent: Connection | None = None
        try:
            with self.borrowed() as lent:
                return work(lent)
        except DatabaseUnavailable:
            # A reused connection may have been lost while it was idle; a fresh one would fail the same way again.
            if lent is None or not lent.broken or not lent.reused:
                raise
        with self.borrowed() as lent:
            return work(lent)

    def snapshot(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction that sees one moment and only reads. It may run twice."""

        def at_one_moment(connection: Connection) -> T:
            with connection.snapshot():
                return work(connection)

        return self.read(at_one_moment)

    def transact(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction; after a deadlock or a lost connection it runs again from its start.

        When it returns, the changes are stored. If the answer to COMMIT is lost, PostgreSQL is asked what became of it.

        Raises
        ------
        OutcomeUnknown
            It is not known whether the changes are stored.
        DatabaseUnavailable, StatementRejected
            The changes are not stored.
        """
        return _COLLISIONS.run(lambda: self._transaction(work), again=_is_collision)

    def taken_back(self, work: Callable[[Connection], T]) -> T:
        """Run `work` as `transact` does, and take back what it did: it is only tried."""
        tried: list[T] = []

        def attempt(connection: Connection) -> None:
            tried.append(work(connection))
            raise _TakenBack

        with suppress(_TakenBack):
            self.transact(attempt)
        return tried[-1]

    def together(self) -> AbstractContextManager[None]:
        """Follow up nothing: `FollowedDatabase` does."""
        return nullcontext()

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def borrowed(self) -> Iterator[Connection]:
        """Lend a connection for the length of a block, which is not retried."""
        with self._lent(lambda connection: connection.check(idle_s=_IDLE_S)) as connection:
            yield connection

    def _transaction(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction, and once more if the first was lost and is known not to be stored."""
        for is_last in (False, True):
            lent: Connection | None = None
            results: list[T] = []
            try:
                with self._lent(Connection.begin) as lent, lent.begun():
                    results.append(work(lent))
            except CommitUnanswered as lost:
                if not was_committed(lost, self._ask, within_s=2 * self._connect_timeout_s):
                    if is_last:
                        raise DatabaseUnavailable("PostgreSQL went away before a COMMIT, twice") from lost
                    continue
            except DatabaseUnavailable:
                # What took too long once would take too long again; only a lost connection is retried.
                if is_last or lent is None or not lent.broken or not lent.reused or lent.hung:
                    raise
                continue
            return results[0]
        raise AssertionError("unreachable")

    def _ask(self, question: Callable[[Connection], str | None]) -> str | None:
        with self.borrowed() as connection, connection.answering_within(self._connect_timeout_s):
            return question(connection)

    @contextmanager
    def _lent(self, prepare: Callable[[Connection], None]) -> Iterator[Connection]:
        """Lend a connection that `prepare` succeeded on: an idle one, else a fresh one."""
        connection = self._from_idle()
        if connection is None or not self._prepare(connection, prepare):
            connection = self._connect()
            self._prepare(connection, prepare)
        try:
            yield connection
        finally:
            self._take_back(connection)

    def _prepare(self, connection: Connection, prepare: Callable[[Connection], None]) -> bool:
        """Prepare a connection. Return False when it was lost while it was idle; raise every other error."""
        try:
            prepare(connection)
        except BaseException as error:
            is_lost = connection.broken and isinstance(error, DatabaseUnavailable)
            connection.broken = True  # a transaction may be open
            self._take_back(connection)
            if is_lost and connection.reused:
                return False
            raise
        return True

    def _from_idle(self) -> Connection | None:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            connection.reused = True
        return connection

    def _take_back(self, connection: Connection) -> None:
        if connection.hung and not connection.reused:
            self._outage.failed("PostgreSQL does not answer")
        with self._lock:
            if not connection.broken and len(self._idle) < self._size:
                self._idle.append(connection)
                return
            # Connections that answered after this one's last request are healthy; the others may be lost as well.
            stale = [other for other in self._idle if connection.broken and other.answered_at <= connection.asked_at]
            self._idle = [other for other in self._idle if other not in stale]
        for closing in (connection, *stale):
            closing.close()

    def _connect(self) -> Connection:
        if (reason := self._outage.begin()) is not None:
            raise DatabaseUnavailable(f"{reason}; it is not asked again yet")
        try:
            connection = self._opened()
        except NoAnswer as error:
            self._outage.failed(str(error))
            raise
        except BaseException:
            self._outage.succeeded()  # a refusal costs no wait, so it is not remembered
            raise
        self._outage.succeeded()
        return connection

    def _opened(self) -> Connection:
        address = self._address()
        try:
            return self._opened_at(address)
        except LoginRefused:
            # The password may have been changed since it was read.
            if (renewed := self._address(again=True)) == address:
                raise
            return self._opened_at(renewed)

    def _opened_at(self, address: Address) -> Connection:
        return Connection(
            address,
            connect_timeout_s=self._connect_timeout_s,
            statement_timeout_s=self._statement_timeout_s,
            idle_timeout_s=self._idle_timeout_s,
            clock=self._clock,
        )
