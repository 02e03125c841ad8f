"""Identities of servers, and one's own logins at them."""

from __future__ import annotations

from datetime import datetime

from skillroute_client.models.base import Answer


class ServerIdentity(Answer):
    """The way in which a server lets requests in: where a secret is, never the secret."""

    kind: str
    header: str | None = None
    prefix: str | None = None
    secret: str | None = None
    audiences: list[str] | None = None
    client_id: str | None = None
    client_secret: str | None = None
    scopes: list[str] | None = None
    origin: str | None = None
    changed_at: datetime | None = None
    changed_by: str | None = None


class LoginStarted(Answer):
    """A login that was begun: the page that the caller opens, and does not pass on."""

    authorization_url: str
    expires_at: datetime


class Login(Answer):
    """A login of the caller's own."""

    server_id: int
    server_name: str = ""
    scopes: list[str] = []
    expires_at: datetime | None = None
    created_at: datetime | None = None
    refreshed_at: datetime | None = None
