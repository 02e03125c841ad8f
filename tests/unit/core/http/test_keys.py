"""Key sets: what may stand in SKILLROUTE_JWT_KEYS, and that the same rules hold for every token."""

from __future__ import annotations

import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from skillroute.core.errors.model import ConfigurationError
from skillroute.core.http.challenge import InvalidToken
from skillroute.core.http.keys import KeySet

from tests.api.tokens import Signer, claims, key_set

FIRST, SECOND = Signer("first"), Signer("second")


def _private() -> dict[str, Any]:
    made: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(FIRST.key, as_dict=True)
    return made | {"kid": "first"}


def _short() -> dict[str, Any]:
    key = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    made: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    return made | {"kid": "short"}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("", "no JSON Web Key Set"),
        ("{", "no JSON Web Key Set"),
        ("[]", "no JSON Web Key Set"),
        ("[" * 20_000, "no JSON Web Key Set"),
        ('{"keys": {}}', "no JSON Web Key Set"),
        ('{"keys": ["first"]}', "no JSON Web Key Set"),
        ('{"keys": []}', "no RSA key"),
        (key_set({"kty": "oct", "kid": "a", "k": "c2VjcmV0", "alg": "HS256"}), "no RSA key"),
        (key_set({"kty": "oct", "kid": "a", "k": "c2VjcmV0", "alg": "RS256"}), "no RSA key"),
        (key_set(FIRST.public(use="enc")), "no RSA key"),
        (key_set(FIRST.public(kid=None)), "a kid of its own"),
        (key_set(FIRST.public(kid="")), "a kid of its own"),
        (key_set(FIRST.public(kid=["first"])), "a kid of its own"),
        (key_set(FIRST.public(), SECOND.public(kid="first")), "a kid of its own"),
        (key_set(FIRST.public(n="")), "malformed"),
        (key_set(FIRST.public(n="ä")), "malformed"),
        (key_set(FIRST.public(n=7)), "malformed"),
        (key_set({"kty": "RSA", "kid": "a"}), "malformed"),
        (key_set(_private()), "a private key stands in it"),
        (key_set(_short()), "shorter than 2048 bits"),
    ],
    # Of keys that are made at random: every process has to name the cases alike.
    ids=[
        "empty",
        "half",
        "a list",
        "deep",
        "keys that are no list",
        "a key that is text",
        "no keys",
        "of a secret",
        "of a secret for RS256",
        "for encryption",
        "no kid",
        "an empty kid",
        "a kid that is a list",
        "a kid twice",
        "an empty modulus",
        "a modulus that is no base64",
        "a modulus that is a number",
        "no modulus",
        "private",
        "short",
    ],
)
def test_a_key_set_that_is_none_stops_the_start_and_is_not_quoted(document: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^SKILLROUTE_JWT_KEYS: .*{reason}") as refused:
        KeySet(document)
    assert len(str(refused.value)) < 120


def test_each_key_of_a_set_verifies_what_it_signed() -> None:
    keys = KeySet(key_set(FIRST.public(), SECOND.public()))
    for signer in (FIRST, SECOND):
        said = claims()
        assert keys.claims_of(signer.sign(said)) == said


def test_a_key_needs_neither_a_use_nor_an_algorithm() -> None:
    bare = {name: value for name, value in FIRST.public().items() if name not in {"use", "alg"}}
    assert KeySet(key_set(bare)).claims_of(FIRST.sign(claims()))["sub"] == "ann"


@pytest.mark.parametrize("name", ["exp", "iat", "iss"])
def test_what_every_token_has_is_asked_for(name: str) -> None:
    said = claims()
    del said[name]
    with pytest.raises(InvalidToken, match=f"^the token lacks the claim {name!r}$"):
        KeySet(key_set(FIRST.public())).claims_of(FIRST.sign(said))


def test_one_keys_id_does_not_open_another_keys_lock() -> None:
    with pytest.raises(InvalidToken, match=r"^the token's signature is wrong$"):
        KeySet(key_set(FIRST.public(), SECOND.public())).claims_of(SECOND.sign(claims(), kid="first"))


def test_the_payload_must_be_an_object() -> None:
    with pytest.raises(InvalidToken, match=r"^the token is malformed$"):
        KeySet(key_set(FIRST.public())).claims_of(FIRST.sign(json.dumps("text").encode()))
