"""Pages of lists, by cursors that clients hand back as they came."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skillroute.mcp.rpc import INVALID_PARAMS, RpcError

PAGE = 100
"""Entries of a page."""

_CURSOR = re.compile(r"after-([0-9]{1,9})")


def offset_of(params: Mapping[str, Any]) -> int:
    """Return how many entries the pages before had. Raises `RpcError` for a cursor that none of them ended with."""
    cursor = params.get("cursor")
    if cursor is None:
        return 0
    found = _CURSOR.fullmatch(cursor) if isinstance(cursor, str) else None
    if found is None:
        raise RpcError(INVALID_PARAMS, "params.cursor must be the nextCursor of the page before")
    return int(found[1])


def next_cursor(offset: int, total: int) -> dict[str, str]:
    """Return where the list goes on, nothing at its end."""
    return {"nextCursor": f"after-{offset}"} if offset < total else {}
