"""The login at a server in requests over HTTP: its token is sent, and a call that it refuses is sent once more."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import anyio.to_thread
import httpx2
from skillroute.identity.model import origin_of
from skillroute.identity.oauth.challenge import parse_challenge

from skillroute_local.mcp_servers.model import HttpServer
from skillroute_local.server_logins.model import login_command
from skillroute_local.server_logins.tokens import NoToken, ServerTokens, can_log_in

_SENT, _AGAIN, _REMEDY = "skillroute_sent", "skillroute_again", "skillroute_remedy"
"""The notes at a request: the token that it had, the one that it is sent again with, what its owner can do."""


class LoginAuth(httpx2.Auth):
    """Lets requests in by a login. A 401 is looked at by `mends`, before any other hook takes it for an answer.

    No browser is opened here: an agent started this, with or without a person in front of the machine.
    """

    def __init__(self, server: HttpServer, tokens: ServerTokens | None = None) -> None:
        self._server = server
        self._origin = origin_of(server.url)
        self._tokens = tokens or ServerTokens(server)

    @classmethod
    def of(cls, server: HttpServer) -> LoginAuth | None:
        """Return what lets requests to a server in; None where no login can."""
        return cls(server) if can_log_in(server) else None

    async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request with a token, and once more with another one where `mends` has found it."""
        if origin_of(str(request.url)) != self._origin:
            yield request
            return
        request.extensions[_SENT] = None
        if self._tokens.is_kept:
            try:
                self._put(request, await anyio.to_thread.run_sync(self._tokens.current))
            except NoToken as error:
                request.extensions[_REMEDY] = str(error)
        yield request
        if (token := request.extensions.get(_AGAIN)) is not None:
            self._put(request, token)
            yield request

    async def mends(self, response: httpx2.Response) -> bool:
        """Return whether a request that was refused is sent again: a new token could be had. It is, once."""
        noted = response.request.extensions
        if response.status_code != httpx2.codes.UNAUTHORIZED or _SENT not in noted:
            return False
        if _AGAIN in noted:
            noted[_REMEDY] = f"it refuses the token of your login, run `{login_command(self._server)}`"
            return False
        if _REMEDY in noted:  # it had no token, for a reason that is known
            return False
        try:
            # Not given up with the call: a refresh token that was spent must have its follower kept.
            noted[_AGAIN] = await anyio.to_thread.run_sync(self._tokens.renewed, noted[_SENT])
        except NoToken as error:
            noted[_REMEDY] = str(error)
            return False
        return True

    async def remedy(self, response: httpx2.Response) -> str:
        """Return what the server's owner can do about a refusal, empty where that is not known."""
        challenge = parse_challenge(response.headers.get("www-authenticate"))
        if response.status_code == httpx2.codes.FORBIDDEN and challenge.error == "insufficient_scope":
            had = await anyio.to_thread.run_sync(self._tokens.scopes)
            wanted = dict.fromkeys((*had, *challenge.scopes))
            return f"your login allows too little, run `{login_command(self._server, tuple(wanted))}`"
        is_refused = response.status_code == httpx2.codes.UNAUTHORIZED
        return str(response.request.extensions.get(_REMEDY, "")) if is_refused else ""

    def _put(self, request: httpx2.Request, token: str) -> None:
        request.extensions[_SENT] = token
        request.headers["Authorization"] = f"Bearer {token}"
