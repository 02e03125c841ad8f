"""The request and answer models of the routes of identities and logins."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from skillroute.core.input.text_fields import Text
from skillroute.identity.model import IdentityKind, Login, ServerIdentity
from skillroute.identity.oauth.challenge import scopes_of

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_NOT_ONES_OWN = frozenset({
    "host", "content-length", "content-type", "transfer-encoding", "connection", "te", "trailer", "upgrade", "cookie",
    "accept", "accept-encoding", "expect", "proxy-authorization", "mcp-session-id", "mcp-protocol-version",
})  # fmt: skip

_OF_KIND: dict[IdentityKind, frozenset[str]] = {
    "none": frozenset(),
    "secret": frozenset({"header", "prefix", "secret"}),
    "caller_token": frozenset({"audiences"}),
    "oauth": frozenset({"client_id", "client_secret", "scopes"}),
}
_NEEDED: dict[IdentityKind, str] = {"secret": "secret", "caller_token": "audiences"}


def _is_header(name: str) -> str:
    if not _HEADER.fullmatch(name) or name.lower() in _NOT_ONES_OWN:
        raise ValueError("must be the name of a header that carries a secret, such as Authorization or X-Api-Key")
    return name


def _is_printable(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise ValueError("must be visible ASCII characters")
    return text


def _is_scope(text: str) -> str:
    if scopes_of([text]) != (text,):
        raise ValueError("must be one scope of OAuth: visible ASCII characters without blanks and quotes")
    return text


_Scopes = Annotated[list[Annotated[str, AfterValidator(_is_scope)]], Field(max_length=50)]
_Place = Annotated[Text, Field(min_length=1, max_length=2048)]
_Printed = Annotated[str, AfterValidator(_is_printable)]


class IdentityRequest(BaseModel):
    """The way in which requests to a server are let in. Secrets are named by their place, and never sent here."""

    model_config = ConfigDict(extra="forbid", strict=True)

    kind: IdentityKind = Field(
        description="none; secret: the same for all callers; caller_token: the caller's own token is passed on; "
        "oauth: each person logs in."
    )
    header: Annotated[str, AfterValidator(_is_header)] | None = Field(
        None, description="Of kind secret: the header; Authorization when left out."
    )
    prefix: Annotated[_Printed, Field(max_length=64)] | None = Field(
        None, description="Of kind secret: what stands before it; `Bearer ` for Authorization, else nothing."
    )
    secret: _Place | None = Field(
        None,
        description="Of kind secret: where it is: the ARN of a secret of Secrets Manager, with #KEY for one value of a "
        "JSON object; on a laptop also keyring:NAME or file:/path.",
    )
    audiences: (
        Annotated[list[Annotated[_Printed, Field(min_length=1, max_length=512)]], Field(max_length=20)] | None
    ) = Field(None, description="Of kind caller_token: tokens are passed on that name one of these in aud.")
    client_id: Annotated[_Printed, Field(min_length=1, max_length=2048)] | None = Field(
        None, description="Of kind oauth: the client that was registered at the authorization server before."
    )
    client_secret: _Place | None = Field(None, description="Of kind oauth: where the secret of that client is.")
    scopes: _Scopes | None = Field(
        None, description="Of kind oauth: what is asked for; when left out, what the server says."
    )

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        given = self.model_fields_set - {"kind"}
        if foreign := given - _OF_KIND[self.kind]:
            raise ValueError(f"kind {self.kind} takes no {', '.join(sorted(foreign))}")
        needed = _NEEDED.get(self.kind)
        if needed is not None and not getattr(self, needed):
            raise ValueError(f"kind {self.kind} needs {needed}")
        if self.client_secret is not None and self.client_id is None:
            raise ValueError("client_secret needs client_id")
        return self

    def settings(self) -> dict[str, Any]:
        """Return what is stored."""
        found = self.model_dump(exclude={"kind"}, exclude_none=True)
        if self.kind == "secret":
            found.setdefault("header", "Authorization")
            found.setdefault("prefix", "Bearer " if found["header"].lower() == "authorization" else "")
        return found


class IdentityOut(BaseModel):
    """The way in which requests to a server are let in: where a secret is, never the secret."""

    kind: IdentityKind = Field(description="none, secret, caller_token or oauth.")
    header: str | None = Field(None, description="Of kind secret: the header.")
    prefix: str | None = Field(None, description="Of kind secret: what stands before it.")
    secret: str | None = Field(None, description="Of kind secret: where it is.")
    audiences: list[str] | None = Field(None, description="Of kind caller_token: of the tokens that are passed on.")
    client_id: str | None = Field(None, description="Of kind oauth: the client that was registered before.")
    client_secret: str | None = Field(None, description="Of kind oauth: where the secret of that client is.")
    scopes: list[str] | None = Field(None, description="Of kind oauth: what is asked for.")
    origin: str | None = Field(None, description="The address that it was set for: scheme, host and port.")
    changed_at: datetime | None = Field(None, description="When it was set; null where it never was.")
    changed_by: str | None = Field(None, description="Who set it: the subject of the token, where known.")

    @classmethod
    def of(cls, identity: ServerIdentity) -> IdentityOut:
        """Return what the API says of an identity."""
        known = {name: value for name, value in identity.settings.items() if name in cls.model_fields}
        return cls(kind=identity.kind, changed_at=identity.changed_at, changed_by=identity.changed_by, **known)


class LoginRequest(BaseModel):
    """The scopes that a login asks for in addition to those of the server."""

    model_config = ConfigDict(extra="forbid", strict=True)

    scopes: _Scopes = Field(default_factory=list, description="After a call was refused for want of them.")


class LoginStarted(BaseModel):
    """A login that was begun."""

    authorization_url: str = Field(
        description="The page where the caller logs in. It is theirs alone: who finishes it lends them "
        "what they logged in with."
    )
    expires_at: datetime = Field(description="Until when.")


class LoginOut(BaseModel):
    """A login of the caller's own. Tokens are never shown."""

    server_id: int = Field(description="The server's id.")
    server_name: str = Field(description="The server's name.")
    scopes: list[str] = Field(description="What the server was allowed.")
    expires_at: datetime | None = Field(
        description="When the access token expires; it is renewed by itself where that is offered. Null: not known."
    )
    created_at: datetime = Field(description="When the person logged in.")
    refreshed_at: datetime | None = Field(description="When the tokens were renewed last.")

    @classmethod
    def of(cls, login: Login) -> LoginOut:
        """Return what the API says of a login."""
        return cls(
            server_id=login.server_id,
            server_name=login.server_name,
            scopes=list(login.scopes),
            expires_at=login.expires_at,
            created_at=login.created_at,
            refreshed_at=login.refreshed_at,
        )
