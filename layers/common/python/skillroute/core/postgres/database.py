"""Units of work over PostgreSQL, as use cases see them; repositories are made from the session of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Session(Protocol):
    """One connection for the length of a unit of work."""

    def run(self, name: str, /, **params: object) -> list[list[Any]]:
        """Run a statement of the .sql files by its name and return its rows."""
        ...


class Database(Protocol):
    """Units of work. Every method raises `DatabaseUnavailable` when PostgreSQL cannot be reached."""

    def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` with each statement on its own; it may run twice, so it must only read."""
        ...

    def snapshot(self, work: Callable[[Session], T]) -> T:
        """Run `work` in one transaction that sees one moment and only reads. It may run twice."""
        ...

    def transact(self, work: Callable[[Session], T]) -> T:
        """Run `work` in one transaction; after a deadlock or a lost connection it runs again from its start.

        Raises
        ------
        OutcomeUnknown
            It is not known whether the changes are stored.
        """
        ...
