"""Logins of persons at servers: begun, finished in a browser, listed and ended."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from skillroute.core.access import not_found, visible
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, DependencyUnavailable, Forbidden, SkillrouteError
from skillroute.core.hashing import text_hash
from skillroute.core.observability import logger
from skillroute.core.outbound.credentials import ServerRef
from skillroute.core.postgres.database import Database
from skillroute.core.rights.decide import Rights
from skillroute.identity.model import Attempt, KeptTokens, Login, Pending, Person, ServerIdentity, Tokens, origin_of
from skillroute.identity.oauth.discovery import Discovered, discover
from skillroute.identity.oauth.flow import Granted, GrantRefused, authorization_url, exchange, new_verifier, revoke
from skillroute.identity.oauth.registration import Registration, is_good_for, register, registered_before
from skillroute.identity.oauth.web import LoginNotPossible, Web
from skillroute.identity.persons import Persons
from skillroute.identity.places import SecretPlaces
from skillroute.identity.renewal import Now, PersonTokens, utc_now
from skillroute.identity.repository import AttemptRepository, IdentityRepository, LoginRepository
from skillroute.identity.vault import Vault

ATTEMPT_S = 600.0
"""The time that a person has to log in."""

CLIENT_NAME = "Skillroute"

UNKNOWN = "This login is not known, was finished before, or took too long. Begin it again."


class Begun(NamedTuple):
    """A login that was begun: the page for the person's browser, and until when it may be finished."""

    url: str
    expires_at: datetime


class Finished(NamedTuple):
    """The outcome of a login, for the person who looks at it in a browser."""

    is_done: bool
    sentence: str


