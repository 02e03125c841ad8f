"""Tokens for trying: signed with a key pair that lives in SKILLROUTE_HOME and is made when it is first needed.

Nothing here is for production: there an identity provider makes the tokens, and API Gateway checks them.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from skillroute.core.caller import Scope
from skillroute.core.settings import WebSettings

from skillroute_local.errors import LocalError
from skillroute_local.home import Home

LOCAL_ISSUER = "urn:skillroute:local"
LOCAL_AUDIENCE = "skillroute"
_ALGORITHM = "RS256"
_KEY_BITS = 2048


@dataclass(frozen=True, slots=True)
class TokenForm:
    """The form of the tokens of a Skillroute."""

    issuer: str = LOCAL_ISSUER
    audience: str = LOCAL_AUDIENCE
    org_claim: str = "org_id"
    agent_claim: str = "agent"
    roles_claim: str = "roles"
    groups_claim: str = "groups"
    scope_prefix: str = ""
    require_org: str = "false"

    @classmethod
    def from_environment(cls, running: Mapping[str, str] | None = None) -> Self:
        """Return the form that the environment asks for; what it leaves open is that of a running Skillroute."""
        given = {
            "issuer": os.environ.get("SKILLROUTE_JWT_ISSUER"),
            "audience": os.environ.get("SKILLROUTE_JWT_AUDIENCE", "").split(",")[0].strip(),
            "org_claim": os.environ.get("SKILLROUTE_JWT_ORG_CLAIM"),
            "agent_claim": os.environ.get("SKILLROUTE_JWT_AGENT_CLAIM"),
            "roles_claim": os.environ.get("SKILLROUTE_JWT_ROLES_CLAIM"),
            "groups_claim": os.environ.get("SKILLROUTE_JWT_GROUPS_CLAIM"),
            "scope_prefix": os.environ.get("SKILLROUTE_JWT_SCOPE_PREFIX"),
            "require_org": os.environ.get("SKILLROUTE_JWT_REQUIRE_ORG"),
        }
        return cls(**(dict(running or {}) | {name: value for name, value in given.items() if value}))


class TokenKey:
    """The key pair of a home.

    Parameters
    ----------
    path : Path
        The private key's file, closed to others; made when it is missing.

    Raises
    ------
    LocalError
        The file cannot be written or read, is no RSA key, or is open to others.
    """

    def __init__(self, path: Path) -> None:
        self._key = _read_or_make(path)
        numbers = self._key.public_key().public_numbers()
        self._public = {"e": _base64(numbers.e), "kty": "RSA", "n": _base64(numbers.n)}
        # RFC 7638: the same key has the same id everywhere.
        canonical = json.dumps(self._public, sort_keys=True, separators=(",", ":"))
        self._kid = urlsafe_b64encode(hashlib.sha256(canonical.encode()).digest()).rstrip(b"=").decode()

    @classmethod
    def of(cls, home: Home) -> Self:
        """Return the key pair of a home, made now if there is none. Raises `LocalError`."""
        return cls(home.token_key_file)

    def key_set(self) -> str:
        """Return the public half as a JSON Web Key Set, for SKILLROUTE_JWT_KEYS."""
        return json.dumps({"keys": [self._public | {"kid": self._kid, "use": "sig", "alg": _ALGORITHM}]})

    def sign(
        self,
        form: TokenForm,
        scopes: Iterable[Scope],
        *,
        org: str | None,
        subject: str,
        expires_in_s: int,
        agent: str | None = None,
        roles: Iterable[str] = (),
        groups: Iterable[str] = (),
    ) -> str:
        """Return a token that is good from now on, for `expires_in_s` seconds."""
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": form.issuer,
            "aud": form.audience,
            "sub": subject,
            "scope": " ".join(form.scope_prefix + scope.value for scope in scopes),
            "iat": now,
            "nbf": now,
            "exp": now + expires_in_s,
            "jti": secrets.token_hex(8),
        }
        if org:
            claims[form.org_claim] = org
        if agent:
            claims[form.agent_claim] = agent
        for claim, names in ((form.roles_claim, list(roles)), (form.groups_claim, list(groups))):
            if names:
                claims[claim] = names
        return jwt.encode(claims, self._key, algorithm=_ALGORITHM, headers={"kid": self._kid})


def form_here(home: Home) -> TokenForm:
    """Return the form of the Skillroute that runs in a home, where the environment does not ask for another."""
    run = home.running()
    return TokenForm.from_environment(run.tokens if run is not None else None)


def default_to_local_tokens(home: Home | None) -> None:
    """Let the environment take this machine's tokens, as far as it does not say whose else.

    Without a home only the names are set: a command that answers no requests verifies nothing.
    """
    form = TokenForm.from_environment()
    defaults = {
        "SKILLROUTE_JWT_ISSUER": form.issuer,
        "SKILLROUTE_JWT_AUDIENCE": form.audience,
        # A laptop has no organisations yet; a deployment asks for one unless configured otherwise.
        "SKILLROUTE_JWT_REQUIRE_ORG": form.require_org,
    }
    if home is not None:
        defaults["SKILLROUTE_JWT_KEYS"] = TokenKey.of(home).key_set()
    for name, value in defaults.items():
        if not os.environ.get(name):
            os.environ[name] = value


def own_tokens(home: Home, settings: WebSettings) -> dict[str, str] | None:
    """Return the form of tokens that the home's key may sign for these settings, None when it may sign none."""
    if settings.auth != "jwt" or settings.jwt_keys != TokenKey.of(home).key_set():
        return None
    return asdict(TokenForm.from_environment())


def _read_or_make(path: Path) -> RSAPrivateKey:
    try:
        if not path.exists():
            _make(path)
        if path.stat().st_mode & 0o077:
            raise LocalError(f"{path} is open to others: close it with `chmod 600 {path}`, or delete it for a new key")
        key = load_pem_private_key(path.read_bytes(), password=None)
    except OSError as error:
        raise LocalError(f"{path} cannot be used ({error.strerror}): set another SKILLROUTE_HOME") from error
    except (ValueError, TypeError) as error:
        raise LocalError(f"{path} holds no private key: delete it for a new one") from error
    if not isinstance(key, RSAPrivateKey):
        raise LocalError(f"{path} holds no RSA key: delete it for a new one")
    return key


def _make(path: Path) -> None:
    """Write a new key whole; of several processes that do it at once, the first one's counts."""
    path.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
    key = generate_private_key(public_exponent=65537, key_size=_KEY_BITS)
    draft = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            return
    finally:
        draft.unlink()


def _base64(number: int) -> str:
    return urlsafe_b64encode(number.to_bytes((number.bit_length() + 7) // 8, "big")).rstrip(b"=").decode()
