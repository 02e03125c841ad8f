"""PostgreSQL's error messages, read by their SQLSTATE, never by their text; and the meaning of a missing answer."""

from __future__ import annotations

from struct import error as struct_error
from typing import Any

from pg8000.native import DatabaseError, InterfaceError

from skillroute.core.errors.model import DatabaseUnavailable, OutcomeUnknown, SkillrouteError
from skillroute.core.errors.statement import StatementRejected

BROKEN = (InterfaceError, OSError, struct_error)
"""The errors of a broken connection: pg8000 lets socket errors through, and reads a closed socket as a short struct."""

_LOGIN_CLASS = "28"
# Class 08: connection; 53: no disk, no memory, too many connections; 58: its files fail.
# 3D000: no such database; 25006: a standby; 57P01..57P05: the server stops, crashed, starts or drops us.
_UNAVAILABLE_CLASSES = ("08", "53", "58")
_UNAVAILABLE_STATES = {"25006", "3D000", "57P01", "57P02", "57P03", "57P04", "57P05"}
_NOT_MIGRATED_STATES = {"3F000", "42P01", "42703"}
_TIMED_OUT = "57014"
_NOT_PERMITTED = "42501"


class ConnectionUnusable(DatabaseUnavailable):
    """PostgreSQL answers, and this connection is of no use any more."""


class LoginRefused(ConnectionUnusable):
    """PostgreSQL answers, and does not let this user in with this password."""


class TookTooLong(DatabaseUnavailable):
    """PostgreSQL answers, and gave up on a statement at its time limit. The connection is as good as before."""

    public_message = "PostgreSQL took too long"


class NoAnswer(DatabaseUnavailable):
    """Nothing came from PostgreSQL within the time limit: it hangs, or packets are dropped."""


class CommitUnanswered(OutcomeUnknown):
    """The connection was lost between a COMMIT and its answer.

    Parameters
    ----------
    xid : str
        The transaction's id, 64 bits.
    server : str
        The history of transactions that it belongs to; see `server_history` in sessions.sql.
    """

    def __init__(self, *, xid: str, server: str) -> None:
        super().__init__(f"the connection to PostgreSQL was lost before the answer to the COMMIT of transaction {xid}")
        self.xid = xid
        self.server = server


class NotMigrated(DatabaseUnavailable):
    """PostgreSQL answers, and has no schema, or an older one."""

    public_message = "the database's schema is not there or not up to date: run `skillroute migrate`"


class NotPermitted(DatabaseUnavailable):
    """PostgreSQL answers, and this login lacks the right to what it asked for. The connection is as good as before."""

    public_message = "the database does not let Skillroute do this: run `skillroute migrate`"


def refusal(error: DatabaseError) -> SkillrouteError:
    """Return what an error message of PostgreSQL means."""
    details: dict[str, Any] = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    state, message = str(details.get("C", "")), str(details.get("M", error))
    if state == _TIMED_OUT:
        return TookTooLong(f"PostgreSQL took too long: {message}")
    if state in _NOT_MIGRATED_STATES:
        return NotMigrated(f"the schema is not there ({message}): run `skillroute migrate`")
    if state == _NOT_PERMITTED:
        return NotPermitted(f"{message}: logins get their rights from `skillroute migrate`, run by the schema's owner")
    if state.startswith(_LOGIN_CLASS):
        return LoginRefused(f"PostgreSQL is not available: {message}")
    if state in _UNAVAILABLE_STATES or state.startswith(_UNAVAILABLE_CLASSES):
        return ConnectionUnusable(f"PostgreSQL is not available: {message}")
    return StatementRejected(message, state=state, constraint=details.get("n"))


def unanswered(error: BaseException) -> DatabaseUnavailable:
    """Return the error for a connection that broke before its answer was complete (one of `BROKEN`)."""
    # A peer that the kernel gives up on (keepalive, TCP_USER_TIMEOUT) is a TimeoutError as well.
    if isinstance(error, TimeoutError) or isinstance(error.__cause__, TimeoutError):
        return NoAnswer("PostgreSQL does not answer")
    return DatabaseUnavailable("the connection to PostgreSQL was lost")
