"""The port of encryption, and what keeps both sides from mixing up rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from skillroute.core.errors.model import SecretUnavailable
from skillroute.core.hashing import canonical_json

Context = Mapping[str, str]
"""The purpose, the server and the person of what is encrypted: decrypting takes the same."""


class Encryption(Protocol):
    """Encrypts bytes. Safe to use from several threads."""

    def encrypt(self, plain: bytes, context: Context) -> bytes:
        """Return the bytes encrypted. Raises `SecretUnavailable`."""
        ...

    def decrypt(self, sealed: bytes, context: Context) -> bytes:
        """Return the bytes as they were. Raises `SecretUnavailable`, also for another context."""
        ...


def context_bytes(context: Context) -> bytes:
    """Return the one way in which a context is written."""
    return canonical_json(dict(context)).encode("ascii")


def unreadable(reason: str) -> SecretUnavailable:
    """Return the error for what cannot be encrypted or decrypted."""
    return SecretUnavailable(f"what persons logged in with cannot be encrypted or decrypted: {reason}")
