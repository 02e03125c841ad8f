"""Sending the work that waits in the outbox to its queue (DESIGN section 1)."""

from __future__ import annotations

import time

from skillroute.domain.queue_messages import message_of
from skillroute.domain.skills import SkillKey
from skillroute.domain.work import QueueName
from skillroute.errors import QueueUnavailable, SkillrouteError
from skillroute.observability import Metric, count, logger
from skillroute.ports import Clock, Database, Queue, Session
from skillroute.services.aggregate_skill import AggregateSkill

# One call of SQS. Rows are held while it lasts, and writers of the same tools and skills wait.
_BATCH = 10

_WITHIN_S = 2.0
_LEFT_ALONE_S = 5.0


class Dispatch:
    """Publishes what waits, right after the commit that made it wait. The relay does it again for what was left.

    Parameters
    ----------
    queue : Queue or None
        Without one, skills are aggregated at once, in this process, and tools wait until somebody has one.
    aggregate_delay_s : int
        How long a message for a skill rests, so that the changes of a moment are folded into one aggregation.
    """

    def __init__(
        self,
        database: Database,
        queue: Queue | None,
        aggregate: AggregateSkill,
        *,
        aggregate_delay_s: int = 2,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._queue = queue
        self._aggregate = aggregate
        self._aggregate_delay_s = aggregate_delay_s
        self._clock = clock
        self._not_before = float("-inf")

    def __call__(self) -> int:
        """Publish what waits, right after a commit, and return how much it was.

        Somebody waits for the answer to what was written, so it ends after two seconds, a backlog is left to the relay,
        and a queue that failed is left alone for a while. It never raises: what it could not publish stays.
        """
        return 0 if self._clock() < self._not_before else self.backlog(within_s=_WITHIN_S)

    def backlog(self, *, within_s: float) -> int:
        """Publish what waits, as far as that goes within some seconds, and return how much it was. It never raises."""
        if self._queue is None:
            return self._aggregate_waiting()
        published, began = 0, self._clock()
        while self._clock() - began < within_s:
            batch = self._publish_batch(self._queue)
            published += batch
            if batch < _BATCH:
                break
        return published

    def _publish_batch(self, queue: Queue) -> int:
        try:
            return self._database.transact(lambda session: self._publish(session, queue))
        except SkillrouteError as error:
            if isinstance(error, QueueUnavailable):
                self._not_before = self._clock() + _LEFT_ALONE_S
            _left(error)
            return 0

    def _publish(self, session: Session, queue: Queue) -> int:
        # Sent while the rows are held, so that no other publisher sends them too. Sent and not marked is sent twice at
        # worst, and the second message finds its work done.
        work = session.outbox.hold_unpublished(_BATCH)
        for name in QueueName:
            bodies = [message_of(each) for each in work if each.queue is name]
            if bodies:
                queue.send(name, bodies, delay_s=self._aggregate_delay_s if name is QueueName.AGGREGATE else 0)
        if work:
            session.outbox.mark_published(work)
        return len(work)

    def _aggregate_waiting(self) -> int:
        try:
            waiting = self._database.read(lambda session: session.outbox.waiting(QueueName.AGGREGATE, 10_000))
            for work in waiting:
                self._aggregate(SkillKey(work.key))
        except SkillrouteError as error:
            _left(error)
            return 0
        return len(waiting)


def _left(error: SkillrouteError) -> None:
    logger.warning("work left in the outbox", extra={"reason": str(error)})
    count(Metric.DISPATCH_FAILED)
