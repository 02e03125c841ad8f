"""The requests of the authorization code flow: authorization, token, refresh and revocation."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard
from urllib.parse import quote_plus, urlencode, urlsplit

from skillroute.identity.model import Tokens, origin_of
from skillroute.identity.oauth.challenge import scopes_of
from skillroute.identity.oauth.registration import Registration
from skillroute.identity.oauth.web import Answer, AuthorizationServerUnavailable, LoginNotPossible, Web

MAX_TOKEN_CHARS = 65_536
"""Of an access or refresh token: more is not stored."""

_MAX_SECONDS = 400 * 86_400


class GrantRefused(Exception):
    """An authorization server refused a code or a refresh token: it is spent, revoked or too old."""


@dataclass(frozen=True, slots=True)
class Granted:
    """The answer of a token endpoint. `expires_in_s` is None where it did not say."""

    access: str = field(repr=False)
    refresh: str | None = field(repr=False)
    expires_in_s: float | None
    scopes: tuple[str, ...] | None


def new_verifier() -> str:
    """Return a verifier of PKCE (RFC 7636): 43 random characters."""
    return secrets.token_urlsafe(32)


def authorization_url(
    endpoint: str, client: Registration, *, state: str, verifier: str, scopes: Sequence[str], resource: str
) -> str:
    """Return the page where a person logs in."""
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    query = {
        "response_type": "code",
        "client_id": client["client_id"],
        "redirect_uri": client["redirect_uri"],
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii"),
        "code_challenge_method": "S256",
        "resource": resource,
    }
    if scopes:
        query["scope"] = " ".join(scopes)
    return f"{endpoint}{'&' if urlsplit(endpoint).query else '?'}{urlencode(query)}"


def exchange(web: Web, endpoint: str, client: Registration, *, code: str, verifier: str, resource: str) -> Granted:
    """Return what a code is good for. Raises `GrantRefused`, `LoginNotPossible`, `AuthorizationServerUnavailable`."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": client["redirect_uri"],
        "code_verifier": verifier,
        "resource": resource,
    }
    return _granted(_posted(web, endpoint, client, form), endpoint)


def refresh(web: Web, tokens: Tokens) -> Granted:
    """Return new tokens for a refresh token, which may be spent by this. Raises as `exchange`."""
    form = {"grant_type": "refresh_token", "refresh_token": tokens.refresh or "", "resource": tokens.resource}
    return _granted(_posted(web, tokens.token_endpoint, tokens.client, form), tokens.token_endpoint)


def revoke(web: Web, tokens: Tokens) -> bool:
    """Take tokens back where the authorization server does (RFC 7009); return whether it did."""
    if not tokens.revocation_endpoint:
        return False
    kind, token = ("access_token", tokens.access) if tokens.refresh is None else ("refresh_token", tokens.refresh)
    form = {"token": token, "token_type_hint": kind}
    return _posted(web, tokens.revocation_endpoint, tokens.client, form).status == 200


def _posted(web: Web, endpoint: str, client: Registration, form: Mapping[str, str]) -> Answer:
    # The id stands in the form even where it is in the header, too: the official SDK's server looks for it there.
    headers, sent = {}, {**form, "client_id": client["client_id"]}
    if client["auth_method"] == "client_secret_basic":
        # Each is encoded as in a form first (RFC 6749, section 2.3.1).
        pair = f"{quote_plus(client['client_id'])}:{quote_plus(client['client_secret'])}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode('ascii')).decode('ascii')}"
    elif client["auth_method"] == "client_secret_post":
        sent["client_secret"] = client["client_secret"]
    return web.post_form(endpoint, "the authorization server's endpoint", urlencode(sent).encode("ascii"), headers)


def _granted(answer: Answer, endpoint: str) -> Granted:
    host, found = origin_of(endpoint), answer.json()
    if answer.status >= 500 or answer.status == 429:
        raise AuthorizationServerUnavailable(f"{host} answers with status {answer.status}")
    if answer.status != 200 or found is None:
        error = None if found is None else found.get("error")
        if error == "invalid_grant":
            raise GrantRefused(f"{host} refuses the grant")
        # Of the answer the code alone: a description may repeat what was sent.
        shown = error if isinstance(error, str) and error.replace("_", "").isalnum() and len(error) < 64 else "no code"
        raise LoginNotPossible(f"the authorization server {host} refuses: status {answer.status}, {shown}")
    access, again = found.get("access_token"), found.get("refresh_token")
    if not _is_token(access) or str(found.get("token_type", "")).lower() != "bearer":
        raise LoginNotPossible(f"the authorization server {host} answers without a bearer token")
    given = found.get("scope")
    return Granted(
        access, again if _is_token(again) else None, _seconds(found.get("expires_in")),
        None if given is None else scopes_of(given),
    )  # fmt: skip


def _is_token(value: Any) -> TypeGuard[str]:
    # In a header: visible ASCII without blanks.
    return isinstance(value, str) and 0 < len(value) <= MAX_TOKEN_CHARS and all("!" <= each <= "~" for each in value)


def _seconds(value: Any) -> float | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return float(min(value, _MAX_SECONDS))
