"""Encryption by a key in a file that its owner alone can read: the laptop's."""

from __future__ import annotations

import os
import secrets
import threading
from pathlib import Path

from skillroute.identity.encryption.port import Context, context_bytes, unreadable
from skillroute.identity.private_file import read_private

_VERSION = b"\x02"
_KEY_BYTES = 32
_NONCE_BYTES = 12


class KeyFileEncryption:
    """`Encryption` by AES-256-GCM; the file is made at the first use, once, with mode 0600.

    Parameters
    ----------
    path : Path
        Of the key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._key: bytes | None = None

    def __repr__(self) -> str:
        return f"KeyFileEncryption({str(self._path)!r})"

    def encrypt(self, plain: bytes, context: Context) -> bytes:
        """Return the bytes encrypted. Raises `SecretUnavailable`."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 (its library, on first use)

        nonce = secrets.token_bytes(_NONCE_BYTES)
        return _VERSION + nonce + AESGCM(self._read_key()).encrypt(nonce, plain, context_bytes(context))

    def decrypt(self, sealed: bytes, context: Context) -> bytes:
        """Return the bytes as they were. Raises `SecretUnavailable`, also for another context."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415

        if sealed[:1] != _VERSION:
            raise unreadable("it was encrypted in another way; log in again")
        nonce, rest = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        try:
            return AESGCM(self._read_key()).decrypt(nonce, rest, context_bytes(context))
        except (InvalidTag, ValueError):
            raise unreadable(f"the key in {self._path} is not the one it was encrypted with; log in again") from None

    def _read_key(self) -> bytes:
        with self._lock:
            if self._key is None:
                self._make()
                self._key = read_private(self._path)
                if len(self._key) != _KEY_BYTES:
                    raise unreadable(f"{self._path} holds no key of {_KEY_BYTES} bytes; move it away and log in again")
            return self._key

    def _make(self) -> None:
        """Make the key where there is none. Of two processes one makes it: a link does not replace what is there."""
        if self._path.exists():
            return
        new = self._path.with_name(f".{self._path.name}.{secrets.token_hex(8)}")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
            try:
                os.link(new, self._path)
            except FileExistsError:
                pass
            finally:
                new.unlink()
        except OSError as error:
            raise unreadable(f"{self._path} cannot be made: {error.strerror}") from None
