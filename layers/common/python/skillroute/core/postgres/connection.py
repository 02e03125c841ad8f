"""One connection to PostgreSQL: prepared statements by name, transactions, and a limit to every wait.

What the network says is translated here, and what the server says in `refusals.py`: `DatabaseUnavailable` when nothing
answers or the server is going down, `StatementRejected` with the SQLSTATE and the constraint's name otherwise.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pg8000.native

from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.postgres.address import Address
from skillroute.core.postgres.converters import ADAPTERS, array
from skillroute.core.postgres.login import log_in
from skillroute.core.postgres.queries import plan_cache_mode, statement
from skillroute.core.postgres.refusals import (
    BROKEN,
    CommitUnanswered,
    ConnectionUnusable,
    NoAnswer,
    TookTooLong,
    refusal,
    unanswered,
)
from skillroute.core.time.time_left import at_most_s

Rows = list[list[Any]]

# The server's own limit comes first, and its message says more: it needs time to arrive.
_GRACE_S = 1.0
# With the transaction's id in the same round trip: after a lost COMMIT it could not be read any more (docs/adr/0029).
_BEGIN = "BEGIN; SELECT pg_current_xact_id()::text"


class Connection:
    """One connection with its prepared statements. Not to be shared between threads.

    Attributes
    ----------
    broken : bool
        The connection must not be used again.
    hung : bool
        It broke because the server did not answer in time.
    reused : bool
        It was idle in the pool before, and may have been lost there.
    server : str
        The history of transactions that the server writes; see `server_history` in sessions.sql.
    has_news : bool
        News were noted in the transaction, and not undone.
    asked_at, answered_at : float
        When the last request was sent, and when the last answer was complete, by `clock`.
    """

    def __init__(
        self,
        address: Address,
        *,
        connect_timeout_s: float,
        statement_timeout_s: float,
        idle_timeout_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        login = log_in(
            address,
            connect_timeout_s=connect_timeout_s,
            statement_timeout_s=statement_timeout_s,
            idle_timeout_s=idle_timeout_s,
        )
        self._native, self._sock, self.server = login.native, login.sock, login.server
        for oid, adapter in ADAPTERS.items():  # before anything is prepared: a statement keeps those it began with
            self._native.register_in_adapter(oid, adapter)
        self._native.register_out_adapter(list, array)
        self._connect_timeout_s = connect_timeout_s
        self._patience_s = statement_timeout_s + min(_GRACE_S, connect_timeout_s)
        self._clock = clock
        self.asked_at = self.answered_at = clock()
        self.broken = self.hung = self.reused = self.has_news = False
        self._prepared: dict[str, pg8000.native.PreparedStatement] = {}
        self._plans: str | None = "auto"  # as PostgreSQL begins; None: whatever it was before a rollback
        self._xid = ""

    def run(self, name: str, /, **params: object) -> Rows:
        """Run a statement of the .sql files by its name."""
        with self._exchange():
            if name not in self._prepared:
                self._prepared[name] = self._native.prepare(statement(name))
            if (plans := plan_cache_mode(name)) != self._plans:
                self._native.run(f"SET plan_cache_mode = {plans}")
                self._plans = plans
            return self._prepared[name].run(**params) or []

    def script(self, sql: str) -> Rows:
        """Run SQL text without parameters, and return its rows; several statements may stand in it."""
        with self._exchange():
            return self._native.run(sql) or []

    @contextmanager
    def answering_within(self, seconds: float) -> Iterator[None]:
        """Limit the wait for each answer in this block: for requests that a healthy server answers at once."""
        before, self._patience_s = self._patience_s, min(seconds, self._patience_s)
        try:
            yield
        finally:
            self._patience_s = before

    def check(self, *, idle_s: float) -> None:
        """Check the connection by a round trip when it was idle for that many seconds. Raises `DatabaseUnavailable`.

        A proxy, a firewall or a failover may have dropped it meanwhile without notice.
        """
        if self._clock() - self.answered_at >= idle_s:
            with self.answering_within(self._connect_timeout_s):
                self.script("SELECT 1")

    def begin(self) -> None:
        """Begin a transaction, within the connect timeout: a healthy server answers at once."""
        with self.answering_within(self._connect_timeout_s):
            self._xid = self.script(_BEGIN)[0][0]
        self.has_news = False

    def note_news(self) -> None:
        """Note that the transaction has news: its commit is followed up."""
        self.has_news = True

    @contextmanager
    def begun(self) -> Iterator[None]:
        """End the transaction that has begun: commit at the end of the block, roll back when it raises.

        Raises
        ------
        CommitUnanswered
            The connection was lost between COMMIT and its answer.
        """
        try:
            yield
            self._commit()
        except BaseException:
            self._plans = None  # what was set since is undone
            if not self.broken:
                self.script("ROLLBACK")
            raise

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin a transaction and end it with the block, as `begin` and `begun` do."""
        self.begin()
        with self.begun():
            yield

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what was done in this block of a transaction when it raises; the transaction goes on."""
        self.script("SAVEPOINT attempt")
        had_news = self.has_news
        try:
            yield
        except BaseException:
            self._plans, self.has_news = None, had_news  # what was set since is undone
            if not self.broken:
                self.script("ROLLBACK TO SAVEPOINT attempt; RELEASE SAVEPOINT attempt")
            raise
        self.script("RELEASE SAVEPOINT attempt")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let every statement of the block see the moment of the first one; none of them may write."""
        with self.answering_within(self._connect_timeout_s):
            self.script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            yield
        finally:
            self._plans = None  # what was set since is undone
            if not self.broken:
                self.script("ROLLBACK")

    def close(self) -> None:
        """Close the socket; a connection that is gone already is no error."""
        if self.broken:  # else the message that ends the session could wait for a peer that reads nothing any more
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        try:
            self._native.close()
        except BROKEN:
            self.broken = True

    def _commit(self) -> None:
        try:
            self.script("COMMIT")
        except DatabaseUnavailable as error:
            if not self.broken:  # the server refused, and has rolled back
                raise
            raise CommitUnanswered(xid=self._xid, server=self.server) from error

    @contextmanager
    def _exchange(self) -> Iterator[None]:
        """Limit the wait for an answer, and translate what goes wrong."""
        wait_s = at_most_s(self._patience_s)
        self._sock.settimeout(wait_s)
        self.asked_at = self._clock()
        try:
            yield
        except pg8000.native.DatabaseError as error:
            self.answered_at = self._clock()
            meant = refusal(error)
            self.broken = self.broken or isinstance(meant, ConnectionUnusable)
            raise meant from error
        except BROKEN as error:
            self.broken = True
            broke = unanswered(error)
            self.hung = isinstance(broke, NoAnswer)
            if self.hung and wait_s < self._patience_s:  # the invocation ends; the server may be healthy
                self.hung = False
                broke = TookTooLong("PostgreSQL did not answer in the time that was left")
            raise broke from error
        except BaseException:
            # Whatever it was, an answer may be half read, and the next one to ask would get the rest of it.
            self.broken = True
            raise
        self.answered_at = self._clock()
