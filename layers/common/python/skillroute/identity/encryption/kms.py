"""Encryption by a key of AWS KMS, which never leaves it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from skillroute.identity.encryption.port import Context, unreadable

MOST_AT_ONCE = 4096
"""Bytes that KMS encrypts at once; tokens may be longer."""

_VERSION = b"\x01"
_CONNECT_TIMEOUT_S = 1.0
_READ_TIMEOUT_S = 3.0


class KmsEncryption:
    """`Encryption` by KMS: in parts of 4,096 bytes, each bound to its place and to how many there are.

    Parameters
    ----------
    key_arn : str
        Of the key; its region is where it is asked.
    endpoint_url : str or None
        None takes that of the region.
    """

    def __init__(self, key_arn: str, *, endpoint_url: str | None = None) -> None:
        self._key_arn = key_arn
        self._endpoint_url = endpoint_url
        self._lock = threading.Lock()
        self._made: Any = None

    def __repr__(self) -> str:
        return f"KmsEncryption({self._key_arn!r})"

    def encrypt(self, plain: bytes, context: Context) -> bytes:
        """Return the bytes encrypted. Raises `SecretUnavailable`."""
        parts = [plain[at : at + MOST_AT_ONCE] for at in range(0, len(plain), MOST_AT_ONCE)]
        sealed = [
            self._asked("encrypt", KeyId=self._key_arn, Plaintext=part, EncryptionContext=_placed(context, nth, parts))
            for nth, part in enumerate(parts)
        ]
        blobs = [bytes(answer["CiphertextBlob"]) for answer in sealed]
        return _VERSION + b"".join(len(blob).to_bytes(4, "big") + blob for blob in blobs)

    def decrypt(self, sealed: bytes, context: Context) -> bytes:
        """Return the bytes as they were. Raises `SecretUnavailable`, also for another context."""
        blobs = list(_blobs(sealed))
        return b"".join(
            self._asked(
                "decrypt", KeyId=self._key_arn, CiphertextBlob=blob, EncryptionContext=_placed(context, nth, blobs)
            )["Plaintext"]
            for nth, blob in enumerate(blobs)
        )

    def _asked(self, operation: str, **parameters: Any) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 (0.1 s, paid on first use)

        try:
            answer: dict[str, Any] = getattr(self._client(), operation)(**parameters)
        except ClientError as error:
            # The code alone: AWS's own sentence names the role and the account.
            raise unreadable(f"KMS answers {error.response.get('Error', {}).get('Code', 'an error')}") from None
        except (BotoCoreError, ValueError) as error:
            raise unreadable(f"KMS cannot be asked: {type(error).__name__}") from None
        return answer

    def _client(self) -> Any:
        from botocore.config import Config  # noqa: PLC0415
        from botocore.session import Session  # noqa: PLC0415

        with self._lock:
            if self._made is None:
                parts = self._key_arn.split(":")  # arn:aws:kms:REGION:ACCOUNT:key/ID
                self._made = Session().create_client(
                    "kms",
                    region_name=parts[3] if len(parts) > 5 else None,
                    endpoint_url=self._endpoint_url,
                    config=Config(
                        connect_timeout=_CONNECT_TIMEOUT_S,
                        read_timeout=_READ_TIMEOUT_S,
                        retries={"mode": "standard", "total_max_attempts": 2},
                    ),
                )
            return self._made


def _placed(context: Context, nth: int, parts: list[bytes]) -> dict[str, str]:
    return {**context, "part": f"{nth + 1}/{len(parts)}"}


def _blobs(sealed: bytes) -> Iterator[bytes]:
    if sealed[:1] != _VERSION:
        raise unreadable("it was encrypted in another way; log in again")
    at = 1
    while at < len(sealed):
        size = int.from_bytes(sealed[at : at + 4], "big")
        yield sealed[at + 4 : at + 4 + size]
        at += 4 + size
