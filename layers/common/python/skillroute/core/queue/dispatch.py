"""Sending the work that waits in the outbox to its queue (docs/adr/0010)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from skillroute.core.errors.model import QueueUnavailable, SkillrouteError
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database, Session
from skillroute.core.queue.messages import group_of, message_of
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.queue.port import Queue
from skillroute.core.queue.work import OutboxEntry, Work, WorkQueue, queues
from skillroute.core.time.clock import Clock
from skillroute.core.time.cooldown import Cooldown
from skillroute.core.time.deadline import Deadline

# One call of SQS. Rows are locked while it lasts, and writers of the same tools and skills wait.
_BATCH = 10
# What one organisation publishes before the next: a whole batch, so that a consumer reads few organisations' skills.
_SHARE = _BATCH
# Looked up at once: with thousands of organisations the look costs more than the sending of ten messages.
_AT_ONCE = 1000

_WITHIN_S = 2.0
_LEFT_ALONE_S = 5.0


class Dispatch:
    """Publishes what waits, right after the commit that made it wait. The relay does it again for what was left.

    Parameters
    ----------
    queue : Queue or None
        Without one, work is done at once, in this process, where `at_once` has its queue; other work waits until there
        is a queue.
    at_once : mapping of WorkQueue to callable
        Does the work that waits under a key, where there is no queue.
    delays_s : mapping of WorkQueue to int
        How long a message rests, so that the changes of a moment are folded into one piece of work; else 0.
    most_in_flight : int
        Messages of one organisation that may be in flight in one queue.
    """

    def __init__(
        self,
        database: Database,
        queue: Queue | None,
        at_once: Mapping[WorkQueue, Callable[[str], object]],
        *,
        delays_s: Mapping[WorkQueue, int] = MappingProxyType({}),
        most_in_flight: int = 200,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._queue = queue
        self._at_once = at_once
        self._delays_s = delays_s
        self._most_in_flight = most_in_flight
        self._clock = clock
        self._cooldown = Cooldown(_LEFT_ALONE_S, clock)

    def __call__(self) -> int:
        """Publish what waits, right after a commit, and return how much it was.

        Somebody waits for the answer to what was written, so it ends after two seconds, a backlog is left to the relay,
        and a queue that failed is left alone for a while. It never raises: what it could not publish stays.
        """
        return self.backlog(within_s=_WITHIN_S) if self._cooldown.failure() is None else 0

    def backlog(self, *, within_s: float) -> int:
        """Publish what waits, as far as that goes within some seconds, and return how much it was. It never raises.

        Organisations take turns, and none has more than `most_in_flight` messages in a queue: its other work waits in
        the outbox until some of them are done (docs/adr/0028).
        """
        if self._queue is None:
            return self._do_at_once()
        published, deadline = 0, Deadline(within_s, self._clock)
        try:
            while entries := self._next_to_publish():
                before = published
                for start in range(0, len(entries), _BATCH):
                    if deadline.is_over:
                        return published
                    published += self._publish(self._queue, entries[start : start + _BATCH])
                # Work that failed before takes less room than it was given, so there may be some for more. Where others
                # have locked all of it, they look.
                if published == before:
                    break
        except SkillrouteError as error:
            if isinstance(error, QueueUnavailable):
                self._cooldown.failed(str(error))
            _left(error)
        return published

    def _next_to_publish(self) -> list[OutboxEntry]:
        return self._database.read(
            lambda session: OutboxRepository(session).next_to_publish(
                most_in_flight=self._most_in_flight, share=_SHARE, limit=_AT_ONCE
            )
        )

    def _publish(self, queue: Queue, entries: Sequence[OutboxEntry]) -> int:
        def publish(session: Session) -> int:
            # Sent while the rows are locked, so that no other publisher sends them too. Sent and not committed is sent
            # twice at worst, and the second message finds its work done.
            marked = OutboxRepository(session).mark_published(entries)
            for name in queues():
                self._send(queue, name, [entry for entry in marked if entry.queue == name])
            return len(marked)

        return self._database.transact(publish)

    def _send(self, queue: Queue, name: WorkQueue, entries: Sequence[OutboxEntry]) -> None:
        if entries:
            queue.send(
                name,
                [message_of(entry) for entry in entries],
                groups=[group_of(entry.org_id) for entry in entries],
                delay_s=self._delays_s.get(name, 0),
            )

    def _do_at_once(self) -> int:
        done = 0
        try:
            for queue, do in self._at_once.items():
                for work in self._database.read(partial(_waiting, queue=queue)):
                    do(work.key)
                    done += 1
        except SkillrouteError as error:
            _left(error)
        return done


def _waiting(session: Session, queue: WorkQueue) -> list[Work]:
    return OutboxRepository(session).waiting(queue, 10_000)


def _left(error: SkillrouteError) -> None:
    logger.warning("work left in the outbox", extra={"reason": str(error)})
    count(Metric.DISPATCH_FAILED)
