"""A pool with the rights that the functions have, not those of the owner who connects (docs/adr/0031)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.pool import Pool

from tests.conftest import TEMPLATE

T = TypeVar("T")


class RestrictedPool:
    """Reads with the reader's rights, as searches do, and writes with the writer's; over a copy of the template.

    Of the owner's connections, so that no test waits for logins of its own.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def read(self, work: Callable[[Connection], T]) -> T:
        def reading(connection: Connection) -> T:
            connection.script(f"SET ROLE {TEMPLATE}_reader")
            try:
                return work(connection)
            finally:
                if not connection.broken:
                    connection.script("RESET ROLE")

        return self._pool.read(reading)

    def snapshot(self, work: Callable[[Connection], T]) -> T:
        return self._pool.snapshot(lambda connection: _acting_as("reader", connection, work))

    def transact(self, work: Callable[[Connection], T]) -> T:
        return self._pool.transact(lambda connection: _acting_as("writer", connection, work))

    def taken_back(self, work: Callable[[Connection], T]) -> T:
        return self._pool.taken_back(lambda connection: _acting_as("writer", connection, work))

    def together(self) -> AbstractContextManager[None]:
        return self._pool.together()


def _acting_as(group: str, connection: Connection, work: Callable[[Connection], T]) -> T:
    connection.script(f"SET LOCAL ROLE {TEMPLATE}_{group}")  # until the transaction ends
    return work(connection)
