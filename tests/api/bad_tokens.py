"""Tokens that nobody may be let in with, by what is wrong with them."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any

import jwt
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.api.tokens import AUDIENCE, ISSUER, Signer, claims, key_set

OURS = Signer("ours")
FOREIGN = Signer("foreign")
KEYS = key_set(
    OURS.public(),
    # A set holds more than what is for us: none of these is ever used.
    {"kty": "EC", "crv": "P-256", "kid": "elliptic", "x": "AA", "y": "AA"},
    FOREIGN.public(kid="encrypts", use="enc"),
    FOREIGN.public(kid="longer", alg="RS512"),
)

NO_TOKEN = "Bearer"
BAD_TOKEN = 'Bearer error="invalid_token"'
Headers = list[tuple[str, str]]


def bearer(token: str) -> Headers:
    """Return the header that carries a token."""
    return [("authorization", f"Bearer {token}")]


def _part(value: bytes | dict[str, Any]) -> str:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _of(signature: Callable[[bytes], bytes], said: dict[str, Any], **header: Any) -> str:
    """Return a token put together by hand, for what PyJWT refuses to make."""
    signed = f"{_part({'typ': 'JWT', 'kid': OURS.kid} | header)}.{_part(said)}"
    return f"{signed}.{_part(signature(signed.encode()))}"


def _with_public_key_as_secret(encoding: Encoding, format_: PublicFormat) -> str:
    public = OURS.key.public_key().public_bytes(encoding, format_)
    return _of(lambda signed: hmac.digest(public, signed, hashlib.sha256), _good(), alg="HS256")


def _good() -> dict[str, Any]:
    return claims("search catalog skills admin")


def _tampered() -> str:
    header, _, signature = OURS.sign(claims("search")).split(".")
    return f"{header}.{_part(_good())}.{signature}"


def _other_signature(token: str) -> str:
    signed, _, signature = token.rpartition(".")
    return f"{signed}.{'B' if signature[0] == 'A' else 'A'}{signature[1:]}"


def _from_now(seconds: float) -> int:
    return int(time.time() + seconds)


_SIGNED = {
    "another algorithm: HS256 with the public key's PEM": lambda: _with_public_key_as_secret(
        Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
    ),
    "another algorithm: HS256 with the public key's DER": lambda: _with_public_key_as_secret(
        Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    ),
    "another algorithm: RS512": lambda: OURS.sign(_good(), algorithm="RS512"),
    "another algorithm: PS256": lambda: OURS.sign(_good(), algorithm="PS256"),
    "alg none": lambda: jwt.encode(_good(), None, algorithm="none", headers={"kid": OURS.kid}),
    "alg None, capitalised": lambda: _of(lambda _: b"", _good(), alg="None"),
    "alg none with a signature": lambda: _of(lambda _: b"x" * 256, _good(), alg="none"),
    "RS256 without a signature": lambda: OURS.sign(_good()).rpartition(".")[0] + ".",
    "two parts": lambda: OURS.sign(_good()).rpartition(".")[0],
    "a tampered payload": _tampered,
    "a tampered signature": lambda: _other_signature(OURS.sign(_good())),
    "an unknown kid": lambda: OURS.sign(_good(), kid="unknown"),
    "no kid": lambda: jwt.encode(_good(), OURS.key, algorithm="RS256"),
    "a kid that is no string": lambda: _of(lambda _: b"x", _good(), alg="RS256", kid=["ours"]),
    "a key that is not in the set": lambda: FOREIGN.sign(_good()),
    "a key that is not in the set, under a kid that is": lambda: FOREIGN.sign(_good(), kid=OURS.kid),
    "a key that the token brings along": lambda: FOREIGN.sign(_good(), kid=OURS.kid, jwk=FOREIGN.public()),
    "a key that the token says where to get": lambda: FOREIGN.sign(_good(), jku="https://issuer.test/keys"),
    "a key for encryption": lambda: FOREIGN.sign(_good(), kid="encrypts"),
    "a key for another algorithm": lambda: FOREIGN.sign(_good(), kid="longer"),
    "an extension that is critical": lambda: OURS.sign(_good(), crit=["exp2"], exp2=1),
    "a payload that is no object": lambda: OURS.sign(b"[]"),
    "a payload that is no JSON": lambda: OURS.sign(b"\xff"),
    "a header nested too deeply": lambda: f"{_part(b'[' * 9_000)}.{_part(_good())}.{_part(b'x')}",
    "too long": lambda: OURS.sign(_good() | {"filler": "x" * 20_000}),
    "not a token": lambda: "abcdefgh.ijklmnop.qrstuvwx",
}


BAD_CLAIMS: dict[str, Callable[[], dict[str, Any]]] = {
    "expired": lambda: _good() | {"exp": _from_now(-60)},
    "expired just now, beyond the leeway": lambda: _good() | {"exp": _from_now(-12)},
    "never expires": lambda: claims("admin", exp=None),
    "an expiry that is not a time": lambda: _good() | {"exp": "tomorrow"},
    "an expiry with underscores": lambda: _good() | {"exp": f"{_from_now(3600):_}"},
    "an expiry between blanks": lambda: _good() | {"exp": f" {_from_now(3600)} "},
    "an expiry that is never reached": lambda: _good() | {"exp": "Infinity"},
    "not yet valid": lambda: _good() | {"nbf": _from_now(60)},
    "issued in the future": lambda: _good() | {"iat": _from_now(60)},
    "another audience": lambda: _good() | {"aud": "https://skillroute.test.evil"},
    "several other audiences": lambda: _good() | {"aud": ["https://a.test", AUDIENCE.upper()]},
    "no audience": lambda: claims("admin", aud=None),
    "another audience, and client_id would be right": lambda: _good() | {"aud": "other", "client_id": AUDIENCE},
    "another client_id": lambda: claims("admin", aud=None, client_id="other"),
    "both audiences in one": lambda: _good() | {"aud": f"https://other.test, {AUDIENCE}"},
    "another issuer": lambda: _good() | {"iss": "https://evil.test/"},
    "almost our issuer": lambda: _good() | {"iss": ISSUER.rstrip("/")},
    "no issuer": lambda: claims("admin", iss=None),
    "an organisation that was null": lambda: _good() | {"org_id": "null"},
    "an organisation that was true": lambda: _good() | {"org_id": "true"},
    "an organisation that was false": lambda: _good() | {"org_id": "false"},
    "an organisation of blanks": lambda: _good() | {"org_id": "  "},
    "an organisation with a blank": lambda: _good() | {"org_id": "acme globex"},
    "an organisation with a line's end": lambda: _good() | {"org_id": "acme\n"},
    "an organisation with a NUL": lambda: _good() | {"org_id": "ac\0me"},
    "an organisation that is too long": lambda: _good() | {"org_id": "a" * 129},
    "several organisations": lambda: _good() | {"org_id": ["acme", "globex"]},
    "one organisation in an array": lambda: _good() | {"org_id": ["acme"]},
    "no organisation in an array": lambda: _good() | {"org_id": []},
    "an organisation that is an object": lambda: _good() | {"org_id": {"id": "acme"}},
    "a subject with a NUL": lambda: _good() | {"sub": "an\0n"},
    "an agent that was null": lambda: _good() | {"agent": "null"},
    "an agent with a NUL": lambda: _good() | {"agent": "garden\0er"},
    "several agents": lambda: _good() | {"agent": ["gardener", "planner"]},
    "one agent in an array": lambda: _good() | {"agent": ["gardener"]},
    "an agent that is an object": lambda: _good() | {"agent": {"name": "gardener"}},
}
"""What a gateway might let through, and a token of our own issuer might say."""

_CLAIMS_OF_TOKENS: dict[str, Callable[[], dict[str, Any]]] = {
    "no time of issue": lambda: claims("admin", iat=None),
    "an issuer that is an array": lambda: _good() | {"iss": [ISSUER]},
    "an organisation that is a number": lambda: _good() | {"org_id": 7},
    "an organisation that is false": lambda: _good() | {"org_id": False},
    "a subject that is a number": lambda: _good() | {"sub": 7},
    "an agent that is a number": lambda: _good() | {"agent": 7},
    "an agent that is true": lambda: _good() | {"agent": True},
    "a scope that is a number": lambda: _good() | {"scope": 7},
    "a scope that is an array of numbers": lambda: _good() | {"scope": [7]},
    "an expiry that is true": lambda: _good() | {"exp": True},
}


def _sent(make: Callable[[], str]) -> Callable[[], tuple[Headers, str]]:
    return lambda: (bearer(make()), BAD_TOKEN)


def _signed(make: Callable[[], dict[str, Any]]) -> Callable[[], tuple[Headers, str]]:
    return lambda: (bearer(OURS.sign(make())), BAD_TOKEN)


def _raw(value: str, challenge: str) -> Callable[[], tuple[Headers, str]]:
    return lambda: ([("authorization", value.replace("TOKEN", OURS.sign(_good())))], challenge)


BAD_HEADERS: dict[str, Callable[[], tuple[Headers, str]]] = {
    "no token": lambda: ([], NO_TOKEN),
    "basic": _raw("Basic YW5uOnNlY3JldHNlY3JldA==", NO_TOKEN),
    "basic with a good token": _raw("Basic TOKEN", NO_TOKEN),
    "no scheme": _raw("TOKEN", NO_TOKEN),
    "an empty header": _raw("", NO_TOKEN),
    "no token behind the scheme": _raw("Bearer", BAD_TOKEN),
    "two tokens in a header": _raw("Bearer TOKEN TOKEN", BAD_TOKEN),
    "two tokens with a comma": _raw("Bearer TOKEN, Bearer TOKEN", BAD_TOKEN),
    "two tokens in two headers": lambda: (bearer(OURS.sign(_good())) * 2, BAD_TOKEN),
    "a good and a bad token in two headers": lambda: (bearer(OURS.sign(_good())) + bearer("bad"), BAD_TOKEN),
    **{kind: _sent(make) for kind, make in _SIGNED.items()},
    **{kind: _signed(make) for kind, make in BAD_CLAIMS.items()},
    **{kind: _signed(make) for kind, make in _CLAIMS_OF_TOKENS.items()},
}
"""The headers of requests that must be refused, and the challenge that each is answered with."""
