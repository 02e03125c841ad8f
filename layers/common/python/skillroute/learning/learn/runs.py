"""Runs of learning: which organisations are due, and what a run does with their work in the outbox."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database, Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.learning.learn.learn import LearnReport
from skillroute.learning.queues import LEARN, learn_key, org_of

MAX_WAITING = 100
"""Organisations whose learning waits at once: others stay where they are, and are due at a later run of the relay."""


class RunRepository:
    """The last run of each organisation; None stands for the global catalogue."""

    def __init__(self, session: Session) -> None:
        self._run = session.run

    def due(self, *, every_s: float, most: int) -> list[str | None]:
        """Return organisations with outcomes since their last run, where that is so many seconds ago.

        Those whose learning waits already are left out, and so many wait together at most.
        """
        return [org for (org,) in self._run("organisations_to_learn", every_s=every_s, most=most)]

    def begin(self) -> datetime:
        """Return the time before which outcomes are among those that are read from now on."""
        began: datetime = self._run("learning_begins")[0][0]
        return began

    def note(self, org_id: str | None, began_at: datetime) -> None:
        """Note that an organisation has learned, from what was there at a time."""
        self._run("note_learning_run", org_id=org_id, began_at=began_at)


class QueueLearning:
    """Queues the learning of organisations that are due.

    Parameters
    ----------
    every_h : float
        Hours between two runs of one organisation.
    most : int
        Organisations that wait at once.
    """

    def __init__(self, database: Database, *, every_h: float, most: int = MAX_WAITING) -> None:
        self._database = database
        self._every_s = every_h * 3600.0
        self._most = most

    def __call__(self) -> int:
        """Queue them, and return how many. Raises `DatabaseUnavailable`."""

        def queue(session: Session) -> int:
            due = RunRepository(session).due(every_s=self._every_s, most=self._most)
            if due:
                OutboxRepository(session).enqueue(LEARN, [learn_key(org) for org in due])
            return len(due)

        return self._database.transact(queue)


class RunLearning:
    """Does the work that waits under a key: learns, and takes it off the outbox.

    Parameters
    ----------
    learn : callable
        Learns for an organisation, and stores what it learned.
    """

    def __init__(self, database: Database, learn: Callable[[str | None], LearnReport]) -> None:
        self._database = database
        self._learn = learn

    def __call__(self, key: str) -> bool:
        """Return whether there was anything to do: a message may come twice, and its work be done.

        What was rejected is done as what went live is. Raises what learning raises, and the work waits on.
        """

        def begin(session: Session) -> tuple[dict[str, int], datetime]:
            return OutboxRepository(session).versions(LEARN, [key]), RunRepository(session).begin()

        versions, began_at = self._database.read(begin)
        if not versions:
            return False
        org_id = org_of(key)
        report = self._learn(org_id)

        def end(session: Session) -> None:
            RunRepository(session).note(org_id, began_at)
            OutboxRepository(session).done(LEARN, versions)

        self._database.transact(end)
        details = {"key": key, "state": report.state_id, "is_live": report.is_live, "reason": report.reason}
        logger.info("learning ran", extra=details)
        return True
