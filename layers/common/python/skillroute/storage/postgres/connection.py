"""Connections to PostgreSQL: a small pool, one connection a thread at a time, prepared statements by name.

pg8000 connections must not be shared between threads, so each unit of work borrows one for its length. What the
network says is translated here, once, and what the server says in `refusals.py`: `DatabaseUnavailable` when nothing
answers or the server is going down, `StatementRejected` with the SQLSTATE and the constraint's name otherwise.
"""

from __future__ import annotations

import random
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from struct import error as struct_error
from typing import Any, TypeVar

import pg8000.native

from skillroute.errors import DatabaseUnavailable, StatementRejected
from skillroute.storage.postgres.address import Address, AddressSource, fixed
from skillroute.storage.postgres.converters import ADAPTERS, array
from skillroute.storage.postgres.queries import plan_cache_mode, statement
from skillroute.storage.postgres.refusals import ConnectionUnusable, LoginRefused, refusal

T = TypeVar("T")
Rows = list[list[Any]]

# pg8000 lets some socket errors through as they are, and reads a closed socket as a short struct.
_BROKEN = (pg8000.native.InterfaceError, OSError, struct_error)
_TRY_AGAIN_STATES = {"40001", "40P01"}  # serialisation failure, deadlock
_ATTEMPTS = 5


class Connection:
    """One connection with its prepared statements.

    `broken` tells that it must not be used again, `hung` that the server did not answer rather than go away.
    """

    def __init__(self, address: Address, *, connect_timeout_s: float, statement_timeout_s: float) -> None:
        try:
            sock = socket.create_connection((address.host, address.port), connect_timeout_s)
        except OSError as error:
            raise DatabaseUnavailable(f"PostgreSQL at {address.host}:{address.port} cannot be reached") from error
        sock.settimeout(statement_timeout_s + 1.0)  # the server's own limit comes first and says more
        self.broken = self.hung = False
        with ExitStack() as undo, self._translated():
            undo.callback(sock.close)
            self._native = _logged_in(sock, address)
            # Not at the login: proxies and poolers refuse a login with settings that they do not know.
            self._native.run(f"SET statement_timeout = {int(statement_timeout_s * 1000)}")
            for oid, adapter in ADAPTERS.items():  # before anything is prepared: a statement keeps those it began with
                self._native.register_in_adapter(oid, adapter)
            self._native.register_out_adapter(list, array)
            undo.pop_all()
        self._prepared: dict[str, pg8000.native.PreparedStatement] = {}
        self._plans: str | None = "auto"  # as PostgreSQL begins; None: whatever it was before a rollback

    def run(self, name: str, /, **params: object) -> Rows:
        """Run a statement of the .sql files by its name."""
        with self._translated():
            if name not in self._prepared:
                self._prepared[name] = self._native.prepare(statement(name))
            if (plans := plan_cache_mode(name)) != self._plans:
                self._native.run(f"SET plan_cache_mode = {plans}")
                self._plans = plans
            return self._prepared[name].run(**params) or []

    def script(self, sql: str) -> None:
        """Run SQL text without parameters; several statements may stand in it. For migrations."""
        with self._translated():
            self._native.run(sql)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block, roll back when it raises."""
        self.script("BEGIN")
        try:
            yield
            self.script("COMMIT")
        except BaseException:
            self._plans = None  # what was set since is undone
            if not self.broken:
                self.script("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the socket; a connection that is gone already is no error."""
        try:
            self._native.close()
        except _BROKEN:
            self.broken = True

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except pg8000.native.DatabaseError as error:
            meant = refusal(error)
            self.broken = self.broken or isinstance(meant, ConnectionUnusable)
            raise meant from error
        except TimeoutError as error:
            self.broken = True
            self.hung = True
            raise DatabaseUnavailable("PostgreSQL does not answer") from error
        except _BROKEN as error:
            self.broken = True
            self.hung = isinstance(error.__cause__, TimeoutError)
            raise DatabaseUnavailable("the connection to PostgreSQL was lost") from error
        except BaseException:
            # Whatever it was, an answer may be half read, and the next one to ask would get the rest of it.
            self.broken = True
            raise


