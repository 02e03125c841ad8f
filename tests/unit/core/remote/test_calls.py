"""Deadlines, retries and threads, apart from any provider."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from skillroute.core.embedding.port import EMBEDDING_MODEL
from skillroute.core.errors.model import EmbeddingUnavailable
from skillroute.core.remote.calls import fan_out, retry_after_s
from skillroute.core.time.deadline import Deadline
from skillroute.core.time.retry import Retry, TransientFailure

from tests.unit.core.stubs import Attempts, FakeTime


def down(retry_after_s: float | None = None) -> TransientFailure:
    return TransientFailure("the server is down", retry_after_s=retry_after_s)


def test_pauses_double_from_the_base_to_the_cap(time: FakeTime) -> None:
    attempt = Attempts(*[down() for _ in range(6)])
    retry = time.retry(attempts=7, base_s=0.5, cap_s=3.0)

    assert retry.run(attempt, deadline=time.deadline(60)) == "done"
    assert time.sleeps == [0.5, 1.0, 2.0, 3.0, 3.0, 3.0]


def test_the_jitter_is_full(time: FakeTime) -> None:
    asked: list[tuple[float, float]] = []

    def lowest(low: float, high: float) -> float:
        asked.append((low, high))
        return low

    retry = Retry(clock=time.clock, sleep=time.sleep, uniform=lowest, base_s=0.5)
    retry.run(Attempts(down(), down()), deadline=time.deadline(60))

    assert asked == [(0.0, 0.5), (0.0, 1.0)]
    assert time.sleeps == [0.0, 0.0]


def test_the_server_is_left_alone_for_as_long_as_it_asks(time: FakeTime) -> None:
    retry = time.retry(base_s=0.5)

    assert retry.run(Attempts(down(retry_after_s=7)), deadline=time.deadline(60)) == "done"
    assert time.sleeps == [7.5]


def test_a_pause_that_would_end_after_the_deadline_is_not_begun(time: FakeTime) -> None:
    attempt = Attempts(down(retry_after_s=10))
    retry = time.retry()

    with pytest.raises(EmbeddingUnavailable, match=r"server is down.*none further fits into 10 s"):
        retry.run(attempt, deadline=time.deadline(10))
    assert (attempt.made, time.sleeps) == (1, [])


def test_retries_never_last_longer_than_the_deadline(time: FakeTime) -> None:
    retry = time.retry(attempts=1000, base_s=0.3)
    began_s = time.now_s

    with pytest.raises(EmbeddingUnavailable):
        retry.run(Attempts(*[down() for _ in range(1000)]), deadline=time.deadline(12))
    assert 6 < time.now_s - began_s < 12


def test_the_last_attempt_is_not_followed_by_a_pause(time: FakeTime) -> None:
    attempt = Attempts(*[down() for _ in range(9)])
    retry = time.retry(attempts=3)

    with pytest.raises(EmbeddingUnavailable, match=r"server is down.*attempt 3, the last"):
        retry.run(attempt, deadline=time.deadline(60))
    assert (attempt.made, len(time.sleeps)) == (3, 2)


@pytest.mark.parametrize("failure", [EmbeddingUnavailable("refused"), ValueError("a bug")], ids=repr)
def test_what_is_not_transient_is_not_tried_again(time: FakeTime, failure: Exception) -> None:
    attempt = Attempts(failure)
    retry = time.retry()

    with pytest.raises(type(failure)) as caught:
        retry.run(attempt, deadline=time.deadline(60))
    assert caught.value is failure
    assert attempt.made == 1


def test_without_time_there_is_no_attempt(time: FakeTime) -> None:
    attempt = Attempts()
    retry = time.retry()

    with pytest.raises(EmbeddingUnavailable, match="within 0 s"):
        retry.run(attempt, deadline=time.deadline(0))
    assert attempt.made == 0


@pytest.mark.parametrize(
    ("header", "seconds"), [(None, None), ("", None), ("7", 7.0), (" 7 ", 7.0), ("soon", None), ("²", None)]
)
def test_retry_after_in_seconds(header: str | None, seconds: float | None) -> None:
    assert retry_after_s(header) == seconds


@pytest.mark.parametrize(("from_now_s", "low", "high"), [(90, 80, 90), (-90, 0, 0)])
def test_retry_after_as_a_date(from_now_s: int, low: float, high: float) -> None:
    header = format_datetime(datetime.now(UTC) + timedelta(seconds=from_now_s), usegmt=True)

    seconds = retry_after_s(header)

    assert seconds is not None
    assert low <= seconds <= high


def test_results_come_in_the_order_of_the_arguments_whoever_is_done_first() -> None:
    second_done = threading.Event()

    def work(number: int) -> int:
        if number == 1:
            second_done.wait(10)
        else:
            second_done.set()
        return number

    assert fan_out(work, [1, 2], workers=2, deadline=Deadline(10)) == [1, 2]


def test_no_more_calls_than_workers_run_at_once() -> None:
    lock, running, most = threading.Lock(), 0, 0
    three_met = threading.Barrier(3, timeout=10)

    def work(_: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        three_met.wait()
        with lock:
            running -= 1

    fan_out(work, range(12), workers=3, deadline=Deadline(10))

    assert most == 3


def test_after_success_the_deadline_serves_for_the_next_calls() -> None:
    deadline = Deadline(3600)

    for _ in range(2):
        assert fan_out(abs, [-1, -2], workers=2, deadline=deadline) == [1, 2]

    assert deadline.remaining_s() > 0.0


def test_a_call_that_is_stuck_does_not_hold_up_the_caller() -> None:
    test_over = threading.Event()

    with pytest.raises(EmbeddingUnavailable, match=r"did not answer within 0\.05 s"):
        fan_out(lambda _: test_over.wait(), [1, 2], workers=2, deadline=Deadline(0.05, callee=EMBEDDING_MODEL))
    test_over.set()


def test_a_failure_is_raised_as_it_is_and_ends_the_others() -> None:
    deadline = Deadline(3600, callee=EMBEDDING_MODEL)
    test_over = threading.Event()
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        if number == 0:
            raise EmbeddingUnavailable("refused")
        test_over.wait(10)

    with pytest.raises(EmbeddingUnavailable, match=r"^refused$"):
        fan_out(work, range(100), workers=2, deadline=deadline)

    assert deadline.remaining_s() == 0.0, "work under way sees that nobody waits"
    test_over.set()
    for thread in threading.enumerate():
        if thread.name.startswith("embed"):
            thread.join(10)
    assert len(begun) <= 3, "what had not begun is not begun"
