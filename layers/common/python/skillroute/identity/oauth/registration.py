"""Which client a login is made as: one that was registered before, a document of its own, or one registered now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute.identity.model import origin_of
from skillroute.identity.oauth.discovery import AuthorizationServer
from skillroute.identity.oauth.web import LoginNotPossible, Web

Registration = Mapping[str, str]
"""``client_id``, ``client_secret`` where there is one, ``auth_method`` of the token endpoint, ``issuer`` and
``redirect_uri``: those that it is good for."""

_METHODS = ("client_secret_post", "client_secret_basic", "none")
"""The first that is offered is taken: servers of the official SDK offer both of the first, and revoke by one alone."""


def is_good_for(client: Registration, server: AuthorizationServer, redirect_uri: str) -> bool:
    """Return whether a registration that was kept is for an authorization server and a redirect."""
    return (client.get("issuer"), client.get("redirect_uri")) == (server.issuer, redirect_uri)


def registered_before(
    client_id: str, secret: str | None, server: AuthorizationServer, redirect_uri: str
) -> Registration:
    """Return the registration of a client whose id is in the settings."""
    method = "none"
    if secret is not None:
        method = next((each for each in _METHODS[:2] if each in server.auth_methods), _METHODS[1])
    return _client(server, redirect_uri, client_id, secret, method)


def register(
    web: Web, server: AuthorizationServer, redirect_uri: str, *, document_url: str | None, name: str
) -> Registration:
    """Return a registration at an authorization server.

    Parameters
    ----------
    document_url : str or None
        Of a Client ID Metadata Document, where there is one: then it is the client's id, and nothing is registered.
    name : str
        Of the client, for the person who logs in.

    Raises
    ------
    LoginNotPossible, AuthorizationServerUnavailable
    """
    if document_url is not None and server.takes_client_documents:
        return _client(server, redirect_uri, document_url, None, "none")
    if not server.registration_endpoint:
        raise LoginNotPossible(
            f"the authorization server {origin_of(server.issuer)} registers no clients by itself: register one there, "
            f"with the redirect {redirect_uri}, and set its client_id for the server"
        )
    body = {
        "client_name": name,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": _asked_method(server),
    }
    answer = web.post_json(server.registration_endpoint, "the registration endpoint", body)
    found = answer.json()
    if answer.status not in {200, 201} or found is None or not _is_text(found.get("client_id")):
        raise LoginNotPossible(
            f"the authorization server {origin_of(server.issuer)} refuses to register a client: status {answer.status}"
        )
    secret = found.get("client_secret")
    method = found.get("token_endpoint_auth_method", body["token_endpoint_auth_method"])
    if method not in _METHODS or (method != "none" and not _is_text(secret)):
        raise LoginNotPossible(
            f"the authorization server {origin_of(server.issuer)} wants a way of asking that is not known"
        )
    return _client(server, redirect_uri, found["client_id"], secret if method != "none" else None, method)


def _asked_method(server: AuthorizationServer) -> str:
    # The default is client_secret_basic (RFC 8414, section 2).
    offered = server.auth_methods or ("client_secret_basic",)
    return next((each for each in ("none", *_METHODS) if each in offered), "client_secret_basic")


def _client(
    server: AuthorizationServer, redirect_uri: str, client_id: str, secret: str | None, method: str
) -> Registration:
    client = {"client_id": client_id, "auth_method": method, "issuer": server.issuer, "redirect_uri": redirect_uri}
    return client if secret is None else {**client, "client_secret": secret}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 4096 and value.isprintable()
