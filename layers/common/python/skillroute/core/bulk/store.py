"""Storing many things in one transaction, all but those that PostgreSQL refuses, each with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from skillroute.core.errors.statement import StatementRejected
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database, Session

InT = TypeVar("InT")
DoneT = TypeVar("DoneT")


class _TakenBack(Exception):
    """Rolls back what was only tried."""


def store_all(
    database: Database,
    store: Callable[[Session, Sequence[InT]], DoneT],
    things: Sequence[InT],
    *,
    attempt: Callable[[Session, Sequence[InT]], object],
    noun: str,
    keep: bool = True,
) -> tuple[DoneT | None, list[tuple[InT, str]]]:
    """Store things in one transaction, all but those that PostgreSQL refuses; return these with the reason.

    Without `keep` the transaction is taken back. `attempt` writes as much of some as PostgreSQL may refuse.

    Raises
    ------
    StatementRejected
        A refusal that is not about data.
    DatabaseUnavailable
    """
    if not things:
        return None, []
    run = database.transact if keep else database.taken_back
    try:
        return run(lambda session: store(session, things)), []
    except StatementRejected as error:
        if not error.is_about_data:
            raise
    wrong = _refused(database, attempt, things)
    for reason in wrong.values():
        logger.warning("%s rejected by the database", noun, extra={"reason": reason})
    left = [thing for place, thing in enumerate(things) if place not in wrong]
    done = run(lambda session: store(session, left)) if left else None
    return done, [(things[place], reason) for place, reason in wrong.items()]


def _refused(
    database: Database, attempt: Callable[[Session, Sequence[InT]], object], things: Sequence[InT]
) -> dict[int, str]:
    """Return which of some things PostgreSQL refuses, by place, and why, when it refused them together.

    They are written and rolled back, half by half, so that the others can then be written in one transaction: nothing
    is ever stored in part, and one bad row among 500 costs some 20 attempts, not 500.
    """

    def take_back(session: Session, part: Sequence[InT]) -> None:
        attempt(session, part)
        raise _TakenBack

    found: dict[int, str] = {}
    untried = [range(len(things))]
    while untried:
        part = untried.pop()
        try:
            database.transact(lambda session, part=part: take_back(session, things[part.start : part.stop]))  # type: ignore[misc]
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
