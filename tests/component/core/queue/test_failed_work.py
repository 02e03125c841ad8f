"""Work that fails: noted, given up at last, shown, tried again or dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from skillroute.core.observability import counts
from skillroute.core.queue.dead_letters import DeadLetters, GivenUp
from skillroute.core.queue.dispatch import Dispatch
from skillroute.core.queue.failed_work import FailedWork
from skillroute.core.queue.memory import MemoryQueue
from skillroute.core.queue.outbox import Failure, OutboxRepository
from skillroute.core.queue.work import WorkQueue
from skillroute.skills.queues import AGGREGATE, CLASSIFY

from tests.doubles import FaultyDatabase, LogRecords
from tests.worlds.desk import Desk, tool


class People:
    """Write down what they are told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, Mapping[str, Any]]] = []

    def notify(self, event: str, subject: str, details: Mapping[str, Any]) -> None:
        self.told.append((event, subject, details))


@pytest.fixture
def people() -> People:
    return People()


def waiting_tool(desk: Desk, name: str = "water_plants") -> str:
    """Store a tool, whose work waits, and return its key."""
    [outcome] = desk.put(tool(name, server="garden")).outcomes
    return str(outcome.id)


def failure(desk: Desk, queue: WorkQueue, key: str) -> Failure:
    [found] = desk.database.read(lambda session: OutboxRepository(session).failures(queue, [key]))
    return found


class TestFailing:
    def test_the_reason_is_noted_and_nobody_is_told(self, desk: Desk, people: People) -> None:
        key = waiting_tool(desk)
        before = counts().get("ClassificationFailed", 0)

        FailedWork(desk.database, people)(CLASSIFY, {key: "throttled"}, {key: 4})

        noted = failure(desk, CLASSIFY, key)
        assert (noted.attempts, noted.last_error, noted.dead_at) == (1, "throttled", None)
        assert people.told == []
        assert counts()["ClassificationFailed"] == before + 1

    def test_the_last_attempt_gives_up_and_people_are_told_what_to_do(self, desk: Desk, people: People) -> None:
        key = waiting_tool(desk)
        failed = FailedWork(desk.database, people)
        for receives in (1, 2, 3, 4):
            failed(CLASSIFY, {key: "throttled"}, {key: receives})
        assert people.told == []

        failed(CLASSIFY, {key: "throttled"}, {key: 5})

        assert failure(desk, CLASSIFY, key).dead_at is not None
        [(event, subject, details)] = people.told
        assert event == "message_dead_lettered"
        assert subject == "Skillroute: classify gave up garden/water_plants after 5 attempts"
        assert details == {
            "queue": "classify",
            "key": key,
            "attempts": 5,
            "reason": "throttled",
            "tool_name": "garden/water_plants",
            "to_do": f"remove the cause, then run `skillroute dlq redrive classify {key}`",
        }

    def test_an_unreadable_message_is_logged_and_given_up_at_last(self, desk: Desk, people: People) -> None:
        failed = FailedWork(desk.database, people)
        with LogRecords().attached() as log:
            failed.unreadable(CLASSIFY, "m1", "is not JSON", 1)
        assert len(log.having("message cannot be read")) == 1
        assert people.told == []

        failed.unreadable(CLASSIFY, "m1", "is not JSON", 5)

        [(event, _, details)] = people.told
        assert event == "message_dead_lettered"
        assert details["message_id"] == "m1"
        assert "skillroute dlq drop classify" in details["to_do"]

    def test_when_the_database_is_away_people_are_told_all_the_same(self, desk: Desk, people: People) -> None:
        key = waiting_tool(desk)
        database = FaultyDatabase(desk.database)
        database.down = True

        with LogRecords().attached() as log:
            FailedWork(database, people)(CLASSIFY, {key: "away"}, {key: 5})

        assert len(log.having("failures not noted")) == 1
        assert people.told[0][2]["tool_name"] is None

    @pytest.mark.parametrize("reason", ["a\0b", "\ud800", "x" * 10_000, ""])
    def test_no_reason_is_refused(self, desk: Desk, people: People, reason: str) -> None:
        key = waiting_tool(desk)

        FailedWork(desk.database, people)(CLASSIFY, {key: reason}, {key: 1})

        assert 0 < len(failure(desk, CLASSIFY, key).last_error or "") <= 500

    def test_nothing_failed_asks_nobody(self, desk: Desk, people: People) -> None:
        database = FaultyDatabase(desk.database)

        FailedWork(database, people)(CLASSIFY, {}, {"7": 5})

        assert database.calls == 0


