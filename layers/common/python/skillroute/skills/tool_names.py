"""The names by which people know the work of the queues."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.core.postgres.database import Session
from skillroute.core.queue.work import QueueName
from skillroute.skills.classification.repository import ClassificationRepository


def tool_names(session: Session, queue: QueueName, keys: Sequence[str]) -> dict[str, str]:
    """Return the names of the tools that work of the classify queue is about, by key; other keys have none."""
    if queue is not QueueName.CLASSIFY or not keys:
        return {}
    found = ClassificationRepository(session).tools([int(key) for key in keys], None)
    return {str(id_): _qualified(seen.tool.server, seen.tool.name) for id_, seen in found.items()}


def _qualified(server: str, name: str) -> str:
    return f"{server}/{name}" if server else name
