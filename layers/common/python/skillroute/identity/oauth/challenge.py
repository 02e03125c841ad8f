"""The challenge of a 401 or 403: the header ``WWW-Authenticate`` (RFC 9110, section 11.6.1; RFC 6750, section 3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_CHARS = 4096
MAX_SCOPES = 50

_PARAMETER = re.compile(r'([A-Za-z_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",]+))')
_SCOPE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]{1,200}")  # RFC 6749, section 3.3
_SCHEMES = re.compile(r"(?:^|,)\s*([A-Za-z][A-Za-z0-9-]*)(?=\s+[A-Za-z_-]+\s*=|\s*(?:,|$))")


@dataclass(frozen=True, slots=True)
class BearerChallenge:
    """The credentials that a server asks for.

    Attributes
    ----------
    resource_metadata : str or None
        Where the metadata of the server are (RFC 9728, section 5.1).
    scopes : tuple of str
        Of the tokens that it would take.
    error : str or None
        ``insufficient_scope`` where the token is good and allows too little.
    """

    resource_metadata: str | None = None
    scopes: tuple[str, ...] = ()
    error: str | None = None


def parse_challenge(header: str | None) -> BearerChallenge:
    """Return what the challenge of bearer tokens says; of a header without one, nothing.

    Examples
    --------
    >>> parse_challenge('Bearer error="insufficient_scope", scope="read write"').scopes
    ('read', 'write')
    """
    header = (header or "")[:MAX_CHARS]
    schemes = [(match[1].lower(), match.end()) for match in _SCHEMES.finditer(header)]
    begins = next((end for name, end in schemes if name == "bearer"), None)
    if begins is None:
        return BearerChallenge()
    ends = next((end for _, end in schemes if end > begins), len(header))
    found: dict[str, str] = {}
    for match in _PARAMETER.finditer(header[begins:ends]):
        value = re.sub(r"\\(.)", r"\1", match[2]) if match[2] is not None else match[3]
        found.setdefault(match[1].lower(), value)
    return BearerChallenge(found.get("resource_metadata"), scopes_of(found.get("scope", "")), found.get("error"))


def scopes_of(text: object) -> tuple[str, ...]:
    """Return the scopes of a text, or of a list, each once; what is no scope is left out."""
    given = text.split(" ") if isinstance(text, str) else text if isinstance(text, list) else []
    named = [each for each in given if isinstance(each, str) and _SCOPE.fullmatch(each)]
    return tuple(dict.fromkeys(named))[:MAX_SCOPES]
