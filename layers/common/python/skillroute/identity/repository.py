"""The rows of mcp.server_identities, mcp.person_tokens and mcp.login_attempts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from skillroute.core.outbound.credentials import ServerRef
from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import Rights
from skillroute.identity.model import Attempt, IdentityKind, KeptTokens, Login, Person, ServerIdentity

ATTEMPTS_KEPT = 4
"""Logins under way of one person at one server, in addition to the new one."""


class IdentityRepository:
    """Identities of servers."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def server(self, server_id: int, org_id: str | None, rights: Rights) -> ServerRef | None:
        """Return a server that a caller with some rights sees; its address is empty where its document has none."""
        rows = self._run("server_of_identity", server_id=server_id, org_id=org_id, rights=rights.as_json())
        return None if not rows else ServerRef(rows[0][0], rows[0][1], rows[0][2], _address(rows[0][3]))

    def get(self, server_id: int) -> ServerIdentity | None:
        """Return how a server lets requests in; None where nothing was set."""
        rows = self._run("get_identity", server_id=server_id)
        if not rows:
            return None
        id_, kind, settings, client, changed_at, changed_by = rows[0]
        return ServerIdentity(id_, kind, settings, None if client is None else bytes(client), changed_at, changed_by)

    def put(self, server: ServerRef, kind: IdentityKind, settings: Mapping[str, Any], changed_by: str | None) -> None:
        """Store how a server lets requests in; what was registered before is forgotten."""
        self._run(
            "put_identity",
            server_id=server.id,
            org_id=server.org_id,
            kind=kind,
            settings=json.dumps(dict(settings)),
            changed_by=changed_by,
        )

    def put_client(self, server_id: int, client: bytes) -> None:
        """Store an encrypted registration at an authorization server."""
        self._run("put_client", server_id=server_id, client=client)

    def delete(self, server_id: int) -> None:
        """Delete how a server lets requests in."""
        self._run("delete_identity", server_id=server_id)

    def delete_logins(self, server_id: int) -> None:
        """Delete what all persons logged in with at a server, and their logins under way."""
        self._run("delete_logins_of_server", server_id=server_id)
        self._run("delete_attempts_of_server", server_id=server_id)


class LoginRepository:
    """The tokens of one person."""

    def __init__(self, session: Session, person: Person) -> None:
        self._run = session.run
        self._of = {"org_id": person.org_id, "person": person.name}

    def get(self, server_id: int) -> KeptTokens | None:
        """Return the tokens at a server."""
        rows = self._run("get_person_tokens", server_id=server_id, **self._of)
        return None if not rows else KeptTokens(bytes(rows[0][0]), rows[0][1], tuple(rows[0][2]))

    def lock(self, server_id: int) -> None:
        """Let no other transaction refresh the tokens at a server until this one ends."""
        self._run("lock_person_tokens", server_id=server_id, **self._of)

    def put(self, server_id: int, kept: KeptTokens, *, is_refreshed: bool = False) -> None:
        """Store tokens: those of a new login, or those that a refresh gave; the latter only where a login still is."""
        name = "refresh_person_tokens" if is_refreshed else "put_person_tokens"
        what = {"tokens": kept.sealed, "expires_at": kept.expires_at, "scopes": list(kept.scopes)}
        self._run(name, server_id=server_id, **what, **self._of)

    def delete(self, server_id: int) -> bytes | None:
        """Delete the tokens at a server and return them, encrypted; None where there were none."""
        rows = self._run("delete_person_tokens", server_id=server_id, **self._of)
        return bytes(rows[0][0]) if rows else None

    def page(self, *, limit: int, offset: int) -> tuple[list[Login], int]:
        """Return some of the person's logins by server, and how many there are."""
        [[total]] = self._run("count_person_tokens", **self._of)
        rows = self._run("list_person_tokens", limit=limit, offset=offset, **self._of)
        return [Login(row[0], row[1], tuple(row[2]), *row[3:]) for row in rows], total


class AttemptRepository:
    """Logins under way."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def add(self, state_hash: str, attempt: Attempt, now: datetime) -> None:
        """Store a login that was begun; those that are too old, or too many, go."""
        of = {"server_id": attempt.server_id, "org_id": attempt.person.org_id, "person": attempt.person.name}
        self._run("drop_login_attempts", now=now, kept=ATTEMPTS_KEPT, is_link=not attempt.issuer, **of)
        self._run(
            "put_login_attempt",
            state_hash=state_hash,
            sealed=attempt.sealed,
            redirect_uri=attempt.redirect_uri,
            issuer=attempt.issuer,
            expires_at=attempt.expires_at,
            **of,
        )

    def get(self, state_hash: str) -> tuple[Attempt, str] | None:
        """Return a login that was begun, with its server's name; None where there is none of this state."""
        rows = self._run("get_login_attempt", state_hash=state_hash)
        return (_attempt(rows[0][:7]), rows[0][7]) if rows else None

    def take(self, state_hash: str) -> Attempt | None:
        """Return a login that was begun, and delete it; None where there is none of this state."""
        rows = self._run("take_login_attempt", state_hash=state_hash)
        return _attempt(rows[0]) if rows else None


def _attempt(row: Sequence[Any]) -> Attempt:
    server_id, org_id, person, sealed, redirect_uri, issuer, expires_at = row
    return Attempt(server_id, Person(org_id, person), bytes(sealed), redirect_uri, issuer, expires_at)


def _address(document: Any) -> str:
    """Return the first address that a server's document has under `remotes`, that of streamable HTTP before others."""
    remotes = document.get("remotes") if isinstance(document, dict) else None
    named = [each for each in remotes if isinstance(each, dict)] if isinstance(remotes, list) else []
    named.sort(key=lambda each: not str(each.get("type", each.get("transport_type", ""))).startswith("streamable"))
    return next((each["url"] for each in named if isinstance(each.get("url"), str)), "")
