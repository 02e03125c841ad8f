"""The queues' edge: events in, one use case, the messages that must come again out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from skillroute.core.errors.model import ClassifierUnavailable, DatabaseUnavailable, InvalidInput
from skillroute.core.queue.outbox import OutboxDepth
from skillroute.core.queue.work import WorkQueue
from skillroute.core.relay import RelayReport
from skillroute.core.relay_consumer import relay_consumer
from skillroute.core.time.time_left import at_most_s
from skillroute.skills.aggregation.consumer import aggregate_consumer
from skillroute.skills.classification.consumer import classify_consumer
from skillroute.skills.queues import CLASSIFY

from tests.events import event as sent


class Noted:
    """Stands where `FailedWork` would, and writes down what it is told."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}
        self.receives: dict[str, int] = {}
        self.unreadable_ones: list[tuple[str, str, int]] = []

    def __call__(self, queue: WorkQueue, reasons: Mapping[str, str], receives: Mapping[str, int]) -> None:
        self.reasons |= reasons
        self.receives |= receives

    def unreadable(self, queue: WorkQueue, message_id: str, reason: str, receives: int) -> None:
        self.unreadable_ones.append((message_id, reason, receives))


class Classify:
    """Answers with what a test says, and raises errors; a tool that is not mentioned is classified."""

    def __init__(self, answers: Mapping[int, object] | None = None) -> None:
        self.answers = dict(answers or {})
        self.calls: list[list[int]] = []

    def __call__(self, tool_ids: Sequence[int]) -> dict[int, object]:
        self.calls.append(list(tool_ids))
        for tool_id in tool_ids:
            if isinstance(answer := self.answers.get(tool_id), Exception) and not isinstance(
                answer, ClassifierUnavailable
            ):
                raise answer
        return {tool_id: self.answers.get(tool_id, "classified") for tool_id in tool_ids}


class Context:
    """An invocation with this much time left, one number for each look at the clock."""

    def __init__(self, *left_ms: int) -> None:
        self._left_ms = list(left_ms)

    def get_remaining_time_in_millis(self) -> int:
        return self._left_ms.pop(0)


def event(field: str, *values: object, receives: int = 1) -> dict[str, Any]:
    """Messages m0, m1, ... of one field."""
    return {
        "Records": [
            {
                "messageId": f"m{place}",
                "body": json.dumps({field: value}),
                "attributes": {"ApproximateReceiveCount": str(receives)},
            }
            for place, value in enumerate(values)
        ]
    }


def failures(answer: dict[str, Any]) -> list[str]:
    assert answer.keys() == {"batchItemFailures"}
    assert all(failure.keys() == {"itemIdentifier"} for failure in answer["batchItemFailures"])
    return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]


@pytest.fixture
def noted() -> Noted:
    return Noted()


class TestClassify:
    def test_a_batch_is_classified_together(self, noted: Noted) -> None:
        classify = Classify()

        answer = classify_consumer(classify, noted)(sent("sqs_classify"), None)  # type: ignore[arg-type]

        assert failures(answer) == []
        assert classify.calls == [[1, 2]]
        assert noted.reasons == {}

    def test_a_tool_that_failed_comes_again_and_the_others_do_not(self, noted: Noted) -> None:
        classify = Classify({8: ClassifierUnavailable("throttled")})

        answer = classify_consumer(classify, noted)(event("tool_id", 7, 8, 9, receives=3), None)  # type: ignore[arg-type]

        assert failures(answer) == ["m1"]
        assert noted.reasons == {"8": "throttled"}
        assert noted.receives["8"] == 3

    def test_poison_and_doubles_do_not_keep_the_others(self, noted: Noted) -> None:
        classify = Classify()
        mixed = sent("sqs_classify_mixed")
        mixed["Records"].append({**mixed["Records"][0], "messageId": "the same tool again"})

        answer = classify_consumer(classify, noted)(mixed, None)  # type: ignore[arg-type]

        poison = mixed["Records"][3]["messageId"]
        assert classify.calls == [list(range(1, 10))]
        assert failures(answer) == [poison]
        assert noted.unreadable_ones == [(poison, "tool_id: must be a positive integer of 64 bits", 5)]

    def test_doubles_fail_together(self, noted: Noted) -> None:
        classify = Classify({7: ClassifierUnavailable("throttled")})

        answer = classify_consumer(classify, noted)(event("tool_id", 7, 8, 7), None)  # type: ignore[arg-type]

        assert failures(answer) == ["m0", "m2"]

    def test_a_batch_of_poison_alone_asks_nobody(self, noted: Noted) -> None:
        classify = Classify()

        answer = classify_consumer(classify, noted)(event("tool_id", "x", None), None)  # type: ignore[arg-type]

        assert failures(answer) == ["m0", "m1"]
        assert classify.calls == []

    def test_when_the_database_is_away_all_fail(self, noted: Noted) -> None:
        classify = Classify({8: DatabaseUnavailable("PostgreSQL cannot be reached")})

        answer = classify_consumer(classify, noted)(event("tool_id", 7, 8), None)  # type: ignore[arg-type]

        assert failures(answer) == ["m0", "m1"]
        assert noted.reasons == dict.fromkeys(["7", "8"], "PostgreSQL cannot be reached")
        assert classify.calls == [[7, 8]]

    def test_what_nobody_foresaw_does_not_take_the_others_with_it(self, noted: Noted) -> None:
        classify = Classify({8: ZeroDivisionError("by zero")})

        answer = classify_consumer(classify, noted)(event("tool_id", 7, 8, 9), None)  # type: ignore[arg-type]

        assert failures(answer) == ["m1"]
        assert noted.reasons == {"8": "ZeroDivisionError: by zero"}
        assert classify.calls == [[7, 8, 9], [7], [8], [9]]

    def test_what_there_is_no_time_to_try_alone_comes_again(self, noted: Noted) -> None:
        classify = Classify({8: ZeroDivisionError("by zero")})

        answer = classify_consumer(classify, noted)(event("tool_id", 7, 8), Context(60_000, 15_000, 9_000))  # type: ignore[arg-type]

        assert failures(answer) == ["m1"]
        assert classify.calls == [[7, 8], [7]]

    def test_a_tool_that_the_answer_forgot_comes_again(self, noted: Noted) -> None:
        def forgetful(tool_ids: Sequence[int]) -> dict[int, object]:
            return {7: "classified"}

        answer = classify_consumer(forgetful, noted)(event("tool_id", 7, 8), None)  # type: ignore[arg-type]

        assert failures(answer) == ["m1"]