def _logged_in(sock: socket.socket, address: Address) -> pg8000.native.Connection:
    """Log in over a connected socket."""
    context = address.ssl_context()
    try:
        return pg8000.native.Connection(
            address.user,
            host=address.host,
            # pg8000 cannot tell a server that asks for a password that there is none.
            password=address.password or "",
            database=address.database,
            ssl_context=context,
            sock=sock,
            application_name="skillroute",
            # Times are given in UTC, whatever the server's own zone is (decisions 28).
            startup_params={"timezone": "UTC", "datestyle": "ISO"},
        )
    except ssl.SSLError as error:
        raise DatabaseUnavailable(
            f"PostgreSQL at {address.host}:{address.port} is not who it should be, or its TLS is not ours ({error}): "
            "give its authorities as sslrootcert in the secret, or sslmode=require, which does not ask who answers"
        ) from error
    except pg8000.native.InterfaceError as error:
        if context is False:
            raise
        raise DatabaseUnavailable(
            f"PostgreSQL at {address.host}:{address.port} offers no TLS, or closed the connection "
            f"(sslmode={address.sslmode}): {error}"
        ) from error


class Pool:
    """Lends connections to units of work, and keeps up to `size` of them open between units.

    Parameters
    ----------
    address : str or AddressSource
        A URL (see `Address.parse`), or who says where the database is each time that a connection is opened. Nothing is
        opened before the first unit of work.
    """

    def __init__(
        self,
        address: str | AddressSource,
        *,
        size: int = 8,
        connect_timeout_s: float = 2.0,
        statement_timeout_s: float = 20.0,
    ) -> None:
        self._address = fixed(Address.parse(address)) if isinstance(address, str) else address
        self._size = size
        self._connect_timeout_s = connect_timeout_s
        self._statement_timeout_s = statement_timeout_s
        self._idle: list[Connection] = []
        self._lock = threading.Lock()

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` with each statement on its own. It may run twice, so it must only read."""
        return self._with_connection(work)

    def transact(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction; after a deadlock or a lost connection it runs again from its start.

        A connection lost during COMMIT leaves open whether the work is stored, and then the work runs twice:
        every write of Skillroute is written so that the second time changes nothing.
        """

        def in_transaction(connection: Connection) -> T:
            with connection.transaction():
                return work(connection)

        for attempt in range(_ATTEMPTS):
            try:
                return self._with_connection(in_transaction)
            except StatementRejected as error:
                if error.state not in _TRY_AGAIN_STATES or attempt == _ATTEMPTS - 1:
                    raise
                time.sleep(random.uniform(0.0, 0.02 * 2**attempt))  # noqa: S311 (to part those who met)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def borrowed(self) -> Iterator[Connection]:
        """Lend a connection for the length of a block; nothing is tried twice."""
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            with self._lock:
                keep = not connection.broken and len(self._idle) < self._size
                if keep:
                    self._idle.append(connection)
            if not keep:
                connection.close()

    def _with_connection(self, work: Callable[[Connection], T]) -> T:
        pooled = bool(self._idle)
        lent: Connection | None = None
        try:
            with self.borrowed() as lent:
                return work(lent)
        except DatabaseUnavailable:
            # What took too long once would take too long again; only a lost connection is worth a second one.
            if not pooled or lent is None or not lent.broken or lent.hung:
                raise
        # The connection was opened before the server went away, and so were the others. A fresh one tells.
        self.close()
        with self.borrowed() as connection:
            return work(connection)

    def _connect(self) -> Connection:
        address = self._address()
        try:
            return self._opened(address)
        except LoginRefused:
            # The password may have been changed since it was read.
            if (renewed := self._address(again=True)) == address:
                raise
            return self._opened(renewed)

    def _opened(self, address: Address) -> Connection:
        return Connection(
            address, connect_timeout_s=self._connect_timeout_s, statement_timeout_s=self._statement_timeout_s
        )