class Yard:
    """A queue in memory, with what publishes to it and what fails in it."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.queue = MemoryQueue(max_receives=5, visibility_timeout_s=0)
        self.dispatch = Dispatch(desk.database, self.queue, {AGGREGATE: desk.aggregate})
        self.failed = FailedWork(desk.database, People())
        self.dead_letters = DeadLetters(desk.database, self.queue, self.dispatch)

    def fail_until_dead(self, reason: str = "throttled") -> None:
        self.dispatch()
        while messages := self.queue.receive(CLASSIFY):
            for message in messages:
                key = message.body.removeprefix('{"tool_id": ').removesuffix("}")
                if key.isdecimal():
                    self.failed(CLASSIFY, {key: reason}, {key: message.receives})


@pytest.fixture
def yard(desk: Desk) -> Yard:
    return Yard(desk)


def depth(yard: Yard) -> tuple[int, int]:
    """How many messages are ready, and how many dead."""
    found = next(each for each in yard.queue.depths() if each.queue == CLASSIFY)
    return found.ready, found.dead


class TestDeadLetters:
    def test_each_is_shown_with_its_reason_and_its_tool(self, yard: Yard) -> None:
        key = waiting_tool(yard.desk)
        yard.fail_until_dead()

        [found] = yard.dead_letters.given_up(CLASSIFY)

        assert isinstance(found, GivenUp)
        assert (found.key, found.tool_name, found.reason, found.attempts, found.is_waiting) == (
            key,
            "garden/water_plants",
            "throttled",
            5,
            True,
        )
        assert found.message_id is not None
        assert yard.dead_letters.given_up(AGGREGATE) == []

    def test_a_redriven_one_has_one_message_and_starts_anew(self, yard: Yard) -> None:
        key = waiting_tool(yard.desk)
        yard.fail_until_dead()
        assert depth(yard) == (0, 1)

        assert yard.dead_letters.redrive(CLASSIFY, [key]) == [key]

        assert depth(yard) == (1, 0)
        assert failure(yard.desk, CLASSIFY, key).dead_at is None
        assert yard.dispatch() == 0
        assert yard.dead_letters.given_up(CLASSIFY) == []

    def test_one_whose_message_is_gone_gets_a_new_one(self, yard: Yard) -> None:
        key = waiting_tool(yard.desk)
        yard.fail_until_dead()
        yard.queue.drop(CLASSIFY, [letter.message_id for letter in yard.queue.dead_letters(CLASSIFY, limit=9)])
        [shown] = yard.dead_letters.given_up(CLASSIFY)
        assert (shown.key, shown.message_id) == (key, None)

        assert yard.dead_letters.redrive(CLASSIFY) == [key]

        assert depth(yard) == (1, 0)

    def test_one_that_nobody_could_note_is_shown_and_redriven(self, yard: Yard) -> None:
        # GIVEN its receiver was killed each time
        key = waiting_tool(yard.desk)
        yard.dispatch()
        while yard.queue.receive(CLASSIFY):
            pass

        [shown] = yard.dead_letters.given_up(CLASSIFY)

        assert (shown.key, shown.reason) == (key, "its receiver ended without a report")
        assert yard.dead_letters.drop(CLASSIFY) == []
        assert yard.dead_letters.redrive(CLASSIFY) == [key]

    def test_only_the_keys_that_were_asked_for_are_redriven(self, yard: Yard) -> None:
        first, second = waiting_tool(yard.desk, "first"), waiting_tool(yard.desk, "second")
        yard.fail_until_dead()

        assert yard.dead_letters.redrive(CLASSIFY, [second, "999"]) == [second]

        assert [each.key for each in yard.dead_letters.given_up(CLASSIFY)] == [first]

    def test_what_leads_nowhere_is_dropped_and_the_rest_stays(self, yard: Yard) -> None:
        # GIVEN a message that cannot be read, one of a tool that is gone, and one that can be redriven
        gone, wanted = waiting_tool(yard.desk, "gone"), waiting_tool(yard.desk, "wanted")
        yard.queue.send_text(CLASSIFY, "what is this?")
        yard.fail_until_dead()
        yard.desk.sql("DELETE FROM mcp.tools WHERE name = 'gone'")
        shown = {each.key: each.reason for each in yard.dead_letters.given_up(CLASSIFY)}
        assert shown == {
            None: "it cannot be read: body: is not JSON",
            gone: "its work was done meanwhile, or is not wanted any more",
            wanted: "throttled",
        }

        dropped = yard.dead_letters.drop(CLASSIFY)

        assert {each.key for each in dropped} == {None, gone}
        assert [each.key for each in yard.dead_letters.given_up(CLASSIFY)] == [wanted]

    def test_without_queues_the_outbox_alone_is_looked_at(self, yard: Yard) -> None:
        key = waiting_tool(yard.desk)
        yard.fail_until_dead()
        alone = DeadLetters(yard.desk.database, None, lambda: 0)

        assert [each.key for each in alone.given_up(CLASSIFY)] == [key]
        assert alone.drop(CLASSIFY) == []
        assert alone.redrive(CLASSIFY) == [key]
