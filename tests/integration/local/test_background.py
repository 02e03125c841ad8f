"""What follows a commit in the pump: done beside the next batch, and once for all that asked meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from skillroute.core.caller import LAPTOP
from skillroute.core.queue.memory import MemoryQueue
from skillroute.core.settings import LocalSettings
from skillroute.skills.queues import CLASSIFY
from skillroute.wiring import Parts
from skillroute_local.background import Background

from tests.doubles import LogRecords
from tests.e2e.processes import eventually
from tests.integration.rows import connected


class Slow:
    """Work that goes on until it is let go.

    Attributes
    ----------
    begun : int
        How often it began.
    """

    def __init__(self) -> None:
        self.begun = 0
        self.go_on = threading.Event()

    def __call__(self) -> None:
        self.begun += 1
        self.go_on.wait(10)


@pytest.fixture
def log() -> Iterator[LogRecords]:
    with LogRecords().attached() as records:
        yield records


def test_who_asks_does_not_wait_and_what_is_asked_meanwhile_is_done_once_more() -> None:
    slow = Slow()
    background = Background(slow)
    background()
    eventually(lambda: slow.begun == 1, "it begins")
    for _ in range(5):
        background()
    assert slow.begun == 1
    slow.go_on.set()
    eventually(lambda: slow.begun == 2, "it is done once more")


def test_what_it_raises_is_logged_and_does_not_end_it(log: LogRecords) -> None:
    calls: list[int] = []

    def work() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise RuntimeError("no")

    background = Background(work)
    background()
    eventually(lambda: log.having("background work failed"), "it is logged")
    background()
    eventually(lambda: len(calls) == 2, "it is done again")


def test_a_batch_of_the_pump_is_answered_before_the_next_messages_are_sent(database_url: str) -> None:
    # GIVEN a queue that does not answer, and an organisation with more work than it may have in flight
    is_sent = threading.Event()

    class Stuck(MemoryQueue):
        def send(self, *args: object, **named: object) -> None:
            is_sent.wait(10)
            super().send(*args, **named)  # type: ignore[arg-type]

    queue = Stuck()
    settings = LocalSettings(database_url=database_url, embedding_provider="hashing", org_in_flight=5)  # type: ignore[arg-type]
    with closing(Parts(settings, queue=queue, defer=Background)) as parts:
        # WHEN
        report = parts.catalogue.sync([{"name": f"t{n}"} for n in range(9)], LAPTOP)
        assert len(report.outcomes) == 9
        assert queue.depths()[1].ready == 0
        # THEN the messages follow
        is_sent.set()
        with connected(database_url) as sql:
            published = "SELECT count(*) FROM mcp.outbox WHERE published_at IS NOT NULL"
            eventually(lambda: sql(published) == [[5]], "they are sent")
        assert len(queue.receive(CLASSIFY)) == 5
