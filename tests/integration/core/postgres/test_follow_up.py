"""Commits with news are followed up: once, after the commit, and not where nothing was stored."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.database import Session, WithinTransaction
from skillroute.core.postgres.follow_up import FollowedDatabase
from skillroute.core.postgres.pool import Pool

TABLE = "CREATE TABLE IF NOT EXISTS followed (value int PRIMARY KEY)"


@pytest.fixture
def database_url(fresh_database_url: str) -> str:
    """A database for each test, since it makes a table."""
    return fresh_database_url


class Followed:
    """A followed database, and the rows that each follow-up saw, from a connection of its own."""

    def __init__(self, pool: Pool) -> None:
        pool.transact(lambda connection: connection.script(TABLE))
        self.pool = pool
        self.seen: list[list[int]] = []
        self.database = FollowedDatabase(pool, lambda: self.seen.append(self.rows()))

    def rows(self) -> list[int]:
        return [row[0] for row in self.pool.read(lambda c: c.script("SELECT value FROM followed ORDER BY value"))]


@pytest.fixture
def followed(pool: Pool) -> Followed:
    return Followed(pool)


def insert(value: int, *, is_news: bool = True) -> Callable[[Session], None]:
    def work(session: Session) -> None:
        assert isinstance(session, Connection)
        session.script(f"INSERT INTO followed VALUES ({value})")
        if is_news:
            session.note_news()
            session.note_news()

    return work


def test_a_commit_with_news_is_followed_up_once_when_others_see_what_was_stored(followed: Followed) -> None:
    followed.database.transact(insert(1))
    assert followed.seen == [[1]]


def test_a_commit_without_news_is_not_followed_up_whatever_the_one_before_it_had(followed: Followed) -> None:
    followed.database.transact(insert(1))
    followed.database.transact(insert(2, is_news=False))
    assert followed.seen == [[1]]


def test_nothing_is_followed_up_after_a_rollback(followed: Followed) -> None:
    followed.database.transact(insert(1))
    with pytest.raises(StatementRejected):
        followed.database.transact(insert(1))
    assert (len(followed.seen), followed.rows()) == (1, [1])


def test_what_is_only_tried_is_not_followed_up(followed: Followed) -> None:
    def trial(session: Session) -> None:
        within = WithinTransaction(session)
        with within.together():
            within.transact(insert(1))

    followed.database.taken_back(trial)
    assert (followed.seen, followed.rows()) == ([], [])


def test_news_that_a_savepoint_took_back_are_none(followed: Followed) -> None:
    def work(session: Session) -> None:
        with suppress(ValueError), session.savepoint():
            insert(1)(session)
            raise ValueError

    followed.database.transact(work)
    assert followed.seen == []

    def another(session: Session) -> None:
        insert(2)(session)
        work(session)

    followed.database.transact(another)
    assert followed.seen == [[2]]


def test_the_attempt_that_was_stored_says_whether_there_are_news(followed: Followed) -> None:
    tries: list[int] = []

    def work(session: Session) -> None:
        tries.append(len(tries))
        if len(tries) == 1:
            session.note_news()
            raise StatementRejected("deadlock detected", state="40P01", constraint=None)
        insert(1, is_news=False)(session)

    followed.database.transact(work)
    assert (len(tries), followed.seen) == (2, [])


def test_a_block_is_followed_up_once_at_its_end(followed: Followed) -> None:
    with followed.database.together():
        followed.database.transact(insert(1))
        with followed.database.together():
            followed.database.transact(insert(2))
        assert followed.seen == []
    followed.database.transact(insert(3))
    assert followed.seen == [[1, 2], [1, 2, 3]]


def test_a_block_without_news_is_not_followed_up(followed: Followed) -> None:
    with followed.database.together():
        followed.database.transact(insert(1, is_news=False))
    assert followed.seen == []


def test_what_was_stored_is_followed_up_when_its_block_fails_later(followed: Followed) -> None:
    with pytest.raises(DatabaseUnavailable), followed.database.together():
        followed.database.transact(insert(1))
        raise DatabaseUnavailable("PostgreSQL cannot be reached")
    assert followed.seen == [[1]]


def test_without_a_follow_up_news_are_ignored(followed: Followed) -> None:
    with followed.pool.together():
        followed.pool.transact(insert(1))
    assert followed.rows() == [1]
