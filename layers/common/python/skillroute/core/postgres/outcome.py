"""Find out what became of a transaction whose COMMIT got no answer (docs/adr/0029)."""

from __future__ import annotations

from collections.abc import Callable

from skillroute.core.errors.model import DatabaseUnavailable, OutcomeUnknown
from skillroute.core.errors.statement import StatementRejected
from skillroute.core.observability import logger
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.refusals import CommitUnanswered
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.retry import Retry, TransientFailure
from skillroute.core.time.time_left import at_most_s

_ASKING = Retry.every(0.05)

Ask = Callable[[Callable[[Connection], str | None]], str | None]
"""Calls a function with a connection other than the lost one."""


def was_committed(lost: CommitUnanswered, ask: Ask, *, within_s: float) -> bool:
    """Find out whether a transaction was committed.

    PostgreSQL is asked repeatedly: it may be restarting, or still be processing the COMMIT.

    Parameters
    ----------
    within_s : float
        The most that it may take, in seconds.

    Raises
    ------
    OutcomeUnknown
        PostgreSQL does not know, or did not answer in that time.
    """
    deadline = Deadline(at_most_s(within_s))

    def attempt() -> bool:
        try:
            status = ask(lambda connection: _status(connection, lost))
        except OutcomeUnknown:
            raise
        except DatabaseUnavailable as error:
            status = str(error)
        if status in {"committed", "aborted"}:
            logger.warning("answer to a COMMIT lost", extra={"transaction": lost.xid, "status": status})
            return status == "committed"
        if status is None or deadline.is_over:
            raise OutcomeUnknown(f"{lost}; its status: {status or 'forgotten'}") from lost
        raise TransientFailure(status)

    return _ASKING.run(attempt)


def _status(connection: Connection, lost: CommitUnanswered) -> str | None:
    """Return `pg_xact_status` (PostgreSQL manual, section 9.27.8); end a transaction that waits for its client."""
    if connection.server != lost.server:
        # In another history the same id may belong to another transaction.
        raise OutcomeUnknown(f"{lost}; the server has crashed since, or another one has taken over") from lost
    try:
        status: str | None = connection.run("transaction_status", xid=lost.xid)[0][0]
    except StatementRejected as error:  # an id in the future
        raise OutcomeUnknown(f"{lost}; {error}") from lost
    if status == "in progress":
        connection.run("end_transaction", xid=lost.xid)
    return status
