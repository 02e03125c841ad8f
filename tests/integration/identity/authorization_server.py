"""An authorization server and a server of MCP that asks it: both of the official SDK, over what a test can look into.

The SDK's are the endpoints (metadata, authorization with PKCE, token, registration, revocation, the bearer check with
its challenges). What it leaves to its users is here: where clients, codes and tokens are kept, refresh tokens that are
good once, and a person who allows everything.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    ProviderTokenVerifier,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import (
    build_resource_metadata_url,
    create_auth_routes,
    create_protected_resource_routes,
)
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send


class Provider:
    """Clients, codes and tokens of an authorization server.

    Attributes
    ----------
    who : str
        The person who allows the next login.
    lifetime_s : int
        Of access tokens.
    iss : str or None
        What the redirect says in `iss`, if anything.
    seen : list of str
        Every token, code and verifier that was made, to be looked for where none may be.
    refreshes : int
        Refresh tokens that were spent.
    """

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.who, self.lifetime_s, self.iss = "ann", 3600, None
        self.seen: list[str] = []
        self.refreshes = self.reused = 0
        self.asked: list[AuthorizationParams] = []

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id is not None
        self.clients[client_info.client_id] = client_info
        self.seen += [client_info.client_secret] if client_info.client_secret else []

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        self.asked.append(params)
        code = self._new("code")
        self.codes[code] = AuthorizationCode(
            code=code, scopes=params.scopes or ["read"], expires_at=time.time() + 60, client_id=client.client_id or "",
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri, subject=self.who,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource,
        )  # fmt: skip
        given: dict[str, Any] = {"code": code, "state": params.state}
        return construct_redirect_uri(str(params.redirect_uri), **given | ({"iss": self.iss} if self.iss else {}))

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._granted(authorization_code.scopes, client, authorization_code)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        self.reused += refresh_token not in self.refresh
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]  # good once
        self.refreshes += 1
        return self._granted(scopes, client, refresh_token)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        for kept in (self.access, self.refresh):
            for key in [key for key, each in kept.items() if each.subject == token.subject]:
                del kept[key]

    async def exchange_identity_assertion(self, client: OAuthClientInformationFull, params: Any) -> OAuthToken:
        raise NotImplementedError

    def _granted(
        self, scopes: list[str], client: OAuthClientInformationFull, of: AuthorizationCode | RefreshToken
    ) -> OAuthToken:
        access, again = self._new("access"), self._new("refresh")
        shared: dict[str, Any] = {
            "client_id": client.client_id, "scopes": scopes, "resource": of.resource, "subject": of.subject
        }  # fmt: skip
        self.access[access] = AccessToken(token=access, expires_at=int(time.time()) + self.lifetime_s, **shared)
        self.refresh[again] = RefreshToken(token=again, **shared)
        return OAuthToken(
            access_token=access, refresh_token=again, expires_in=self.lifetime_s, scope=" ".join(scopes)
        )  # fmt: skip

    def _new(self, kind: str) -> str:
        self.seen.append(f"{kind}-{secrets.token_urlsafe(32)}")
        return self.seen[-1]


class Sso:
    """A running authorization server with a server of MCP at `/mcp`, and one for `write` at `/mcp/write`."""

    def __init__(self, provider: Provider, origin: str) -> None:
        self.provider = provider
        self.origin = origin
        self.url = f"{origin}/mcp"


@contextmanager
def running_sso(make_app: Callable[[Provider, str], Starlette] | None = None) -> Iterator[Sso]:
    """Run both for the length of a block, on a free port of loopback."""
    provider = Provider()
    config = uvicorn.Config(Starlette(), host="127.0.0.1", port=0, log_level="warning", access_log=False)
    socket = config.bind_socket()
    origin = f"http://127.0.0.1:{socket.getsockname()[1]}"
    config.app = (make_app or _app)(provider, origin)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True)
    thread.start()
    try:
        yield Sso(provider, origin)
    finally:
        server.should_exit = True
        thread.join()
        socket.close()


def _app(provider: Provider, origin: str) -> Starlette:
    issuer, resource = AnyHttpUrl(origin), AnyHttpUrl(f"{origin}/mcp")
    scopes = ["read", "write"]
    options = ClientRegistrationOptions(enabled=True, valid_scopes=scopes, default_scopes=scopes)
    auth: Any = create_auth_routes(
        provider, issuer, client_registration_options=options, revocation_options=RevocationOptions(enabled=True)
    )
    metadata = create_protected_resource_routes(resource, [issuer], scopes_supported=["read"])
    named = build_resource_metadata_url(resource)
    tools = [
        Route("/mcp", RequireAuthMiddleware(_whoami, ["read"], named), methods=["POST"]),
        Route("/mcp/write", RequireAuthMiddleware(_whoami, ["write"], named), methods=["POST"]),
    ]
    backend = BearerAuthBackend(ProviderTokenVerifier(provider))
    return Starlette(
        routes=[*auth, *metadata, *tools], middleware=[Middleware(AuthenticationMiddleware, backend=backend)]
    )


async def _whoami(scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse({"person": scope["user"].access_token.subject})(scope, receive, send)
