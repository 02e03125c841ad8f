"""Whatever happens to work in whatever order: none is lost, none waits for ever, no organisation passes its limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from skillroute.core.queue.dispatch import Dispatch
from skillroute.core.queue.failed_work import MAX_RECEIVES, FailedWork
from skillroute.core.queue.memory import MemoryQueue, Message
from skillroute.core.queue.messages import key_of
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.queue.work import WorkQueue, queue_named, queues
from skillroute.skills.model import skill_key

from tests.builders import System, lent_system
from tests.component.core.queue.clocked import AGGREGATE, CLASSIFY, grow_stale
from tests.doubles import EdgeIndexes, FakeClock

MAX_COUNT = 2
VISIBILITY_S = 180.0
ORGS = ("acme", "globex", None)
TOOLS_OF_EACH = 3

Work = tuple[WorkQueue, str]

_LOADS = """
SELECT queue, org_id, count(*) FILTER (WHERE published_at IS NOT NULL AND attempts = 0)
                      + count(*) FILTER (WHERE published_at IS NOT NULL AND attempts > 0) / 10,
       count(*) FILTER (WHERE published_at IS NULL)
FROM mcp.outbox WHERE dead_at IS NULL GROUP BY queue, org_id
"""


class Scenario:
    """The outbox, its queue and its workers, and what must have been worked on in the end.

    Attributes
    ----------
    wanted : dict of (queue, key) to int
        What changed and was not done since, with the version that the change gave it. Of two messages about the same
        work, one that is done is enough, whatever becomes of the other.
    """

    def __init__(self, system: System, work: list[Work]) -> None:
        self.system = system
        self.work = work
        self.clock = FakeClock()
        self.queue = MemoryQueue(max_receives=MAX_RECEIVES, visibility_timeout_s=VISIBILITY_S, clock=self.clock)
        self.dispatch = Dispatch(
            system.database,
            self.queue,
            {AGGREGATE: system.parts.aggregate_skill},
            delays_s={AGGREGATE: 2},
            most_in_flight=MAX_COUNT,
            clock=self.clock,
        )
        # Not the parts' own, which have no queue: what follows their commits does the work of skills at once.
        self.failed = FailedWork(system.database, system.notifier)
        self.wanted: dict[Work, int] = {}
        self.taken: list[tuple[Work, Message, dict[str, int]]] = []
        system.sql("DELETE FROM mcp.outbox")

    def change(self, place: int) -> None:
        """Let a tool or a skill change."""
        queue, key = self.work[place % len(self.work)]
        self._transact(lambda session: OutboxRepository(session).enqueue(queue, [key]))
        self.wanted[queue, key] = self.versions(queue, key)[key]

    def publish(self, _: int = 0) -> None:
        """Publish, as every commit, every consumer and the relay do."""
        before = self.loads()
        self.dispatch.backlog(within_s=1e9)
        for line, (load, waiting) in self.loads().items():
            assert load <= max(MAX_COUNT, before[line][0]), "an organisation has more in flight than it may"
            assert waiting == 0 or load >= MAX_COUNT, "work waits although there is room"

    def receive(self, number: int) -> None:
        """Let a worker receive messages and read what they are about."""
        for queue in queues():
            for message in self.queue.receive(queue, 1 + number % 4):
                key = key_of(queue, message.body)
                self.taken.append(((queue, key), message, self.versions(queue, key)))

    def finish(self, place: int) -> None:
        """Let a worker be done with what it received."""
        if self.taken:
            (queue, key), message, versions = self.taken.pop(place % len(self.taken))
            self._transact(lambda session: OutboxRepository(session).done(queue, versions))
            self.queue.delete(queue, message.id)
            if versions.get(key, 0) >= self.wanted.get((queue, key), 0):
                self.wanted.pop((queue, key), None)

    def fail(self, place: int) -> None:
        """Let a worker fail; its message comes again."""
        if self.taken:
            (queue, key), message, _ = self.taken.pop(place % len(self.taken))
            self.failed(queue, {key: "refused"}, {key: message.receives})

    def kill(self, place: int) -> None:
        """Let a worker be killed; its message comes again, and nobody notes why."""
        if self.taken:
            self.taken.pop(place % len(self.taken))

    def lose(self, number: int) -> None:
        """Let the queue lose messages."""
        for queue in queues():
            for message in self.queue.receive(queue, 1 + number % 3):
                self.queue.delete(queue, message.id)

    def wait(self, _: int = 0) -> None:
        """Let so much time pass that messages show themselves again."""
        self.clock.advance(VISIBILITY_S + 1)

    def go_stale(self, _: int = 0) -> None:
        """Let so much time pass that messages should long have been done."""
        grow_stale(self.system)
        self._transact(
            lambda s: OutboxRepository(s).publish_stale(older_than_s=4 * 3600.0, most=MAX_RECEIVES, limit=1000)
        )

    def redrive(self, _: int = 0) -> None:
        """Let an operator have all tried again that was given up."""
        for queue in queues():
            self._transact(lambda session, queue=queue: OutboxRepository(session).revive(queue, None))

    def end(self) -> int:
        """Let everything that is left be done; return how many rounds it took."""
        for place in range(len(self.taken)):
            self.finish(place)
        rounds = 0
        while self.rows() and rounds < 50:
            self.redrive()
            self.publish()
            self.wait()
            self.receive(3)
            while self.taken:
                self.finish(0)
            if rounds % 5 == 4:
                self.go_stale()
            rounds += 1
        return rounds

    def versions(self, queue: WorkQueue, key: str) -> dict[str, int]:
        """Return the version of one work that waits, if it does."""
        found: dict[str, int] = self.system.database.read(lambda s: OutboxRepository(s).versions(queue, [key]))
        return found

    def rows(self) -> set[Work]:
        return {(queue_named(queue), key) for queue, key in self.system.rows("SELECT queue, key FROM mcp.outbox")}

    def loads(self) -> dict[tuple[str, str], tuple[int, int]]:
        """Return what each organisation has in flight in each queue, and what waits for a message."""
        return {(queue, org): (load, waiting) for queue, org, load, waiting in self.system.rows(_LOADS)}

    def _transact(self, work: Callable[[Any], object]) -> None:
        self.system.database.transact(work)


STEPS = st.sampled_from(
    ["change", "change", "change", "publish", "publish", "receive", "receive", "finish", "finish",
     "fail", "kill", "lose", "wait", "go_stale", "redrive"]
)  # fmt: skip

TWO_MESSAGES = ("change", "publish", "go_stale", "publish", "receive", "finish", "kill")
"""Of two workers with the same work one is done, and the other one is killed: nothing is left to be done."""
CHANGED_MEANWHILE = ("change", "publish", "receive", "change", "finish")
"""What changed while a worker was at it is not done when that one is."""


@pytest.fixture
def busy(database_url: str, edge_indexes: EdgeIndexes) -> Iterator[tuple[System, list[Work]]]:
    """Tools and skills of three organisations, one of them nobody's."""
    with lent_system(database_url, edge_indexes) as system:
        work: list[Work] = []
        for org in ORGS:
            ids = system.tools([(f"t{n}", None) for n in range(TOOLS_OF_EACH)], org=org)
            work += [(CLASSIFY, str(id_)) for id_ in ids]
            skill_id = system.skill(f"of_{org or 'all'}", None, org=org)
            work.append((AGGREGATE, skill_key(skill_id, org)))
        yield system, work


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(STEPS, st.integers(0, 11)), min_size=5, max_size=40))
@example(steps=[(step, 5) for step in TWO_MESSAGES])
@example(steps=[(step, 5) for step in CHANGED_MEANWHILE])
@example(steps=[("change", 0), ("change", 3), ("publish", 0), ("receive", 0), ("fail", 0)])
def test_nothing_is_lost_and_nothing_waits_for_ever(
    busy: tuple[System, list[Work]], steps: list[tuple[str, int]]
) -> None:
    scenario = Scenario(*busy)
    for step, number in steps:
        getattr(scenario, step)(number)
        # What changed and was not done since waits, with or without a message.
        assert scenario.wanted.keys() <= scenario.rows()
    scenario.end()
    assert scenario.rows() == set()
    assert scenario.wanted == {}
