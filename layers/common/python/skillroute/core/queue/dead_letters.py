"""Work that was given up: shown with its reason, tried again, or dropped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database, Session
from skillroute.core.queue.outbox import Failure, OutboxRepository
from skillroute.core.queue.port import DeadLetter, Queue
from skillroute.core.queue.work import OutboxEntry, WorkQueue


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Work that waits for somebody to decide what to do with it.

    Attributes
    ----------
    key : str or None
        The tool or skill; None when the message cannot be read.
    message_id : str or None
        Its message in the dead-letter queue; None when there is none: the queue of a laptop is gone with its process.
    attempts : int or None
        None when nothing waits for it in the outbox.
    since : datetime or None
        When it was given up; when the message was sent, where that is not known.
    is_waiting : bool
        Whether the outbox still has it, so that it can be redriven.
    """

    queue: WorkQueue
    key: str | None
    tool_name: str | None
    message_id: str | None
    attempts: int | None
    reason: str
    since: datetime | None
    is_waiting: bool


class DeadLetters:
    """Joins what lies in the dead-letter queues with what the outbox knows of it.

    Parameters
    ----------
    queue : Queue or None
        None where there are none: the outbox alone is looked at then.
    dispatch : callable
        Publishes what was revived and has no message.
    """

    def __init__(self, database: Database, queue: Queue | None, dispatch: Callable[[], object]) -> None:
        self._database = database
        self._queue = queue
        self._dispatch = dispatch

    def given_up(self, queue: WorkQueue, *, limit: int = 100) -> list[GivenUp]:
        """Return what was given up, the longest first.

        Raises
        ------
        QueueUnavailable, DatabaseUnavailable
        """
        letters = self._queue.dead_letters(queue, limit=limit) if self._queue else []
        return self._database.read(lambda session: self._joined(session, queue, letters, limit))

    def redrive(self, queue: WorkQueue, keys: Sequence[str] | None = None) -> list[str]:
        """Let given-up work be tried again, all of it without `keys`; return what was.

        A message moves back to its queue; work without one gets a new one. Messages that cannot be read stay.
        """
        moved = set(self._queue.redrive(queue, None if keys is None else set(keys)) if self._queue else ())

        def revive(session: Session) -> list[str]:
            revived = OutboxRepository(session).revive(queue, keys)
            # Else they would be published once more.
            OutboxRepository(session).mark_published([OutboxEntry(queue, key, None) for key in revived if key in moved])
            return revived

        revived = self._database.transact(revive)
        self._dispatch()
        redriven = sorted(moved.union(revived))
        logger.info("given-up work is tried again", extra={"queue": queue.value, "keys": redriven})
        return redriven

    def drop(self, queue: WorkQueue, message_ids: Collection[str] | None = None) -> list[GivenUp]:
        """Delete the messages that lead nowhere, and return them: unreadable ones, and those whose work was done.

        With `message_ids` only those of them are deleted; a message that can be redriven stays in any case.
        """
        if self._queue is None:
            return []
        nowhere = {
            work.message_id: work
            for work in self.given_up(queue, limit=10_000)
            if work.message_id is not None
            and not work.is_waiting
            and (message_ids is None or work.message_id in message_ids)
        }
        self._queue.drop(queue, nowhere.keys())
        return list(nowhere.values())

    def _joined(self, session: Session, queue: WorkQueue, letters: Sequence[DeadLetter], limit: int) -> list[GivenUp]:
        failures = {failure.key: failure for failure in OutboxRepository(session).dead(queue, limit=limit)}
        # A queue may have given up a message before a consumer could say so: its receiver was killed each time.
        keys = [letter.key for letter in letters if letter.key is not None]
        failures |= {failure.key: failure for failure in OutboxRepository(session).failures(queue, keys)}
        names = queue.names(session, sorted({*keys, *failures}))
        joined = [_of_letter(letter, failures.get(letter.key or ""), names) for letter in letters]
        joined += [_of_failure(queue, failure, names) for failure in failures.values() if failure.key not in keys]
        return joined[:limit]


def _of_letter(letter: DeadLetter, failure: Failure | None, names: Mapping[str, str]) -> GivenUp:
    if letter.key is None:
        reason = f"it cannot be read: {letter.problem}"
    elif failure is None:
        reason = "its work was done meanwhile, or is not wanted any more"
    else:
        reason = failure.last_error or "its receiver ended without a report"
    return GivenUp(
        letter.queue,
        letter.key,
        names.get(letter.key or ""),
        letter.message_id,
        failure.attempts if failure else None,
        reason,
        (failure.dead_at if failure else None) or letter.since,
        is_waiting=failure is not None,
    )


def _of_failure(queue: WorkQueue, failure: Failure, names: Mapping[str, str]) -> GivenUp:
    name, reason = names.get(failure.key), failure.last_error or "no reason was noted"
    return GivenUp(queue, failure.key, name, None, failure.attempts, reason, failure.dead_at, is_waiting=True)
