"""Credentials in addresses: they are masked in what is stored, since everybody who may search may read it.

What only stands for a credential stays: ``{token}``, ``${TOKEN}``, ``<token>``, ``YOUR_TOKEN``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from skillroute.core.errors import FieldProblem
from skillroute.core.json_input import MAX_DEPTH
from skillroute.core.known_fields import MOST_WARNINGS

MASK = "***"

_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]{0,31}://\S+$")
_USER = re.compile(r"(?<=://)(?P<user>[^/?#@:\s]*)(?::(?P<password>[^/?#\s]*))?@")
_QUERY = re.compile(r"(?<=[?&#;])(?P<name>[^=&#;\s]{1,64})=(?P<value>[^&#;\s]+)")
_SECRET = re.compile(
    r"(?:(?<=[a-z])(?:ApiKey|Token|Secret|Password)|(?i:(?:^|[_.-])(?:"
    r"(?:access|auth|refresh|id|api|bearer|session|client)?[_.-]?(?:token|key|secret)|passw(?:or)?d|pwd|sig|signature|"
    r"credentials?|authorization|jwt)))$"
)
_PLACEHOLDER = re.compile(r"(?i)^(?:[{$<%\[].*|%7b.*|your[_-].*|x{3,}|\*+|\.{3}|…)$")
_NAMED_ALONE = frozenset({"", "git", "user", "username"})
_LONGEST_NAME = 16


def masked_url(text: str) -> str:
    """Return a text with the credentials masked, where it is an address that has some.

    Examples
    --------
    >>> masked_url("https://me:hunter2@example.com/mcp?api_key=abc&page=2")
    'https://***@example.com/mcp?api_key=***&page=2'
    >>> masked_url("https://example.com/mcp?token={TOKEN}")
    'https://example.com/mcp?token={TOKEN}'
    """
    if "://" not in text or not _URL.match(text):
        return text
    return _QUERY.sub(_masked_parameter, _USER.sub(_masked_user, text, count=1))


def masked_json(value: Any) -> Any:
    """Return a JSON value with credentials masked in all texts that are addresses."""
    if isinstance(value, str):
        return masked_url(value)
    if isinstance(value, Mapping):
        return {key: masked_json(inner) for key, inner in value.items()}
    return [masked_json(inner) for inner in value] if isinstance(value, list) else value


def credential_warnings(raw: Any) -> list[FieldProblem]:
    """Return the places of texts that `masked_json` changes: ``remotes.0.url``."""
    message = f"had credentials in an address: they were replaced by {MASK}; pass them in a header or a variable"
    return [FieldProblem(place, message) for place in islice(_places(raw, ""), MOST_WARNINGS)]


def _masked_user(match: re.Match[str]) -> str:
    user, password = match["user"], match["password"]
    if password is None:
        is_secret = user.lower() not in _NAMED_ALONE and len(user) > _LONGEST_NAME and not _PLACEHOLDER.match(user)
    else:
        is_secret = password != "" and not _PLACEHOLDER.match(password)
    return f"{MASK}@" if is_secret else match[0]


def _masked_parameter(match: re.Match[str]) -> str:
    is_secret = _SECRET.search(match["name"]) and not _PLACEHOLDER.match(match["value"])
    return f"{match['name']}={MASK}" if is_secret else match[0]


def _places(value: Any, place: str, levels: int = MAX_DEPTH) -> Iterator[str]:
    if levels == 0:  # it is refused for that
        return
    if isinstance(value, str):
        if masked_url(value) != value:
            yield place
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _places(inner, f"{place}.{key}" if place else str(key), levels - 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _places(inner, f"{place}.{number}" if place else str(number), levels - 1)
