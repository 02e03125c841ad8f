"""Tools that were to be classified and wait nowhere."""

from __future__ import annotations

from skillroute.core.postgres.database import Database
from skillroute.skills.classification.repository import ClassificationRepository


class QueueLostTools:
    """Queues tools without a decision and that wait in no queue, as the relay does every minute."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(self, older_than_s: float, limit: int) -> int:
        """Queue those that were written longer ago than that, so many at most; return how many."""
        return self._database.transact(
            lambda session: ClassificationRepository(session).queue_lost(older_than_s=older_than_s, limit=limit)
        )
