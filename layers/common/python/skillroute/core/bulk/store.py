"""Storing many things in one transaction, all but those that PostgreSQL refuses, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.core.bulk.writing import DoneT, InT, OutT, Writing
from skillroute.core.errors.model import StatementRejected
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database, Session


class _TakenBack(Exception):
    """Rolls back what was only tried."""


def store(
    database: Database, writing: Writing[InT, DoneT, OutT], rows: Sequence[InT], *, keep: bool = True
) -> tuple[DoneT | None, list[tuple[InT, str]]]:
    """Store rows in one transaction, all but those that PostgreSQL refuses; return these with the reason.

    Without `keep` the transaction is taken back.

    Raises
    ------
    StatementRejected
        A refusal that is not about data.
    DatabaseUnavailable
    """
    if not rows:
        return None, []
    try:
        return _stored(database, writing, rows, keep), []
    except StatementRejected as error:
        if not error.is_about_data:
            raise
    wrong = _refused(database, writing, rows)
    for reason in wrong.values():
        logger.warning("%s rejected by the database", writing.noun, extra={"reason": reason})
    left = [row for place, row in enumerate(rows) if place not in wrong]
    done = _stored(database, writing, left, keep) if left else None
    return done, [(rows[place], reason) for place, reason in wrong.items()]


def _stored(database: Database, writing: Writing[InT, DoneT, OutT], rows: Sequence[InT], keep: bool) -> DoneT:
    """Store rows in one transaction, which is taken back unless they are to be kept; return what was done."""
    run = database.transact if keep else database.taken_back
    return run(lambda session: writing.store(session, rows))


def _refused(database: Database, writing: Writing[InT, DoneT, OutT], rows: Sequence[InT]) -> dict[int, str]:
    """Return which of some rows PostgreSQL refuses, by place, and why, when it refused them together.

    They are written and rolled back, half by half, so that the others can then be written in one transaction: nothing
    is ever stored in part, and one bad row among 500 costs some 20 attempts, not 500.
    """

    def attempt(session: Session, part: Sequence[InT]) -> None:
        writing.attempt(session, part)
        raise _TakenBack

    found: dict[int, str] = {}
    untried = [range(len(rows))]
    while untried:
        part = untried.pop()
        try:
            database.transact(lambda session, part=part: attempt(session, rows[part.start : part.stop]))  # type: ignore[misc]
        except _TakenBack:
            continue
        except StatementRejected as error:
            if not error.is_about_data:
                raise
            if len(part) == 1:
                found[part.start] = str(error)
            else:
                middle = len(part) // 2
                untried += [part[:middle], part[middle:]]
    return found
