"""Discovery of a server's authorization server: RFC 9728, RFC 8414 and OpenID Connect Discovery, in MCP's order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from skillroute.identity.model import origin_of
from skillroute.identity.oauth.challenge import BearerChallenge, parse_challenge, scopes_of
from skillroute.identity.oauth.web import Answer, LoginNotPossible, Web

_PROTECTED = "/.well-known/oauth-protected-resource"
_OAUTH = "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"

_PROBE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "skillroute", "version": "1"},
    },
}
"""A request that a server refuses with its challenge, where it asks for tokens."""


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """An authorization server, as its metadata describe it; endpoints that it does not have are empty."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str
    revocation_endpoint: str
    takes_client_documents: bool
    says_iss: bool
    auth_methods: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Discovered:
    """The facts that a login at a server goes by; tokens are asked for `resource` (RFC 8707)."""

    resource: str
    scopes: tuple[str, ...]
    server: AuthorizationServer


def discover(web: Web, server_url: str) -> Discovered:
    """Return who issues tokens for a server. Raises `LoginNotPossible` and `AuthorizationServerUnavailable`."""
    challenge = _challenge(web.probe(server_url, "the server's address", _PROBE))
    document = _resource_metadata(web, server_url, challenge)
    if document is None:
        raise LoginNotPossible(
            f"{origin_of(server_url)} does not say who issues tokens for it (RFC 9728): use a secret instead"
        )
    resource = _resource(document, server_url)
    issuers = document.get("authorization_servers")
    if not isinstance(issuers, list) or not issuers:
        raise LoginNotPossible(f"{origin_of(server_url)} names no authorization server in its metadata")
    scopes = challenge.scopes or scopes_of(document.get("scopes_supported"))
    return Discovered(resource, scopes, _authorization_server(web, issuers[0]))


def _challenge(answer: Answer) -> BearerChallenge:
    return parse_challenge(answer.headers.get("www-authenticate")) if answer.status in {401, 403} else BearerChallenge()


def _resource_metadata(web: Web, server_url: str, challenge: BearerChallenge) -> dict[str, Any] | None:
    """Return the metadata of a server: where its challenge says, else with its path inserted, else at the root."""
    if challenge.resource_metadata is not None:
        url = web.check(challenge.resource_metadata, "the address of the server's metadata")
        return _document(web, url)
    origin, path = origin_of(server_url), urlsplit(server_url).path.rstrip("/")
    for place in dict.fromkeys([f"{origin}{_PROTECTED}{path}", f"{origin}{_PROTECTED}"]):
        if (found := _document(web, place)) is not None:
            return found
    return None


def _document(web: Web, url: str) -> dict[str, Any] | None:
    answer = web.get(url, "the address of metadata")
    return answer.json() if answer.status == 200 else None


def _resource(document: Mapping[str, Any], server_url: str) -> str:
    """Return the resource that metadata speak of: the server's address, or one that it lies below.

    Metadata of another server would have a login's token made for that one (RFC 9728, section 3.3).
    """
    resource = document.get("resource")
    if isinstance(resource, str) and covers(resource, server_url):
        return resource
    raise LoginNotPossible(f"the metadata of {origin_of(server_url)} speak of another server: their `resource` differs")


def covers(resource: str, server_url: str) -> bool:
    """Return whether a resource is a server's address, or one that it lies below."""
    if not resource.isprintable() or not (origin := origin_of(resource)) or origin != origin_of(server_url):
        return False
    parts, path = urlsplit(resource), urlsplit(server_url).path.rstrip("/") + "/"
    return not parts.query and not parts.fragment and path.startswith(parts.path.rstrip("/") + "/")


def _authorization_server(web: Web, issuer: object) -> AuthorizationServer:
    url = web.check(issuer, "the authorization server's address")
    for place in _places(url):
        found = _document(web, place)
        if found is not None:
            return _read(web, url, found)
    raise LoginNotPossible(f"the authorization server {origin_of(url)} has no metadata (RFC 8414)")


def _places(issuer: str) -> list[str]:
    """Return where metadata of an issuer are looked for, in the order of MCP's authorization."""
    origin, path = origin_of(issuer), urlsplit(issuer).path.rstrip("/")
    if not path:
        return [f"{origin}{_OAUTH}", f"{origin}{_OPENID}"]
    return [f"{origin}{_OAUTH}{path}", f"{origin}{_OPENID}{path}", f"{origin}{path}{_OPENID}"]


def _read(web: Web, issuer: str, found: Mapping[str, Any]) -> AuthorizationServer:
    host = origin_of(issuer)
    if found.get("issuer") != issuer:  # to the letter (RFC 8414, section 3.3)
        raise LoginNotPossible(f"the metadata of the authorization server {host} name another issuer")
    methods = found.get("code_challenge_methods_supported")
    if not isinstance(methods, list) or "S256" not in methods:
        raise LoginNotPossible(f"the authorization server {host} does not offer PKCE with S256, which MCP asks for")

    def endpoint(name: str, *, is_needed: bool = False) -> str:
        if found.get(name) is None and not is_needed:
            return ""
        return web.check(found.get(name), f"`{name}` of the authorization server {host}")

    auth = found.get("token_endpoint_auth_methods_supported")
    return AuthorizationServer(
        issuer=issuer,
        authorization_endpoint=endpoint("authorization_endpoint", is_needed=True),
        token_endpoint=endpoint("token_endpoint", is_needed=True),
        registration_endpoint=endpoint("registration_endpoint"),
        revocation_endpoint=endpoint("revocation_endpoint"),
        takes_client_documents=found.get("client_id_metadata_document_supported") is True,
        says_iss=found.get("authorization_response_iss_parameter_supported") is True,
        auth_methods=tuple(map(str, auth)) if isinstance(auth, list) else (),
    )