class TestAggregate:
    def aggregate(self, done: list[str], errors: Mapping[str, Exception]) -> Callable[[str], bool]:
        def aggregate(skill_id: str) -> bool:
            done.append(skill_id)
            if skill_id in errors:
                raise errors[skill_id]
            return True

        return aggregate

    def test_each_skill_stands_alone(self, noted: Noted) -> None:
        done: list[str] = []
        dispatched: list[int] = []
        errors = {"b": DatabaseUnavailable("away"), "c": ZeroDivisionError("by zero")}

        consume = aggregate_consumer(self.aggregate(done, errors), noted, lambda: dispatched.append(1))  # type: ignore[arg-type]
        answer = consume(event("skill_id", "a", "b", "c", "d", "a"), None)

        assert done == ["a", "b", "c", "d"]
        assert failures(answer) == ["m1", "m2"]
        assert noted.reasons == {"b": "away", "c": "ZeroDivisionError: by zero"}
        assert dispatched == [1]

    def test_what_there_is_no_time_for_comes_again(self, noted: Noted) -> None:
        done: list[str] = []

        consume = aggregate_consumer(self.aggregate(done, {}), noted, lambda: None)  # type: ignore[arg-type]
        answer = consume(sent("sqs_aggregate"), Context(60_000, 60_000, 9_999))

        assert done == ["calendar_management"]
        assert failures(answer) == [sent("sqs_aggregate")["Records"][1]["messageId"]]
        assert list(noted.reasons) == ["communication"]

    def test_nothing_is_published_for_a_batch_without_work(self, noted: Noted) -> None:
        dispatched: list[int] = []

        consume = aggregate_consumer(self.aggregate([], {}), noted, lambda: dispatched.append(1))  # type: ignore[arg-type]

        assert failures(consume(event("skill_id", 7), None)) == ["m0"]
        assert dispatched == []


def test_the_relay_answers_with_its_report() -> None:
    report = RelayReport(published=2, depths=[OutboxDepth(CLASSIFY, 1, 0, 0.5)])

    answer = relay_consumer(lambda: report, list)(sent("schedule_relay"), None)

    assert json.loads(json.dumps(answer))["depths"] == [{"queue": "classify", "waiting": 1, "dead": 0, "oldest_s": 0.5}]
    assert answer["published"] == 2


def test_the_relay_migrates_when_an_operator_says_so_and_then_does_nothing_else() -> None:
    def relay() -> RelayReport:
        raise AssertionError("the relay ran")

    consume = relay_consumer(relay, lambda: ["0001_catalogue"])

    assert consume({"command": "migrate"}, None) == {"applied": ["0001_catalogue"]}
    with pytest.raises(InvalidInput, match="command: must be 'migrate'"):
        consume({"command": "drop"}, None)


class TestTime:
    """What is waited for ends with the invocation."""

    def test_the_work_of_a_batch_waits_no_longer_than_its_invocation(self, noted: Noted) -> None:
        waits: list[float] = []
        consume = aggregate_consumer(lambda _: waits.append(at_most_s(300.0)), noted, lambda: None)  # type: ignore[arg-type]
        consume(event("skill_id", "a"), Context(60_000, 60_000))
        consume(event("skill_id", "a"), None)
        assert waits[0] < 60
        assert waits[1] == 300

    @pytest.mark.parametrize("command", [{}, {"command": "migrate"}])
    def test_nor_does_the_relay(self, command: dict[str, str]) -> None:
        waits: list[float] = []

        def migrate() -> list[str]:
            waits.append(at_most_s(300.0))
            return []

        def relay() -> RelayReport:
            migrate()
            return RelayReport()

        relay_consumer(relay, migrate)(command, Context(55_000))
        assert waits[0] < 55
