"""Encryption by a key file: made once, for its owner alone, and bound to its context."""

from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from skillroute.core.errors.model import SecretUnavailable
from skillroute.identity.encryption.key_file import KeyFileEncryption

ANN = {"server": "1", "org": "acme", "person": "ann"}


def test_what_was_encrypted_is_decrypted_with_the_same_context_alone(tmp_path: Path) -> None:
    encryption = KeyFileEncryption(tmp_path / "home" / "key")
    sealed = encryption.encrypt(b"token", ANN)
    assert (b"token" in sealed, encryption.decrypt(sealed, ANN)) == (False, b"token")
    assert encryption.encrypt(b"token", ANN) != sealed
    for other in ({}, ANN | {"person": "ben"}, ANN | {"server": "2"}, {k: v for k, v in ANN.items() if k != "org"}):
        with pytest.raises(SecretUnavailable):
            encryption.decrypt(sealed, other)


def test_what_was_changed_is_refused(tmp_path: Path) -> None:
    encryption = KeyFileEncryption(tmp_path / "key")
    sealed = encryption.encrypt(b"token", ANN)
    for changed in (b"", sealed[:5], sealed[:-1], sealed[:-1] + bytes([sealed[-1] ^ 1]), b"\x01" + sealed[1:]):
        with pytest.raises(SecretUnavailable):
            encryption.decrypt(changed, ANN)


def test_the_key_is_made_once_by_the_first_of_several_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "key"
    with ThreadPoolExecutor(8) as threads:
        sealed = list(threads.map(lambda _: KeyFileEncryption(path).encrypt(b"token", ANN), range(16)))
    assert {KeyFileEncryption(path).decrypt(each, ANN) for each in sealed} == {b"token"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["key"]


def test_a_key_that_others_may_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "key"
    KeyFileEncryption(path).encrypt(b"token", ANN)
    path.chmod(0o644)
    with pytest.raises(SecretUnavailable, match="chmod 600"):
        KeyFileEncryption(path).encrypt(b"token", ANN)
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(SecretUnavailable, match="holds no key of 32 bytes"):
        KeyFileEncryption(path).encrypt(b"token", ANN)
