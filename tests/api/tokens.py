"""Tokens and claims for tests: whose they are, for whom, and signed by whom."""

from __future__ import annotations

import json
import time
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

ISSUER = "https://issuer.test/"
AUDIENCE = "https://skillroute.test"
JWT: dict[str, Any] = {
    "auth": "jwt",
    "jwt_issuer": ISSUER,
    "jwt_audience": f"https://other.test, {AUDIENCE}",
    "jwt_require_org": False,
}
"""The settings that tokens of these tests are good for; without an organisation, too."""
GARDENER = "gardener"
"""The mail agent that tokens of these tests speak for: one that speaks for none sees no mail, but an admin's."""


class Signer:
    """A key pair of an issuer."""

    def __init__(self, kid: str) -> None:
        self.kid = kid
        self.key = _rsa_key(kid)

    def public(self, **members: Any) -> dict[str, Any]:
        """Return the public half as a JSON Web Key."""
        key: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        del key["key_ops"]
        return key | {"kid": self.kid, "use": "sig", "alg": "RS256"} | members

    def sign(self, said: dict[str, Any] | bytes, *, algorithm: str = "RS256", **headers: Any) -> str:
        """Return a token that says anything at all: PyJWT would not sign every nonsense as claims."""
        payload = said if isinstance(said, bytes) else json.dumps(said).encode()
        headers = {"kid": self.kid} | headers
        return jwt.PyJWS().encode(payload, self.key, algorithm=algorithm, headers=headers)


@cache  # 50 ms each
def _rsa_key(_: str) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def key_set(*keys: dict[str, Any]) -> str:
    """Return a JSON Web Key Set."""
    return json.dumps({"keys": list(keys)})


def claims(scope: str | None = "search", org: str | None = None, **others: Any) -> dict[str, Any]:
    """Return what a good token says, and `others`; what is None is left out."""
    now = int(time.time())
    said: dict[str, Any] = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ann", "iat": now, "nbf": now, "exp": now + 3600}
    said |= {"scope": scope, "org_id": org, "agent": GARDENER} | others
    return {name: value for name, value in said.items() if value is not None}


def as_gateway_says(said: dict[str, Any]) -> dict[str, str]:
    """Return claims as API Gateway hands them over: strings, and arrays as ``[a b]``."""
    return {
        name: f"[{' '.join(map(str, value))}]" if isinstance(value, list) else str(value)
        for name, value in said.items()
    }
