"""Evidence on tools as a test states it, without a database."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

from skillroute.core.embedding.model import Vector
from skillroute.learning.learn.evidence import Evidence

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
EAST: Vector = [1.0, 0.0, 0.0]
NORTH: Vector = [0.0, 1.0, 0.0]
UP: Vector = [0.0, 0.0, 1.0]

_searches = count()


def said(
    tool_id: int,
    vector: Vector = EAST,
    *,
    caller: str = "ann",
    is_good: bool = True,
    text: str | None = "a request",
    search: str | None = None,
    days: float = 0.0,
) -> Evidence:
    """Return what a caller reported of a tool, of a search of its own unless one is named."""
    return Evidence(
        search=search or f"{next(_searches)}/0",
        asked_at=NOON + timedelta(days=days),
        text=text,
        vector=vector,
        tool_id=tool_id,
        caller=caller,
        is_good=is_good,
    )
