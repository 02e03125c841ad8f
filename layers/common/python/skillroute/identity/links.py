"""Links that begin a login: made where a call needs one, opened by its person in a browser."""

from __future__ import annotations

import secrets
from datetime import timedelta
from urllib.parse import urlencode

from skillroute.core.caller import Caller
from skillroute.core.errors.model import Conflict, DependencyUnavailable, NotFound
from skillroute.core.hashing import text_hash
from skillroute.core.observability import logger
from skillroute.core.outbound.credentials import ServerRef
from skillroute.core.postgres.database import Database
from skillroute.core.rights.decide import EVERYTHING
from skillroute.identity.logins import Begun, Finished, Logins
from skillroute.identity.model import Attempt, Pending
from skillroute.identity.oauth.web import LoginNotPossible
from skillroute.identity.persons import Persons
from skillroute.identity.renewal import Now, utc_now
from skillroute.identity.repository import AttemptRepository
from skillroute.identity.vault import Vault

LINK_PATH = "/oauth/begin"
LINK_S = 600.0
"""The time that a person has to open a link."""

UNKNOWN_LINK = "This link is not known, was used before, or is too old. Have the tool called again for a new one."


class LoginLinks:
    """Links of persons, each kept as a login that has no authorization server yet.

    A ticket is 256 random bits, and its hash is none that a state has.
    """

    def __init__(self, database: Database, vault: Vault, persons: Persons, *, now: Now = utc_now) -> None:
        self._database = database
        self._vault = vault
        self._persons = persons
        self._now = now

    def make(self, server: ServerRef, caller: Caller, scopes: tuple[str, ...], base_url: str) -> str | None:
        """Return a link for the caller at a server; None for who is no person, or while it cannot be kept."""
        person = self._persons.of(caller)
        if person is None:
            return None
        ticket = secrets.token_urlsafe(32)
        try:
            sealed = self._vault.seal_attempt({"address": server.url, "scopes": list(scopes)}, server.id, person)
            until = self._now() + timedelta(seconds=LINK_S)
            attempt = Attempt(server.id, person, sealed, "", "", until)
            self._database.transact(lambda s: AttemptRepository(s).add(_hash(ticket), attempt, self._now()))
        except (Conflict, DependencyUnavailable) as error:
            logger.warning("no link to log in", extra={"server": server.id, "reason": str(error)})
            return None
        return f"{base_url}{LINK_PATH}?{urlencode({'ticket': ticket})}"

    def look(self, ticket: str) -> Pending | Finished:
        """Return whom a link is for, and use nothing up."""
        found = self._database.read(lambda session: AttemptRepository(session).get(_hash(ticket)))
        if found is None or found[0].expires_at < self._now():
            return Finished(False, UNKNOWN_LINK)
        link, name = found
        try:
            what = self._vault.open_attempt(link.sealed, link.server_id, link.person)
        except DependencyUnavailable as failed:
            return Finished(False, f"The link cannot be read: {failed.public_message}. Load this page again.")
        who, subject = self._persons.words(link.person)
        begun_at = link.expires_at - timedelta(seconds=LINK_S)
        return Pending(who, subject, name, what["address"], "", tuple(what["scopes"]), begun_at, link.expires_at)

    def begin(self, ticket: str, logins: Logins, redirect_uri: str) -> Begun | Finished:
        """Begin the login that a link is for, once, as its person would.

        The rules about the person were asked when the link was made, and are asked again by each call.
        """
        taken = self._database.transact(lambda session: AttemptRepository(session).take(_hash(ticket)))
        if taken is None or taken.expires_at < self._now():
            return Finished(False, UNKNOWN_LINK)
        try:
            what = self._vault.open_attempt(taken.sealed, taken.server_id, taken.person)
            return logins.begin_of(taken.server_id, taken.person, EVERYTHING, redirect_uri, what["scopes"])
        except (Conflict, DependencyUnavailable, LoginNotPossible, NotFound) as error:
            logger.info("login not begun", extra={"server": taken.server_id, "reason": str(error)})
            reason = error.public_message if isinstance(error, DependencyUnavailable) else str(error)
            return Finished(False, f"The login could not begin: {reason}. Have the tool called again for a new link.")


def _hash(ticket: str) -> str:
    return text_hash("ticket", ticket)
