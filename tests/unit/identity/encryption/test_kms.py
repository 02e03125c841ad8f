"""Encryption by KMS, which moto plays: parts, contexts, and what is said where it refuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from botocore.session import Session
from moto import mock_aws
from skillroute.core.errors.model import SecretUnavailable
from skillroute.identity.encryption.kms import MOST_AT_ONCE, KmsEncryption

ANN = {"server": "1", "org": "acme", "person": "ann"}


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    with mock_aws():
        yield Session().create_client("kms", region_name="eu-central-1").create_key()["KeyMetadata"]["Arn"]


@pytest.mark.parametrize("size", [1, MOST_AT_ONCE, MOST_AT_ONCE + 1, 3 * MOST_AT_ONCE])
def test_what_was_encrypted_is_decrypted_however_long_it_is(key: str, size: int) -> None:
    plain = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    encryption = KmsEncryption(key)
    sealed = encryption.encrypt(plain, ANN)
    assert encryption.decrypt(sealed, ANN) == plain
    assert size < 10 or plain[:64] not in sealed


def test_another_context_is_refused(key: str) -> None:
    encryption = KmsEncryption(key)
    sealed = encryption.encrypt(b"token", ANN)
    for other in ({}, ANN | {"person": "ben"}, {k: v for k, v in ANN.items() if k != "org"}):
        with pytest.raises(SecretUnavailable, match="KMS answers"):
            encryption.decrypt(sealed, other)


def test_parts_are_bound_to_their_places(key: str) -> None:
    """Two parts that were swapped, or one that was left out, are refused."""
    encryption = KmsEncryption(key)
    sealed = encryption.encrypt(b"a" * MOST_AT_ONCE + b"b" * MOST_AT_ONCE, ANN)
    half = (len(sealed) - 1) // 2
    first, second = sealed[1 : 1 + half], sealed[1 + half :]
    for changed in (second + first, first, second, first + first):
        with pytest.raises(SecretUnavailable):
            encryption.decrypt(sealed[:1] + changed, ANN)


def test_a_key_that_is_not_there_is_reported_without_the_text(key: str) -> None:
    with pytest.raises(SecretUnavailable, match="NotFoundException") as refused:
        KmsEncryption(key[:-4] + "0000").encrypt(b"a-token", ANN)
    assert "a-token" not in str(refused.value)
    with pytest.raises(SecretUnavailable, match="another way"):
        KmsEncryption(key).decrypt(b"\x02abc", ANN)
