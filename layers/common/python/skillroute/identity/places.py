"""Places of the secrets of servers: Secrets Manager; on a laptop the system's keyring, or a file of its owner's.

An identity names a place and never the secret. In a shared deployment each organisation names secrets of its own alone:
those whose name begins with the prefix of the settings and the organisation. Else one could have another's sent to a
server of its own.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from pathlib import Path

from skillroute.core.errors.model import InvalidInput, SecretUnavailable
from skillroute.core.secrets import Secret
from skillroute.identity.private_file import read_private

GLOBAL = "+global"
"""In the place of an organisation, for global servers. No organisation is spelt so: `+` is always escaped."""

MAX_SECRETS = 200
"""That a process remembers."""

_ARN = re.compile(r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:\d{12}:secret:([A-Za-z0-9/_+=.@-]{1,512})")
_KEYRING = re.compile(r"keyring:([^\s:][^\n]{0,254})")
_FILE = re.compile(r"file:(/[^\n\0]{1,1000})")
_ESCAPED = re.compile(rb"[^A-Za-z0-9._@-]")
_SERVICE = "skillroute"


class SecretPlaces:
    """Reads the secrets of servers. Safe to use from several threads.

    Parameters
    ----------
    prefix : str
        Of the names of secrets in Secrets Manager.
    allows_local : bool
        Whether the keyring and files may be named: on a laptop, whose only user they are of.
    managed : callable, optional
        Makes what reads a secret by its ARN and the key of its JSON object; None: Secrets Manager is not used.
    """

    def __init__(
        self, *, prefix: str, allows_local: bool, managed: Callable[[str, str | None], Secret] | None = None
    ) -> None:
        self._prefix = prefix
        self._allows_local = allows_local
        self._managed = managed
        self._made: dict[str, Secret] = {}
        self._lock = threading.Lock()

    def check(self, place: str, org_id: str | None, field: str) -> None:
        """Raise `InvalidInput` for a place that an organisation may not name, or that is none."""
        if self._allows_local and (_KEYRING.fullmatch(place) or _FILE.fullmatch(place)):
            return
        arn, _, _ = place.partition("#")
        named = _ARN.fullmatch(arn)
        if named is None or self._managed is None:
            local = "keyring:NAME, file:/absolute/path or " if self._allows_local else ""
            raise InvalidInput(field, f"must say where the secret is: {local}the ARN of a secret of Secrets Manager")
        begins = f"{self._prefix}{org_part(org_id)}/"
        if not self._allows_local and not named[1].startswith(begins):
            raise InvalidInput(field, f"must be a secret whose name begins with {begins}: others are not the server's")

    def read(self, place: str, org_id: str | None, *, again: bool = False) -> str:
        """Return the secret of a place that `check` lets pass. Raises `SecretUnavailable`, naming the place."""
        try:
            self.check(place, org_id, "secret")
        except InvalidInput as error:
            raise SecretUnavailable(f"{place}: {error.message}") from None
        text = self._found(place, again).strip()
        if not text or not text.isascii() or not text.isprintable():
            raise SecretUnavailable(f"{place} holds no text that a header can carry")
        return text

    def _found(self, place: str, again: bool) -> str:
        if (name := _KEYRING.fullmatch(place)) is not None:
            return of_keyring(name[1])
        if (path := _FILE.fullmatch(place)) is not None:
            try:
                return read_private(Path(path[1])).decode("utf-8")
            except UnicodeDecodeError:
                raise SecretUnavailable(f"{place} is no text in UTF-8") from None
        if self._managed is None:
            raise SecretUnavailable(f"{place} cannot be read here")
        return self._secret(place, self._managed).read(again=again)

    def _secret(self, place: str, managed: Callable[[str, str | None], Secret]) -> Secret:
        with self._lock:
            if place not in self._made:
                if len(self._made) >= MAX_SECRETS:
                    self._made.pop(next(iter(self._made)))
                arn, _, key = place.partition("#")
                self._made[place] = managed(arn, key or None)
            return self._made[place]


def org_part(org_id: str | None) -> str:
    """Return how an organisation is spelt in the name of a secret: bytes that may not stand there are escaped.

    Examples
    --------
    >>> org_part("acme/eu")
    'acme=2Feu'
    """
    if org_id is None:
        return GLOBAL
    # By bytes, since each takes two digits: with those of a code point two organisations could be spelt alike.
    return _ESCAPED.sub(lambda found: f"={found[0][0]:02X}".encode(), org_id.encode("utf-8", "surrogatepass")).decode()


def of_keyring(name: str) -> str:
    """Return a secret of the system's keyring. Raises `SecretUnavailable` with the remedy."""
    try:
        import keyring  # noqa: PLC0415 (an extra of the laptop)
    except ImportError:
        raise SecretUnavailable(
            f"keyring:{name} needs the package keyring: pip install 'skillroute[keyring]'"
        ) from None
    try:
        found = keyring.get_password(_SERVICE, name)
    except Exception as error:  # noqa: BLE001 (its backends raise what they like)
        raise SecretUnavailable(f"keyring:{name} cannot be read: {type(error).__name__}") from None
    if not found:
        raise SecretUnavailable(f"keyring:{name} is not there: keyring set {_SERVICE} {name}")
    return str(found)
