"""Following up commits: what is to be done once a transaction that made news is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from skillroute.core.postgres.database import Database, Session

T = TypeVar("T")


class _Block:
    """Transactions that are followed up together."""

    def __init__(self) -> None:
        self.has_news = False


class FollowedDatabase:
    """A database that does something after each commit with news: once, outside the transaction, before it returns.

    A transaction has news when its work calls `Session.note_news`. One that is rolled back, or only tried, has none.

    Parameters
    ----------
    database : Database
    follow_up : callable
        Has to handle what goes wrong: what it raises reaches the caller, whose changes are stored.
    """

    def __init__(self, database: Database, follow_up: Callable[[], object]) -> None:
        self._database = database
        self._follow_up = follow_up
        self._block: ContextVar[_Block | None] = ContextVar("block", default=None)

    def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` with each statement on its own."""
        return self._database.read(work)

    def snapshot(self, work: Callable[[Session], T]) -> T:
        """Run `work` in one transaction that sees one moment and only reads."""
        return self._database.snapshot(work)

    def transact(self, work: Callable[[Session], T]) -> T:
        """Run `work` in one transaction, and follow it up if it has news; within `together` at the end of the block."""
        news: list[bool] = []

        def noted(session: Session) -> T:
            result = work(session)
            news.append(session.has_news)
            return result

        result = self._database.transact(noted)
        if news[-1]:  # of the attempt that was stored
            self._committed()
        return result

    def taken_back(self, work: Callable[[Session], T]) -> T:
        """Run `work` and take back what it did, which is no news."""
        return self._database.taken_back(work)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Follow up all commits of this thread's block at its end, once; also when it raises: they are stored."""
        if self._block.get() is not None:
            yield
            return
        block = _Block()
        token = self._block.set(block)
        try:
            yield
        finally:
            self._block.reset(token)
            if block.has_news:
                self._follow_up()

    def _committed(self) -> None:
        block = self._block.get()
        if block is None:
            self._follow_up()
        else:
            block.has_news = True
