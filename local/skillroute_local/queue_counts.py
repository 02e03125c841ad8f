"""How much each queue holds: its work in PostgreSQL, and its messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skillroute.core.postgres.database import Database
from skillroute.core.queue.outbox import OutboxDepth, OutboxRepository
from skillroute.core.queue.port import Queue, QueueDepth
from skillroute.core.queue.work import WorkQueue, queues

Work = Mapping[WorkQueue, OutboxDepth]
Messages = Mapping[WorkQueue, QueueDepth]


def work_in(database: Database) -> Work:
    """Return what waits in the outbox and what was given up. Raises `DatabaseUnavailable`."""
    return {depth.queue: depth for depth in database.read(lambda session: OutboxRepository(session).depths())}


def messages_in(queue: Queue) -> Messages:
    """Return what the queues hold. Raises `QueueUnavailable`."""
    return {depth.queue: depth for depth in queue.depths()}


def counts_of(work: Work | None, messages: Messages | None) -> list[dict[str, Any]]:
    """Return the counts of each queue; null for what is not known."""
    return [_counts(name, (work or {}).get(name), (messages or {}).get(name)) for name in queues()]


def _counts(name: WorkQueue, work: OutboxDepth | None, messages: QueueDepth | None) -> dict[str, Any]:
    return {
        "queue": name.value,
        "waiting": work.waiting if work else None,
        "oldest_s": round(work.oldest_s, 1) if work else None,
        "given_up": work.dead if work else None,
        "ready": messages.ready if messages else None,
        "under_way": messages.under_way if messages else None,
        "delayed": messages.delayed if messages else None,
        "dead_letters": messages.dead if messages else None,
    }
