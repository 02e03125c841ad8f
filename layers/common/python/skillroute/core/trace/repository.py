"""The trace in PostgreSQL: adding events, reading those of an organisation, and deleting what is too old."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Database, Session
from skillroute.core.trace.model import Kind, Outcome

PRUNED_AT_ONCE = 10_000
"""Events of one run of the relay."""


class KeptEvent(NamedTuple):
    """An event as it is stored; its organisation is that of who reads it."""

    id: UUID
    at: datetime
    kind: Kind
    outcome: Outcome
    code: str | None
    actor: str | None
    agent: str | None
    roles: Sequence[str]
    door: str
    what: str
    targets: Mapping[str, int | str]
    took_ms: float
    bytes_in: int | None
    bytes_out: int | None
    search_id: UUID | None
    request_id: str | None
    trace_id: str | None
    arguments: str | None


class Place(NamedTuple):
    """A place between events, which are ordered by time and id."""

    at: datetime
    id: UUID


@dataclass(frozen=True, slots=True)
class TraceFilter:
    """Which events are asked for. With `after` those that follow it, the oldest first; else the latest ones."""

    kind: Kind | None = None
    outcome: Outcome | None = None
    actor: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: Place | None = None
    limit: int = 100


class TraceRepository:
    """Reads and writes `mcp.trace`."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def add(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows of events; those that are there stay as they are."""
        self._run("add_trace", rows=json.dumps(list(rows)))

    def find(self, org_id: str | None, asked: TraceFilter) -> list[KeptEvent]:
        """Return events of an organisation, or of callers without one."""
        given: dict[str, Any] = {
            "org_id": org_id,
            "kind": asked.kind,
            "outcome": asked.outcome,
            "actor": asked.actor,
            "since": asked.since,
            "until": asked.until,
            "limit": asked.limit,
        }
        if asked.after is None:
            return [KeptEvent(*row) for row in self._run("latest_trace", **given)]
        place = {"after_at": asked.after.at, "after_id": asked.after.id}
        return [KeptEvent(*row) for row in self._run("trace_after", **given, **place)]

    def prune(self, *, days: int, limit: int = PRUNED_AT_ONCE) -> int:
        """Delete events that are older, the oldest first, so many at most; return how many went."""
        [[gone]] = self._run("prune_trace", days=days, limit=limit)
        return int(gone)


def add_trace(database: Database, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows of events in one statement of its own; it may run twice. Raises `DatabaseUnavailable`."""
    database.read(lambda session: TraceRepository(session).add(rows))


class ReadTrace:
    """Reads the trace of the caller's organisation."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(self, caller: Caller, asked: TraceFilter) -> list[KeptEvent]:
        """Return events, those of no other organisation. Raises `DatabaseUnavailable`."""
        return self._database.read(lambda session: TraceRepository(session).find(caller.org_id, asked))
