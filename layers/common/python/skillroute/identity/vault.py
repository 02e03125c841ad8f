"""Tokens, verifiers and registrations, encrypted: each bound to its server, organisation and person."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict
from skillroute.identity.encryption.port import Encryption, unreadable
from skillroute.identity.model import Person, Tokens

NO_KEY = (
    "logins are off: no key is set that tokens are encrypted with. Set SKILLROUTE_TOKENS_KEY_ARN to a key of KMS, or "
    "SKILLROUTE_TOKENS_KEY_FILE on a laptop"
)


class Vault:
    """Encrypts what a login leaves behind.

    Parameters
    ----------
    encryption : Encryption or None
        None: there is no key, and each method raises `Conflict` with the remedy.
    """

    def __init__(self, encryption: Encryption | None) -> None:
        self._encryption = encryption

    def require_key(self) -> Encryption:
        """Return the encryption. Raises `Conflict` where there is none."""
        if self._encryption is None:
            raise Conflict(NO_KEY, ErrorCode.LOGIN_NOT_POSSIBLE)
        return self._encryption

    def seal_tokens(self, tokens: Tokens, server_id: int, person: Person) -> bytes:
        """Return tokens encrypted."""
        return self._seal(asdict(tokens), _context("tokens", server_id, person))

    def open_tokens(self, sealed: bytes, server_id: int, person: Person) -> Tokens:
        """Return tokens as they were."""
        try:
            return Tokens(**self._open(sealed, _context("tokens", server_id, person)))
        except TypeError:
            raise unreadable("an older version wrote it; log in again") from None

    def seal_attempt(self, attempt: dict[str, Any], server_id: int, person: Person) -> bytes:
        """Return what a login under way needs, encrypted."""
        return self._seal(attempt, _context("attempt", server_id, person))

    def open_attempt(self, sealed: bytes, server_id: int, person: Person) -> dict[str, Any]:
        """Return what a login under way needs."""
        return self._open(sealed, _context("attempt", server_id, person))

    def seal_client(self, client: dict[str, str], server_id: int) -> bytes:
        """Return the registration of a server's client, encrypted."""
        return self._seal(client, _context("client", server_id, None))

    def open_client(self, sealed: bytes, server_id: int) -> dict[str, str]:
        """Return the registration of a server's client."""
        return self._open(sealed, _context("client", server_id, None))

    def _seal(self, value: dict[str, Any], context: dict[str, str]) -> bytes:
        return self.require_key().encrypt(json.dumps(value).encode("utf-8"), context)

    def _open(self, sealed: bytes, context: dict[str, str]) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.require_key().decrypt(sealed, context))
        return found


def _context(purpose: str, server_id: int, person: Person | None) -> dict[str, str]:
    context = {"purpose": purpose, "server": str(server_id)}
    if person is None:
        return context
    of_org = {} if person.org_id is None else {"org": person.org_id}
    return {**context, **of_org, "person": person.name}
