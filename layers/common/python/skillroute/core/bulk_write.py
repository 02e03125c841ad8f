"""Rows that PostgreSQL refuses: found among those it takes, so that these are written all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from skillroute.core.errors import StatementRejected
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database, Session

_Row = TypeVar("_Row")
_T = TypeVar("_T")


class _TakenBack(Exception):
    """Rolls back what was only tried."""


def write_all_but_refused(
    database: Database, rows: Sequence[_Row], write: Callable[[Session, Sequence[_Row]], _T], *, what: str
) -> tuple[_T | None, dict[int, str]]:
    """Write rows in one transaction, all but those that PostgreSQL refuses.

    Parameters
    ----------
    what : str
        What they are, for the log: ``entity``.

    Returns
    -------
    what `write` returned, None when nothing was left to be written; and why each other one was refused, by place.

    Raises
    ------
    StatementRejected
        A refusal that is not about data.
    DatabaseUnavailable
    """
    if not rows:
        return None, {}
    try:
        return database.transact(lambda session: write(session, rows)), {}
    except StatementRejected as error:
        if not error.is_about_data:
            raise
    wrong = refused(database, rows, write)
    for reason in wrong.values():
        logger.warning("%s rejected by the database", what, extra={"reason": reason})
    left = [row for place, row in enumerate(rows) if place not in wrong]
    return (database.transact(lambda session: write(session, left)) if left else None), wrong


def refused(
    database: Database, rows: Sequence[_Row], write: Callable[[Session, Sequence[_Row]], object]
) -> dict[int, str]:
    """Tell which of some rows PostgreSQL refuses, by place, and why, when it refused them together.

    They are written and rolled back, half by half, so that the others can then be written in one transaction: nothing
    is ever stored in part, and one bad row among 500 costs some 20 attempts, not 500.

    Raises
    ------
    StatementRejected
        A refusal that is not about data.
    DatabaseUnavailable
    """

    def attempt(session: Session, part: Sequence[_Row]) -> None:
        write(session, part)
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
