"""Credentials in addresses: they are masked in what is stored, since everybody who may search may read it.

What only stands for a credential stays: ``{token}``, ``${TOKEN}``, ``<token>``, ``YOUR_TOKEN``.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any
from urllib.parse import unquote_plus

from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.json_input import changed_places, with_texts
from skillroute.core.input.known_fields import MAX_WARNINGS

MASK = "***"

_ADDRESS = re.compile(r"""(?<=[A-Za-z0-9])://[^\s"]+""")
_USER = re.compile(r"(?<=://)(?P<user>[^/?#@:\s]*)(?::(?P<password>[^/?#\s]*))?@")
_QUERY = re.compile(r"(?<=[?&#;])(?P<name>[^=&#;\s]{1,256})=(?P<value>[^&#;\s]+)")
_BETWEEN_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+")
_SECRETS = frozenset({
    "token", "key", "secret", "auth", "authorization", "jwt", "pass", "password", "passwd", "pwd", "sig", "signature",
    "credential", "credentials",
})  # fmt: skip
_JOINED = re.compile(r"(?:access|api|app|auth|bearer|client|id|refresh|secret|session)(?:token|key|secret)")
_CODES = (("code",), ("auth", "code"), ("authorization", "code"), ("access", "code"))
"""Names of a code that is exchanged for a token; others are those of countries and the like."""
_OF_PAGES = frozenset({"page", "next", "prev", "previous", "continuation", "pagination", "cursor"})
_OF_DATA = frozenset({"id", "sort", "partition", "primary", "foreign", "cache", "public"})
_AFTER_ADDRESSES = ")]>,.'`\\"
_PLACEHOLDER = re.compile(r"(?i)^(?:[{$<%\[].*|%7b.*|your[_-].*|x{3,}|\*+|\.{3}|…)$")
_NAMED_ALONE = frozenset({"", "git", "user", "username"})
_MAX_NAME_LENGTH = 16


def masked_url(text: str) -> str:
    """Return a text with the credentials masked that addresses have anywhere in it.

    Examples
    --------
    >>> masked_url("--url=https://me:hunter2@example.com/mcp?api_key=abc&page_token=2")
    '--url=https://***@example.com/mcp?api_key=***&page_token=2'
    >>> masked_url("https://example.com/mcp?token={TOKEN}")
    'https://example.com/mcp?token={TOKEN}'
    """
    return _ADDRESS.sub(_masked_address, text) if "://" in text else text


def masked_json(value: Any) -> Any:
    """Return a JSON value with the credentials masked of addresses in all its texts."""
    return with_texts(value, masked_url)


def credential_warnings(raw: Any) -> list[FieldProblem]:
    """Return the places of texts that `masked_json` changes: ``remotes.0.url``."""
    message = f"had credentials in an address: they were replaced by {MASK}; pass them in a header or a variable"
    return [FieldProblem(place, message) for place in islice(changed_places(raw, masked_url), MAX_WARNINGS)]


def _masked_address(match: re.Match[str]) -> str:
    return _QUERY.sub(_masked_parameter, _USER.sub(_masked_user, match[0]))


def _masked_user(match: re.Match[str]) -> str:
    user, password = match["user"], match["password"]
    if password is None:
        is_secret = user.lower() not in _NAMED_ALONE and len(user) > _MAX_NAME_LENGTH and not _PLACEHOLDER.match(user)
    else:
        is_secret = password != "" and not _PLACEHOLDER.match(password)
    return f"{MASK}@" if is_secret else match[0]


def _masked_parameter(match: re.Match[str]) -> str:
    value = match["value"].rstrip(_AFTER_ADDRESSES)
    if not value or value == MASK or _PLACEHOLDER.match(match["value"]) or not _is_secret(unquote_plus(match["name"])):
        return match[0]
    return f"{match['name']}={MASK}{match['value'][len(value) :]}"


def _is_secret(name: str) -> bool:
    """Return whether a parameter of that name holds a credential: `api_key`, `exampleApiKey`, `X-Amz-Signature`."""
    words = tuple(word.lower() for word in _BETWEEN_WORDS.split(name) if word)
    if not words or words in _CODES:
        return bool(words)
    before, last = words[-2:-1], words[-1]
    if last == "token":
        return _OF_PAGES.isdisjoint(before)
    if last == "key":
        return _OF_DATA.isdisjoint(before)
    return last in _SECRETS or _JOINED.fullmatch(last) is not None
