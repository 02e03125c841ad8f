"""Identities of servers, and logins of persons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

IdentityKind = Literal["none", "secret", "caller_token", "oauth"]
KINDS: tuple[IdentityKind, ...] = get_args(IdentityKind)


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """The way in which a server lets requests in.

    Attributes
    ----------
    settings : mapping
        Of its kind. Where a secret is, never what it is.
    origin : str
        Scheme, host and port that the identity was set for: credentials are sent nowhere else, also after the
        server's address was changed.
    client : bytes or None
        The registration at the authorization server, encrypted.
    """

    server_id: int
    kind: IdentityKind
    settings: Mapping[str, Any] = field(default_factory=dict)
    client: bytes | None = field(default=None, repr=False)
    changed_at: datetime | None = None
    changed_by: str | None = None

    @property
    def origin(self) -> str:
        return str(self.settings.get("origin", ""))


@dataclass(frozen=True, slots=True)
class Person:
    """A person of an organisation, or of none: the subject of the tokens that they come with."""

    org_id: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a login, and where they are good. `repr` shows none.

    Attributes
    ----------
    resource : str
        The server that they are for (RFC 8707): they are sent to no other.
    issuer, token_endpoint, revocation_endpoint : str
        Of the authorization server that made them; the last is empty where it takes none back.
    client : mapping
        The registration that they were made for: a refresh takes the same.
    """

    access: str = field(repr=False)
    refresh: str | None = field(repr=False)
    resource: str
    issuer: str
    token_endpoint: str
    revocation_endpoint: str
    client: Mapping[str, str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class KeptTokens:
    """Tokens as they are stored: encrypted, with what may be seen of them."""

    sealed: bytes = field(repr=False)
    expires_at: datetime | None
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Login:
    """A login as its person sees it."""

    server_id: int
    server_name: str
    scopes: tuple[str, ...]
    expires_at: datetime | None
    created_at: datetime
    refreshed_at: datetime | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A login that was begun."""

    server_id: int
    person: Person
    sealed: bytes = field(repr=False)
    redirect_uri: str
    issuer: str
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Pending:
    """A login that waits for the word of who sits in front of the browser.

    Attributes
    ----------
    who : str
        Who began it, in words that a stranger understands.
    subject : str or None
        The subject of that person's tokens, where the words have another; None where it says nothing more.
    address : str
        Of the server: its name is what the one who registered it wanted.
    """

    who: str
    subject: str | None
    server: str
    address: str
    issuer: str
    scopes: tuple[str, ...]
    begun_at: datetime
    expires_at: datetime


def origin_of(url: str) -> str:
    """Return scheme, host and port of an address, in one spelling; empty where it has none.

    Examples
    --------
    >>> origin_of("HTTPS://Example.com:443/mcp")
    'https://example.com'
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if not host or parts.scheme not in {"http", "https"}:
        return ""
    shown = f"[{host}]" if ":" in host else host
    is_usual = port is None or port == {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{shown}" if is_usual else f"{parts.scheme}://{shown}:{port}"
