"""From a server and a caller to the headers that let a request in: the port `Identities`."""

from __future__ import annotations

from skillroute.core.caller import Caller
from skillroute.core.errors.model import Conflict
from skillroute.core.hashing import text_hash
from skillroute.core.outbound.credentials import Credentials, LoginNeeded, ServerRef
from skillroute.core.postgres.database import Database
from skillroute.identity.links import LoginLinks
from skillroute.identity.model import Person, ServerIdentity, Tokens, origin_of
from skillroute.identity.oauth.challenge import parse_challenge
from skillroute.identity.passed_on import why_not
from skillroute.identity.persons import Persons
from skillroute.identity.places import SecretPlaces
from skillroute.identity.renewal import PersonTokens, login_needed
from skillroute.identity.repository import IdentityRepository


class CallerIdentities:
    """`Identities` over the rows of servers and persons."""

    def __init__(
        self, database: Database, places: SecretPlaces, tokens: PersonTokens, persons: Persons, links: LoginLinks
    ) -> None:
        self._database = database
        self._places = places
        self._tokens = tokens
        self._persons = persons
        self._links = links

    def credentials(self, server: ServerRef, caller: Caller, token: str | None) -> Credentials:
        """Return the credentials; none are needed where the server has no identity set.

        Raises `LoginNeeded`, and `DependencyUnavailable` where what keeps secrets cannot be reached.
        """
        identity = self._identity(server)
        if identity.kind == "none":
            return Credentials(session_key=_key(identity, caller, token))
        _same_place(identity, server)
        if identity.kind == "secret":
            return self._of_secret(identity, server, _key(identity, caller, token), again=False)
        if identity.kind == "caller_token":
            refused = why_not(token, identity.settings.get("audiences", ()), server.name)
            if token is None or refused is not None:
                raise LoginNeeded(refused or "")
            # By the token itself: two callers without a name are two.
            return Credentials({"Authorization": f"Bearer {token}"}, _key(identity, caller, token))
        person = self._person(server, caller)
        try:
            return _of_tokens(self._tokens.current(server, person), _key(identity, caller, None))
        except Conflict as error:  # there is no key
            raise LoginNeeded(str(error)) from None

    def renewed(self, server: ServerRef, caller: Caller, refused: Credentials, challenge: str | None) -> Credentials:
        """Return other credentials after the server refused these with 401, or with 403 for want of scopes.

        Raises `LoginNeeded` where there are none to be had, and `DependencyUnavailable`.
        """
        identity = self._identity(server)
        asked = parse_challenge(challenge)
        if asked.error == "insufficient_scope":
            raise _too_little(identity, server, asked.scopes)
        if identity.kind == "none":
            raise LoginNeeded(f"{server.name} wants to know who calls, and no identity is set for it: {_HOW_SET}")
        _same_place(identity, server)
        if identity.kind == "secret":
            found = self._of_secret(identity, server, refused.session_key, again=True)
            if found.headers == refused.headers:
                raise LoginNeeded(f"{server.name} refuses the secret that is set for it: have it changed")
            return found
        if identity.kind == "caller_token":
            raise LoginNeeded(f"{server.name} refuses your own token: come with another one")
        person = self._person(server, caller)
        try:
            return _of_tokens(self._tokens.renewed(server, person, _bearer(refused)), refused.session_key)
        except Conflict as error:
            raise LoginNeeded(str(error)) from None

    def login_link(self, server: ServerRef, caller: Caller, scopes: tuple[str, ...], base_url: str) -> str | None:
        """Return the address of a page below `base_url` where the caller logs in; None where there is none."""
        return self._links.make(server, caller, scopes, base_url)

    def _identity(self, server: ServerRef) -> ServerIdentity:
        found = self._database.read(lambda session: IdentityRepository(session).get(server.id))
        return found or ServerIdentity(server.id, "none")

    def _person(self, server: ServerRef, caller: Caller) -> Person:
        person = self._persons.of(caller)
        if person is None:
            raise LoginNeeded(f"{server.name} wants to know who you are: {self._persons.why_none(caller)}")
        return person

    def _of_secret(self, identity: ServerIdentity, server: ServerRef, key: str, *, again: bool) -> Credentials:
        settings = identity.settings
        text = self._places.read(str(settings.get("secret", "")), server.org_id, again=again)
        header, prefix = str(settings.get("header", "Authorization")), str(settings.get("prefix", ""))
        return Credentials({header: f"{prefix}{text}"}, key)


_HOW_SET = "PUT /api/v1/servers/{id}/identity, or `skillroute identity set`"


def _too_little(identity: ServerIdentity, server: ServerRef, scopes: tuple[str, ...]) -> LoginNeeded:
    """Return the refusal of credentials that are good and allow too little."""
    if identity.kind == "oauth":
        return login_needed(server, f"your login at {server.name} does not allow this", scopes)
    whose = {"secret": "the secret that is set for it does", "caller_token": "your own token does"}
    asked = f": it takes the scopes {' '.join(scopes)}" if scopes else ""
    return LoginNeeded(
        f"{server.name} refuses this, and {whose.get(identity.kind, 'no identity does')} not allow it{asked}",
        scopes=scopes,
    )


def _same_place(identity: ServerIdentity, server: ServerRef) -> None:
    """Raise `LoginNeeded` where the server has another address than the one that its identity was set for."""
    if identity.origin != origin_of(server.url):
        raise LoginNeeded(f"the address of {server.name} changed since its identity was set: set it again")


def _of_tokens(tokens: Tokens, key: str) -> Credentials:
    return Credentials({"Authorization": f"Bearer {tokens.access}"}, key)


def _bearer(credentials: Credentials) -> str:
    return credentials.headers.get("Authorization", "").removeprefix("Bearer ")


def _key(identity: ServerIdentity, caller: Caller, token: str | None) -> str:
    """Return whose credentials are, and by which setting: a hash, since it may be logged.

    Servers keep what one caller did in its session, also where all come with the same secret.
    """
    by_token = token if caller.name is None or identity.kind == "caller_token" else None
    parts = (caller.org_id, caller.name, caller.agent, by_token, str(identity.changed_at))
    return text_hash(identity.kind, *("-" if part is None else f"+{part}" for part in parts))
