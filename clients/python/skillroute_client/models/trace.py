"""Events of the trace."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from skillroute_client.models.base import Answer


class TraceEvent(Answer):
    """A search, call, refusal or change: who did what, and how it ended."""

    id: UUID
    at: datetime
    kind: str
    outcome: str
    code: str | None = None
    actor: str | None = None
    agent: str | None = None
    roles: list[str] = []
    door: str
    what: str
    targets: dict[str, int | str] = {}
    took_ms: float
    bytes_in: int | None = None
    bytes_out: int | None = None
    search_id: UUID | None = None
    request_id: str | None = None
    trace_id: str | None = None
    arguments: str | None = None
