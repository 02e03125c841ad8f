"""A queue in memory with a clock of its own, and what tests of the outbox do to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.core.queue.dispatch import Dispatch
from skillroute.core.queue.memory import MemoryQueue
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.queue.work import WorkQueue
from skillroute.core.relay import Relay
from skillroute.skills.classification.lost_tools import QueueLostTools
from skillroute.skills.queues import AGGREGATE, CLASSIFY

from tests.builders import System
from tests.doubles import FakeClock


class Clocked(MemoryQueue):
    """A queue whose time stands still but for `takes_s` a call, with what was sent.

    Attributes
    ----------
    calls : list of (queue, messages)
        Those that failed among them.
    """

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.takes_s = 0.0
        self.calls: list[tuple[WorkQueue, int]] = []
        super().__init__(clock=self.clock)

    def send(
        self,
        queue: WorkQueue,
        bodies: Sequence[Mapping[str, Any]],
        *,
        groups: Sequence[str | None] | None = None,
        delay_s: int = 0,
    ) -> None:
        self.calls.append((queue, len(bodies)))
        self.clock.advance(self.takes_s)
        super().send(queue, bodies, groups=groups, delay_s=delay_s)

    def sent(self, name: WorkQueue) -> list[object]:
        """Receive and delete all that is visible."""
        messages = self.receive(name, 10_000)
        for message in messages:
            self.delete(name, message.id)
        return [json.loads(message.body) for message in messages]


def relay(system: System, **options: Any) -> Relay:
    """Return a relay of the system's parts, some of them replaced by `options`."""
    parts = system.parts
    embed_missing = options.pop("embed_missing", parts.embed_missing)
    approve = options.pop("approve", parts.suggest_skills.approve_waiting)
    queue = options.pop("queue", None)
    dispatch = parts.dispatch if queue is None else dispatch_over(system, queue)
    options |= {} if queue is None else {"clock": queue.clock}
    lost = QueueLostTools(system.database)
    return Relay(system.database, dispatch, parts.failed_work, lost, approve, embed_missing, **options)


def dispatch_over(system: System, queue: Clocked) -> Dispatch:
    """Return a dispatch that reads the queue's clock."""
    return Dispatch(
        system.database, queue, {AGGREGATE: system.parts.aggregate_skill}, delays_s={AGGREGATE: 2}, clock=queue.clock
    )


def grow_stale(system: System) -> None:
    """Let five hours pass for all that was published."""
    system.sql("UPDATE mcp.outbox SET published_at = published_at - interval '5 hours'")


def fails(system: System, key: str, reason: str, *, dead: bool) -> None:
    """Note that a tool was not classified, at the last of its attempts or before."""
    given_up = [key] if dead else []
    system.database.transact(
        lambda session: OutboxRepository(session).failed(CLASSIFY, {key: reason}, dead=given_up, receives={key: 1})
    )
