"""The token that a server of an mcp.json is sent: the kept one, refreshed by one process at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from skillroute.core.errors.model import SkillrouteError
from skillroute.identity.model import Tokens, origin_of
from skillroute.identity.oauth.flow import Granted, GrantRefused, refresh
from skillroute.identity.oauth.web import AuthorizationServerUnavailable, LoginNotPossible, Web

from skillroute_local.loopback import is_loopback
from skillroute_local.mcp_servers.model import HttpServer
from skillroute_local.server_logins.model import ServerLogin, login_command
from skillroute_local.server_logins.store import LoginStore

LEEWAY_S = 30.0
"""A token that expires within this is not sent: it would on the way."""

Now = Callable[[], float]


class NoToken(Exception):
    """There is no token to be sent. `str(error)` says why, and what to do."""


class LoopbackOrigins:
    """The origins of this machine, which are reached without TLS."""

    def __contains__(self, origin: object) -> bool:
        scheme, _, host = str(origin).partition("://")
        name = host.rpartition("]")[0].lstrip("[") if host.startswith("[") else host.partition(":")[0]
        return scheme == "http" and is_loopback(name)


def make_web() -> Web:
    """Return what asks authorization servers: over TLS, or on this machine."""
    import httpx  # noqa: PLC0415 (0.1 s, paid where there is a login)

    return Web(httpx.AsyncClient, plain_origins=LoopbackOrigins())


class ServerTokens:
    """The tokens of one server. Its methods block, and may be called from threads without an event loop alone.

    Parameters
    ----------
    now : callable
        The time in seconds since 1970, which tokens expire by.
    """

    def __init__(
        self,
        server: HttpServer,
        store: LoginStore | None = None,
        web: Callable[[], Web] = make_web,
        now: Now = time.time,
    ) -> None:
        self._server = server
        self._store = store or LoginStore()
        self._web = web
        self._now = now

    @property
    def is_kept(self) -> bool:
        """Whether anything is kept of the server."""
        return self._store.has(self._server.name, self._server.url)

    def current(self) -> str:
        """Return an access token that is good by the clock, refreshed where it must be. Raises `NoToken`."""
        login = self._login()
        if login.tokens is not None and self._is_good(login):
            return login.tokens.access
        return self.renewed(None)

    def renewed(self, refused: str | None) -> str:
        """Return another access token than the one that the server refused. Raises `NoToken`."""
        if not self.is_kept:
            raise self._wanted()
        try:
            with self._store.locked(self._server.name, self._server.url):
                return self._renewed(self._login(), refused)
        except AuthorizationServerUnavailable:
            raise NoToken("its authorization server cannot be reached to renew your login: try again later") from None
        except SkillrouteError as error:
            raise NoToken(str(error)) from None

    def scopes(self) -> tuple[str, ...]:
        """Return the scopes of the login, none where there is none that can be read."""
        try:
            return self._login().scopes
        except NoToken:
            return ()

    def _login(self) -> ServerLogin:
        try:
            login = self._store.get(self._server.name, self._server.url)
        except SkillrouteError as error:
            raise NoToken(str(error)) from None
        if login is None:
            raise self._wanted()
        return login

    def _wanted(self) -> NoToken:
        return NoToken(f"it wants a login, run `{login_command(self._server)}`")

    def _renewed(self, login: ServerLogin, refused: str | None) -> str:
        again = f"run `{login_command(self._server)}`"
        tokens = login.tokens
        if tokens is None and login.made_at is None:  # it was begun, and no more
            raise self._wanted()
        if tokens is None:
            raise NoToken(f"your login has ended, {again}")
        # Another process may have refreshed it while this one waited for the lock.
        if tokens.access != refused and self._is_good(login):
            return tokens.access
        if tokens.refresh is None:
            raise NoToken(f"your login has ended, {again}")
        try:
            granted = refresh(self._web(), tokens)
        except GrantRefused:
            self._store.put(replace(login, tokens=None))
            raise NoToken(f"your login has ended, {again}") from None
        except LoginNotPossible as error:
            self._store.put(replace(login, tokens=None, client=None))  # a client that is not known any more, mostly
            raise NoToken(f"your login cannot be renewed ({error}), {again}") from None
        new = self._after(login, tokens, granted)
        self._store.put(new)
        return granted.access

    def _after(self, login: ServerLogin, tokens: Tokens, granted: Granted) -> ServerLogin:
        # A server that does not rotate leaves the refresh token as it was (RFC 6749, section 6).
        made = replace(tokens, access=granted.access, refresh=granted.refresh or tokens.refresh)
        scopes = login.scopes if granted.scopes is None else granted.scopes
        return replace(login, tokens=made, scopes=scopes, expires_at=expiry(granted, self._now()))

    def _is_good(self, login: ServerLogin) -> bool:
        return login.expires_at is None or login.expires_at > self._now() + LEEWAY_S


def expiry(granted: Granted, now: float) -> float | None:
    """Return when what was granted now expires; None where it is not known."""
    return None if granted.expires_in_s is None else now + granted.expires_in_s


def has_own_token(server: HttpServer) -> bool:
    """Return whether the file itself says what the server is sent, which then nothing replaces."""
    return any(name.lower() == "authorization" for name in server.headers)


def can_log_in(server: HttpServer) -> bool:
    """Return whether a login could let requests to a server in: it is one of a file, over TLS or on this machine."""
    origin = origin_of(server.url)
    is_safe = origin.startswith("https://") or origin in LoopbackOrigins()
    return server.config is not None and is_safe and not has_own_token(server)
