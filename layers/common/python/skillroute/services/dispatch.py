"""Sending the work that waits in the outbox to its queue (DESIGN section 1)."""

from __future__ import annotations

from skillroute.domain.messages import message_of
from skillroute.domain.work import QueueName
from skillroute.errors import DependencyUnavailable
from skillroute.observability import Metric, count, logger
from skillroute.ports import Database, Queue, Session
from skillroute.services.aggregate_skill import AggregateSkill

_BATCH = 100

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
        self, database: Database, queue: Queue | None, aggregate: AggregateSkill, *, aggregate_delay_s: int = 2
    ) -> None:
        self._database = database
        self._queue = queue
        self._aggregate = aggregate
        self._aggregate_delay_s = aggregate_delay_s

    def __call__(self) -> int:
        """Publish all that waits and return how much it was.

        It never raises: what it could not publish stays in the outbox, where the relay finds it.
        """
        try:
            return self._aggregate_waiting() if self._queue is None else self._publish_waiting(self._queue)
        except DependencyUnavailable as error:
            logger.warning("work left in the outbox", extra={"reason": str(error)})
            count(Metric.DISPATCH_FAILED)
            return 0

    def _publish_waiting(self, queue: Queue) -> int:
        published = 0
        while batch := self._database.transact(lambda session: self._publish(session, queue)):
            published += batch
            if batch < _BATCH:
                break
        return published

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
        waiting = self._database.read(lambda session: session.outbox.waiting(QueueName.AGGREGATE, 10_000))
        for work in waiting:
            self._aggregate(work.key)
        return len(waiting)
