"""Tokens of a person at a server: read, and refreshed one at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from skillroute.core.outbound.credentials import LoginNeeded, ServerRef
from skillroute.core.postgres.database import Database, Session
from skillroute.identity.model import KeptTokens, Person, Tokens
from skillroute.identity.oauth.discovery import covers
from skillroute.identity.oauth.flow import Granted, GrantRefused, refresh
from skillroute.identity.oauth.web import LoginNotPossible, Web
from skillroute.identity.repository import LoginRepository
from skillroute.identity.vault import Vault

LEEWAY_S = 30.0
"""A token that expires within this is not sent: it would on the way."""

Now = Callable[[], datetime]


def utc_now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Found:
    """The outcome of a look under the lock: tokens, or why there are none."""

    tokens: Tokens | None
    missing: str = ""


class PersonTokens:
    """The tokens of persons.

    Parameters
    ----------
    now : callable
        The time, which tokens expire by.
    """

    def __init__(self, database: Database, vault: Vault, web: Web, *, now: Now = utc_now) -> None:
        self._database = database
        self._vault = vault
        self._web = web
        self._now = now

    def current(self, server: ServerRef, person: Person) -> Tokens:
        """Return tokens that are good by the clock, refreshed where they must be.

        Raises `LoginNeeded`, and `DependencyUnavailable` where the authorization server, or the key, is.
        """
        kept = self._database.read(lambda session: LoginRepository(session, person).get(server.id))
        if kept is None:
            raise login_needed(server)
        if self._is_good(kept):
            return self._for(server, self._vault.open_tokens(kept.sealed, server.id, person))
        return self._refreshed(server, person, None)

    def renewed(self, server: ServerRef, person: Person, refused: str) -> Tokens:
        """Return other tokens than the access token that the server refused. Raises as `current`."""
        return self._refreshed(server, person, refused)

    def expiry(self, granted: Granted) -> datetime | None:
        """Return when what was granted now expires; None where it is not known."""
        return None if granted.expires_in_s is None else self._now() + timedelta(seconds=granted.expires_in_s)

    def _is_good(self, kept: KeptTokens) -> bool:
        return kept.expires_at is None or kept.expires_at > self._now() + timedelta(seconds=LEEWAY_S)

    def _for(self, server: ServerRef, tokens: Tokens) -> Tokens:
        if not covers(tokens.resource, server.url):
            raise login_needed(server, f"the address of {server.name} changed since you logged in")
        return tokens

    def _refreshed(self, server: ServerRef, person: Person, refused: str | None) -> Tokens:
        spent: list[Granted] = []  # a transaction may run again, and must not spend a refresh token twice

        def work(session: Session) -> _Found:
            logins = LoginRepository(session, person)
            logins.lock(server.id)
            kept = logins.get(server.id)
            if kept is None:
                return _Found(None)
            tokens = self._vault.open_tokens(kept.sealed, server.id, person)
            # Another process may have refreshed them while this one waited.
            if tokens.access != refused and self._is_good(kept):
                return _Found(tokens)
            if not covers(tokens.resource, server.url):
                return _Found(None, f"the address of {server.name} changed since you logged in")
            try:
                if tokens.refresh is None:
                    raise GrantRefused
                if not spent:
                    spent.append(refresh(self._web, tokens))
            except LoginNotPossible as error:
                return _Found(None, f"your login at {server.name} cannot be renewed: {error}")
            except GrantRefused:
                logins.delete(server.id)
                return _Found(None, f"your login at {server.name} has ended")
            granted = spent[0]
            # A server that does not rotate leaves the refresh token as it was (RFC 6749, section 6).
            new = replace(tokens, access=granted.access, refresh=granted.refresh or tokens.refresh)
            scopes = kept.scopes if granted.scopes is None else granted.scopes
            sealed = self._vault.seal_tokens(new, server.id, person)
            logins.put(server.id, KeptTokens(sealed, self.expiry(granted), scopes), is_refreshed=True)
            return _Found(new)

        found = self._database.transact(work)
        if found.tokens is None:
            raise login_needed(server, found.missing)
        return self._for(server, found.tokens)


def login_needed(server: ServerRef, why: str = "", scopes: tuple[str, ...] = ()) -> LoginNeeded:
    """Return the refusal that says where to log in."""
    reason = why or f"{server.name} wants to know who you are"
    asked = f", for the scopes {' '.join(scopes)}" if scopes else ""
    more = "".join(f" --scope {scope}" for scope in scopes)
    return LoginNeeded(
        f"{reason}: log in{asked} with `skillroute login {server.id}{more}`, or "
        f"POST /api/v1/servers/{server.id}/login, and call again",
        scopes=scopes,
        helps=True,
    )
