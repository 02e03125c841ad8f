"""Units of work over PostgreSQL, as use cases see them; repositories are made from the session of one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Session(Protocol):
    """One connection for the length of a unit of work."""

    def run(self, name: str, /, **params: object) -> list[list[Any]]:
        """Run a statement of the .sql files by its name and return its rows."""
        ...

    def savepoint(self) -> AbstractContextManager[None]:
        """Undo what was done in a block of a transaction when the block raises; the transaction goes on."""
        ...

    @property
    def has_news(self) -> bool:
        """Whether news were noted in this transaction, and not undone."""
        ...

    def note_news(self) -> None:
        """Note that the transaction makes work for a queue, or changes what is searched: its commit is followed up."""
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

    def taken_back(self, work: Callable[[Session], T]) -> T:
        """Run `work` as `transact` does, and take back what it did: it is only tried."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Follow up the transactions of a block once, at its end, where commits are followed up."""
        ...


class WithinTransaction:
    """A database within a transaction that is open: each unit of work sees what those before it wrote.

    What is tried is kept until the transaction ends, which is to take all of it back.

    Parameters
    ----------
    session : Session
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def read(self, work: Callable[[Session], T]) -> T:
        """Run `work`."""
        return work(self._session)

    def snapshot(self, work: Callable[[Session], T]) -> T:
        """Run `work`: it sees what was written so far."""
        return work(self._session)

    def transact(self, work: Callable[[Session], T]) -> T:
        """Run `work`, and undo what it did when it raises."""
        with self._session.savepoint():
            return work(self._session)

    def taken_back(self, work: Callable[[Session], T]) -> T:
        """Run `work` as `transact` does: what it did is seen by what is tried after it."""
        return self.transact(work)

    def together(self) -> AbstractContextManager[None]:
        """Follow up nothing: it is taken back."""
        return nullcontext()
