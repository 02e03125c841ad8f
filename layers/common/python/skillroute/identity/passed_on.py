"""The caller's own token, passed on: only to servers that it is meant for, too.

Each such token is good at Skillroute as well: the audience keeps it from servers that it is not meant for, and does not
keep a server that gets it from acting here in its caller's name. So only scope `admin` sets the kind (`manage`).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection
from typing import Any

MAX_CHARS = 16_384


def audiences_of(token: str) -> frozenset[str]:
    """Return the audiences of a token, without looking at its signature: the door has done so. None for no JWT."""
    parts = token.split(".")
    if len(parts) != 3 or len(token) > MAX_CHARS:
        return frozenset()
    try:
        claims: Any = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, RecursionError):
        return frozenset()
    found = claims.get("aud") if isinstance(claims, dict) else None
    named = [found] if isinstance(found, str) else found if isinstance(found, list) else []
    return frozenset(each for each in named if isinstance(each, str))


def why_not(token: str | None, audiences: Collection[str], server_name: str) -> str | None:
    """Return why a token is not passed on to a server; None where it may be."""
    if token is None:
        return f"{server_name} takes the caller's own token, and this request came without one"
    if audiences_of(token).isdisjoint(audiences):
        return (
            f"{server_name} takes the caller's own token, and yours is not for it: its claim aud names none of "
            f"{', '.join(sorted(audiences))}. Ask for a token with one of these audiences"
        )
    return None