class Logins:
    """Logins of persons.

    Parameters
    ----------
    document_url : str or None
        Of the Client ID Metadata Document of this deployment, where it has one.
    """

    def __init__(
        self,
        database: Database,
        vault: Vault,
        web: Web,
        places: SecretPlaces,
        tokens: PersonTokens,
        persons: Persons,
        *,
        document_url: str | None = None,
        now: Now = utc_now,
    ) -> None:
        self._database = database
        self._vault = vault
        self._web = web
        self._places = places
        self._tokens = tokens
        self._persons = persons
        self._document_url = document_url
        self._now = now

    def begin(self, server_id: int, caller: Caller, redirect_uri: str, scopes: Sequence[str] = ()) -> Begun:
        """Begin a login of the caller at a server.

        Parameters
        ----------
        redirect_uri : str
            Where the browser comes back to.
        scopes : sequence of str
            That are asked for in addition, after a server wanted more than a login allows.

        Raises
        ------
        NotFound, Forbidden, Conflict, LoginNotPossible, DependencyUnavailable
        """
        return self.begin_of(server_id, self._person(caller), caller.rights, redirect_uri, scopes)

    def begin_of(
        self, server_id: int, person: Person, rights: Rights, redirect_uri: str, scopes: Sequence[str] = ()
    ) -> Begun:
        """Begin a login of a person with some rights; raises as `begin`."""
        server, identity = self._server(server_id, person.org_id, rights)
        self._vault.require_key()
        found = discover(self._web, server.url)
        client = self._client(server, identity, found, redirect_uri)
        wanted = tuple(identity.settings.get("scopes", ())) or found.scopes
        asked = tuple(dict.fromkeys([*wanted, *scopes]))
        state, verifier = secrets.token_urlsafe(32), new_verifier()
        at, until = found.server, self._now() + timedelta(seconds=ATTEMPT_S)
        what = {
            "verifier": verifier,
            "client": dict(client),
            "resource": found.resource,
            "token_endpoint": at.token_endpoint,
            "revocation_endpoint": at.revocation_endpoint,
            "says_iss": at.says_iss,
            "scopes": list(asked),
        }
        sealed = self._vault.seal_attempt(what, server.id, person)
        attempt = Attempt(server.id, person, sealed, redirect_uri, at.issuer, until)
        self._database.transact(lambda session: AttemptRepository(session).add(text_hash(state), attempt, self._now()))
        url = authorization_url(
            at.authorization_endpoint, client, state=state, verifier=verifier, scopes=asked, resource=found.resource
        )
        return Begun(url, until)

    def look(self, state: str, code: str | None, iss: str | None, error: str | None) -> Pending | Finished:
        """Return what a browser that came back is asked, and finish nothing; what cannot go on ends here."""
        if error is not None or not code:
            return self.finish(state, code, iss, error)
        found = self._database.read(lambda session: AttemptRepository(session).get(text_hash(state)))
        if found is None or found[0].expires_at < self._now():
            return Finished(False, UNKNOWN)
        attempt, server = found
        try:
            what = self._vault.open_attempt(attempt.sealed, attempt.server_id, attempt.person)
        except DependencyUnavailable as failed:
            logger.warning("login not shown", extra={"server": attempt.server_id, "reason": str(failed)})
            return Finished(False, f"The login cannot be shown: {failed.public_message}. Load this page again.")
        if _is_of_another_issuer(attempt, what, iss):
            return self.finish(state, code, iss, error)
        who, subject = self._persons.words(attempt.person)
        begun_at = attempt.expires_at - timedelta(seconds=ATTEMPT_S)
        return Pending(
            who, subject, server, what["resource"], attempt.issuer, tuple(what["scopes"]), begun_at, attempt.expires_at
        )

    def refuse(self, state: str) -> Finished:
        """End a login that was begun, on the word of who sits in front of the browser."""
        taken = self._database.transact(lambda session: AttemptRepository(session).take(text_hash(state)))
        if taken is None:
            return Finished(False, UNKNOWN)
        logger.info("login refused", extra={"server": taken.server_id, "reason": "by who came back from it"})
        return Finished(False, "You refused: you are not logged in, and this login cannot be finished any more.")

    def finish(self, state: str, code: str | None, iss: str | None, error: str | None) -> Finished:
        """Finish the login that a state is of, once; what becomes of it is its person's alone."""
        taken = self._database.transact(lambda session: AttemptRepository(session).take(text_hash(state)))
        if taken is None or taken.expires_at < self._now():
            return Finished(False, UNKNOWN)
        try:
            return self._finished(taken, code, iss, error)
        except (GrantRefused, LoginNotPossible) as refused:
            logger.info("login refused", extra={"server": taken.server_id, "reason": str(refused)})
            return Finished(False, "The authorization server did not accept the login. Begin it again.")
        except DependencyUnavailable as failed:
            logger.warning("login failed", extra={"server": taken.server_id, "reason": str(failed)})
            return Finished(False, f"The login could not be finished: {failed.public_message}. Begin it again.")

    def list(self, caller: Caller, *, limit: int, offset: int) -> tuple[list[Login], int]:
        """Return some of the caller's own logins, and how many there are. Raises `Forbidden` without a name."""
        person = self._person(caller)
        return self._database.snapshot(lambda s: LoginRepository(s, person).page(limit=limit, offset=offset))

    def end(self, server_id: int, caller: Caller) -> None:
        """Delete the caller's login at a server, and have its tokens taken back where the server does so.

        Raises `NotFound` where there is none, and `Forbidden` for a caller without a name.
        """
        person = self._person(caller)
        sealed = self._database.transact(lambda session: LoginRepository(session, person).delete(server_id))
        if sealed is None:
            raise not_found("server", server_id)
        try:
            if not revoke(self._web, self._vault.open_tokens(sealed, server_id, person)):
                logger.warning("tokens not revoked", extra={"server": server_id, "reason": "it is not offered"})
        except SkillrouteError as error:  # what is deleted here is deleted, also where the other side fails
            logger.warning("tokens not revoked", extra={"server": server_id, "reason": str(error)})

    def _person(self, caller: Caller) -> Person:
        person = self._persons.of(caller)
        if person is None:
            raise Forbidden(self._persons.why_none(caller))
        return person

    def _server(self, server_id: int, org_id: str | None, rights: Rights) -> tuple[ServerRef, ServerIdentity]:
        def look(session: Any) -> tuple[ServerRef | None, ServerIdentity | None]:
            identities = IdentityRepository(session)
            return identities.server(server_id, org_id, rights), identities.get(server_id)

        found, identity = self._database.snapshot(look)
        server = visible(found, "server", server_id)
        if identity is None or identity.kind != "oauth":
            kind = "none" if identity is None else identity.kind
            raise Conflict(
                f"{server.name} takes no logins: its identity is of kind {kind}. Set kind oauth first",
                ErrorCode.LOGIN_NOT_POSSIBLE,
            )
        if identity.origin != origin_of(server.url):
            raise Conflict(
                f"the address of {server.name} changed since its identity was set: set it again",
                ErrorCode.LOGIN_NOT_POSSIBLE,
            )
        return server, identity

    def _client(
        self, server: ServerRef, identity: ServerIdentity, found: Discovered, redirect_uri: str
    ) -> Registration:
        settings = identity.settings
        if client_id := settings.get("client_id"):
            self._pin(server, identity, found)
            place = settings.get("client_secret")
            secret = None if place is None else self._places.read(place, server.org_id)
            return registered_before(client_id, secret, found.server, redirect_uri)
        if identity.client is not None:
            kept = self._vault.open_client(identity.client, server.id)
            if is_good_for(kept, found.server, redirect_uri):
                return kept
        client = register(self._web, found.server, redirect_uri, document_url=self._document_url, name=CLIENT_NAME)
        sealed = self._vault.seal_client(dict(client), server.id)
        self._database.transact(lambda session: IdentityRepository(session).put_client(server.id, sealed))
        return client

    def _pin(self, server: ServerRef, identity: ServerIdentity, found: Discovered) -> None:
        """Keep which authorization server a client was registered at, and show its secret to no other one.

        Raises `LoginNotPossible` where the server names another one than at the first login.
        """
        issuer = found.server.issuer
        if identity.client is None:
            sealed = self._vault.seal_client({"issuer": issuer}, server.id)
            self._database.transact(lambda session: IdentityRepository(session).put_client(server.id, sealed))
        elif self._vault.open_client(identity.client, server.id).get("issuer") != issuer:
            raise LoginNotPossible(
                f"{server.name} names another authorization server than the one that its client is registered at; if "
                "that is right, delete its identity and set it again"
            )

    def _finished(self, taken: Attempt, code: str | None, iss: str | None, error: str | None) -> Finished:
        what = self._vault.open_attempt(taken.sealed, taken.server_id, taken.person)
        # Before anything else that came is believed (RFC 9207, section 2.4).
        if _is_of_another_issuer(taken, what, iss):
            return Finished(False, "The answer came from another authorization server than the one that was asked.")
        if error is not None or not code:
            refused = "You did not allow it" if error == "access_denied" else "The authorization server refused"
            return Finished(False, f"{refused}: you are not logged in.")
        granted = exchange(
            self._web, what["token_endpoint"], what["client"],
            code=code, verifier=what["verifier"], resource=what["resource"],
        )  # fmt: skip
        self._keep(taken, what, granted)
        return Finished(True, "You are logged in. You can close this page.")

    def _keep(self, taken: Attempt, what: dict[str, Any], granted: Granted) -> None:
        tokens = Tokens(
            access=granted.access,
            refresh=granted.refresh,
            resource=what["resource"],
            issuer=taken.issuer,
            token_endpoint=what["token_endpoint"],
            revocation_endpoint=what["revocation_endpoint"],
            client=what["client"],
        )
        sealed = self._vault.seal_tokens(tokens, taken.server_id, taken.person)
        scopes = tuple(what["scopes"]) if granted.scopes is None else granted.scopes
        kept = KeptTokens(sealed, self._tokens.expiry(granted), scopes)
        self._database.transact(lambda session: LoginRepository(session, taken.person).put(taken.server_id, kept))


def _is_of_another_issuer(attempt: Attempt, what: dict[str, Any], iss: str | None) -> bool:
    return (iss is not None and iss != attempt.issuer) or (iss is None and what["says_iss"])
