"""The signatures of tokens, where no gateway has checked them: the laptop and `sam local` (docs/adr/0013).

Only there is this module imported: on Lambda neither PyJWT nor cryptography is loaded.
"""

from __future__ import annotations

import json
from typing import Any

import jwt

from skillroute.core.errors.model import ConfigurationError
from skillroute.core.http.challenge import InvalidToken

ALGORITHM = "RS256"
"""The only one. What a token's header says of it is compared, never followed."""

MAX_TOKEN_CHARS = 16_384
"""API Gateway takes 10,240 bytes for all headers together."""

_MIN_KEY_BITS = 2048
# The claims are judged in `claims.py`, for tokens that a gateway has checked as well; here they must only be there.
_OPTIONS: Any = {
    "require": ["exp", "iat", "iss"],
    "verify_signature": True,
    "enforce_minimum_key_length": True,
    **dict.fromkeys(["verify_exp", "verify_nbf", "verify_iat", "verify_aud", "verify_iss"], False),
    **dict.fromkeys(["verify_sub", "verify_jti"], False),
}


class KeySet:
    """The public keys that tokens may be signed with.

    Parameters
    ----------
    document : str
        A JSON Web Key Set. Keys that are not for RS256 signatures are passed over.

    Raises
    ------
    ConfigurationError
        It is malformed, has no key that can be used, two of one kid, a short one, or a private one.
    """

    def __init__(self, document: str) -> None:
        self._keys: dict[str, jwt.PyJWK] = {}
        for key in _keys_of(document):
            if not _is_for_signatures(key):
                continue
            kid = key.get("kid")
            if not isinstance(kid, str) or not kid or kid in self._keys:
                raise _wrong("each key needs a kid of its own")
            self._keys[kid] = _public_key(key)
        if not self._keys:
            raise _wrong(f"there is no RSA key for {ALGORITHM}")

    def claims_of(self, token: str) -> dict[str, Any]:
        """Return the claims of a token that one of the keys has signed.

        Raises
        ------
        InvalidToken
            It is malformed, of another algorithm, not signed, not by one of the keys, or lacks `exp`, `iat` or `iss`.
        """
        if len(token) > MAX_TOKEN_CHARS:
            raise InvalidToken("the token is too long")
        try:
            header = jwt.get_unverified_header(token)
            kid = header.get("kid")
            key = self._keys.get(kid) if isinstance(kid, str) else None
            if header.get("alg") != ALGORITHM or key is None:
                raise InvalidToken(f"the token is not signed with {ALGORITHM} and a known key")
            claims: dict[str, Any] = jwt.decode(token, key.key, algorithms=[ALGORITHM], options=_OPTIONS)
        except jwt.MissingRequiredClaimError as error:
            raise InvalidToken(f"the token lacks the claim {error.claim!r}") from None
        except jwt.InvalidSignatureError:
            raise InvalidToken("the token's signature is wrong") from None
        # A header may be nested more deeply than the parser goes; not every PyJWT catches that.
        except (jwt.PyJWTError, ValueError, RecursionError):
            raise InvalidToken("the token is malformed") from None
        return claims


def _keys_of(document: str) -> list[dict[str, Any]]:
    try:
        keys = json.loads(document)["keys"]
    except (ValueError, KeyError, TypeError, RecursionError):
        keys = None
    if not isinstance(keys, list) or not all(isinstance(key, dict) for key in keys):
        raise _wrong('it is no JSON Web Key Set, {"keys": [...]}')
    return keys


def _is_for_signatures(key: dict[str, Any]) -> bool:
    return key.get("kty") == "RSA" and key.get("use", "sig") == "sig" and key.get("alg", ALGORITHM) == ALGORITHM


def _public_key(key: dict[str, Any]) -> jwt.PyJWK:
    if "d" in key:
        raise _wrong("a private key stands in it; only the public half belongs there")
    try:
        made = jwt.PyJWK(key, algorithm=ALGORITHM)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        raise _wrong("a key is malformed") from None
    if made.key.key_size < _MIN_KEY_BITS:
        raise _wrong(f"a key is shorter than {_MIN_KEY_BITS} bits")
    return made


def _wrong(what: str) -> ConfigurationError:
    return ConfigurationError(f"SKILLROUTE_JWT_KEYS: {what}")
