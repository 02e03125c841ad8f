"""Logging in at a server of an mcp.json, in a browser on this machine, and out again."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from skillroute.core.errors.model import SkillrouteError
from skillroute.identity.model import Tokens
from skillroute.identity.oauth.discovery import Discovered, discover
from skillroute.identity.oauth.flow import GrantRefused, authorization_url, exchange, new_verifier, revoke
from skillroute.identity.oauth.registration import Registration, is_good_for, register
from skillroute.identity.oauth.web import AuthorizationServerUnavailable, LoginNotPossible, Web

from skillroute_local.errors import LocalError, Misused, Unreachable
from skillroute_local.mcp_servers.model import HttpServer
from skillroute_local.server_logins.model import ServerLogin, login_command
from skillroute_local.server_logins.redirect import Redirect, redirect
from skillroute_local.server_logins.store import LoginStore
from skillroute_local.server_logins.tokens import Now, expiry, has_own_token

WAIT_S = 300.0
_NAME = "Skillroute"


@dataclass(frozen=True, slots=True)
class _Begun:
    """A login whose page is open."""

    found: Discovered
    client: Registration
    scopes: tuple[str, ...]
    verifier: str


class BrowserLogin:
    """Logs in and out at servers of a file.

    Parameters
    ----------
    show : callable
        Called with the page that the person has to open.
    wait_s : float
        The longest that the person may take.
    """

    def __init__(
        self,
        store: LoginStore,
        web: Web,
        show: Callable[[str], object],
        *,
        wait_s: float = WAIT_S,
        now: Now = time.time,
    ) -> None:
        self._store = store
        self._web = web
        self._show = show
        self._wait_s = wait_s
        self._now = now

    def log_in(self, server: HttpServer, scopes: Sequence[str] = ()) -> ServerLogin:
        """Return the login that a person has finished in a browser, kept. Raises `LocalError` with the remedy."""
        if has_own_token(server):
            raise Misused(f"{server.where} has a header Authorization, which is sent: take it out to log in instead")
        try:
            return self._logged_in(server, tuple(scopes))
        except AuthorizationServerUnavailable as error:
            raise Unreachable(f"{server.name}: {error}: try again later") from None
        except GrantRefused:
            raise LocalError(f"{server.name}: its authorization server does not take the login: try again") from None
        except LoginNotPossible as error:
            raise LocalError(f"{server.name}: {error}; without a login, give it a token in headers") from None

    def log_out(self, login: ServerLogin) -> bool:
        """Delete a login, and have its tokens taken back where that is offered (RFC 7009); return whether they were."""
        with self._store.locked(login.server, login.url):
            kept = self._store.get(login.server, login.url) or login  # it may have been refreshed meanwhile
            self._store.delete(kept)
        try:
            return kept.tokens is not None and revoke(self._web, kept.tokens)
        except SkillrouteError:  # what is deleted here is deleted, also where the other side fails
            return False

    def _logged_in(self, server: HttpServer, scopes: tuple[str, ...]) -> ServerLogin:
        kept = self._store.get(server.name, server.url) or ServerLogin(server.name, server.url)
        found = discover(self._web, server.url)
        port = urlsplit(kept.client["redirect_uri"]).port if kept.client is not None else None
        with redirect(port) as heard:
            client = kept.client
            if client is None or not is_good_for(client, found.server, heard.uri):
                client = register(self._web, found.server, heard.uri, document_url=None, name=_NAME)
                self._keep(replace(kept, client=client))
            begun = _Begun(found, client, scopes or found.scopes, new_verifier())
            came = self._answer(server, begun, heard)
        return self._finished(server, begun, _code(server, found, came))

    def _answer(self, server: HttpServer, begun: _Begun, heard: Redirect) -> Mapping[str, str]:
        state = secrets.token_urlsafe(32)
        heard.expect(state)
        server_of_logins = begun.found.server
        page = authorization_url(
            server_of_logins.authorization_endpoint, begun.client,
            state=state, verifier=begun.verifier, scopes=begun.scopes, resource=begun.found.resource,
        )  # fmt: skip
        self._show(page)
        came = heard.wait(self._wait_s)
        if came is None:
            command = login_command(server).replace(" login ", " logout ", 1)
            raise LocalError(
                f"{server.name}: the login was not finished within {self._wait_s:g} s: begin it again. If the page "
                f"says that it does not know the client, run `{command}` first"
            )
        return came

    def _finished(self, server: HttpServer, begun: _Begun, code: str) -> ServerLogin:
        found, client = begun.found, begun.client
        granted = exchange(
            self._web, found.server.token_endpoint, client,
            code=code, verifier=begun.verifier, resource=found.resource,
        )  # fmt: skip
        tokens = Tokens(
            access=granted.access,
            refresh=granted.refresh,
            resource=found.resource,
            issuer=found.server.issuer,
            token_endpoint=found.server.token_endpoint,
            revocation_endpoint=found.server.revocation_endpoint,
            client=client,
        )
        now = self._now()
        scopes = begun.scopes if granted.scopes is None else granted.scopes
        login = ServerLogin(server.name, server.url, client, tokens, scopes, expiry(granted, now), now)
        self._keep(login)
        return login

    def _keep(self, login: ServerLogin) -> None:
        with self._store.locked(login.server, login.url):
            self._store.put(login)


def _code(server: HttpServer, found: Discovered, came: Mapping[str, str]) -> str:
    """Return the code of an answer. Raises `LocalError`: it is another server's, or a refusal."""
    issuer, iss = found.server.issuer, came.get("iss")
    # Before anything else that came is believed (RFC 9207, section 2.4).
    if (iss is not None and iss != issuer) or (iss is None and found.server.says_iss):
        raise LocalError(f"{server.name}: the answer came from another authorization server than {issuer}: try again")
    if (error := came.get("error")) is not None or not came.get("code"):
        if error == "access_denied":
            raise LocalError(f"{server.name}: you did not allow it: you are not logged in")
        shown = error if error and error.replace("_", "").isalnum() and len(error) < 64 else "no code"
        raise LocalError(f"{server.name}: its authorization server refuses the login ({shown}): try again")
    return came["code"]
