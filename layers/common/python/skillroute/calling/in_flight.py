"""Calls that are under way: so many of an organisation at once, in all processes together, and cancelled by a key."""

from __future__ import annotations

import hashlib
import uuid

from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Database

_SLACK_S = 5.0
"""How much longer than its limit a call counts whose process ended without saying so."""


class CallsInFlight:
    """Counts the calls of each organisation in PostgreSQL.

    Parameters
    ----------
    database : Database
    most : int
        Calls of one organisation at once.
    """

    def __init__(self, database: Database, most: int) -> None:
        self._database = database
        self.most = most

    def begin(self, caller: Caller, key: str | None, seconds: float, id_: uuid.UUID | None = None) -> uuid.UUID | None:
        """Return the id of a call that begins; None where so many of the organisation are under way.

        Raises `DatabaseUnavailable`.
        """
        id_ = id_ or uuid.uuid4()
        # One statement, that changes nothing where it is refused; one that runs twice is refused, and no call begins.
        [[has_begun]] = self._database.transact(
            lambda session: session.run(
                "begin_call", id=str(id_), org_id=caller.org_id, key=key, most=self.most, seconds=seconds + _SLACK_S
            )
        )
        return id_ if has_begun else None

    def end(self, id_: uuid.UUID) -> None:
        """Make room for the next call. Raises `DatabaseUnavailable`: it makes room by itself later."""
        self._database.transact(lambda session: session.run("end_call", id=str(id_)))

    def is_cancelled(self, id_: uuid.UUID) -> bool:
        """Return whether the caller has taken its call back. Raises `DatabaseUnavailable`."""
        rows = self._database.read(lambda session: session.run("is_call_cancelled", id=str(id_)))
        return bool(rows and rows[0][0])

    def cancel(self, key: str) -> int:
        """Cancel the calls of a key, and return how many are under way. Raises `DatabaseUnavailable`."""
        [[cancelled]] = self._database.transact(lambda session: session.run("cancel_calls", key=key))
        return int(cancelled)


def call_key(caller: Caller, session: str | None, request_id: str | int) -> str | None:
    """Return what a call is cancelled by: who asked, in which session, with which request.

    None where there is no session: ids of requests are those of one client, and a person may have several.
    """
    if session is None:
        return None
    parts = [caller.org_id or "", caller.name or "", session, type(request_id).__name__, str(request_id)]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace")).hexdigest()
