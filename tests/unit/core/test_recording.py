"""The buffer of what is recorded, and when it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from skillroute.core import observability
from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.observability import Metric
from skillroute.core.recording import Recorded, Recorder

from tests.doubles import FakeClock

RECORDED = Recorded("notes", Metric.RECEIPTS_WRITTEN, Metric.RECEIPTS_DROPPED)


class Written:
    """Remembers what was written, and fails as often as a test says."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.failures: list[Exception] = []

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        if self.failures:
            raise self.failures.pop(0)
        self.batches.append([row["text"] for row in rows])


@pytest.fixture
def counted() -> Callable[[], tuple[float, float]]:
    """Return how many were written and lost since the test began."""

    def now() -> tuple[float, float]:
        counts = observability.counts()
        return counts.get("ReceiptsWritten", 0), counts.get("ReceiptsDropped", 0)

    before = now()
    return lambda: (now()[0] - before[0], now()[1] - before[1])


@pytest.fixture
def written() -> Written:
    return Written()


def stepped(written: Written, clock: FakeClock, most: int = 2000) -> Recorder[str]:
    """Return a recorder without a thread: the test makes its steps."""
    return Recorder(RECORDED, lambda one: {"text": one}, written, most=most, starts=False, clock=clock)


def test_what_is_noted_after_a_quiet_second_is_written_at_once(written: Written) -> None:
    recorder = stepped(written, FakeClock())
    recorder.note("x", "y")
    assert recorder.step() == 0.0
    assert (written.batches, recorder.step()) == ([["x", "y"]], None)


def test_what_follows_within_a_second_waits_for_its_end_and_is_written_together(written: Written) -> None:
    clock = FakeClock()
    recorder = stepped(written, clock)
    recorder.note("x")
    recorder.step()
    clock.advance(0.4)
    recorder.note("y")
    assert recorder.step() == pytest.approx(0.6)
    recorder.note("z")
    clock.advance(0.6)
    recorder.step()
    assert written.batches == [["x"], ["y", "z"]]


def test_two_hundred_do_not_wait(written: Written) -> None:
    recorder = stepped(written, FakeClock())
    recorder.note("x")
    recorder.step()
    for _ in range(199):
        recorder.note("y")
    assert recorder.step() not in (0.0, None)
    recorder.note("y")
    assert recorder.step() == 0.0
    assert [len(batch) for batch in written.batches] == [1, 200]


def test_the_oldest_are_lost_where_there_is_no_room_and_are_counted(
    written: Written, counted: Callable[[], tuple[float, float]]
) -> None:
    recorder = stepped(written, FakeClock(), most=2)
    for text in "abcd":
        recorder.note(text)
    recorder.step()
    assert (written.batches, counted()) == ([["c", "d"]], (2, 2))


def test_after_a_failure_they_are_tried_once_more_with_what_came_meanwhile(
    written: Written, counted: Callable[[], tuple[float, float]]
) -> None:
    clock = FakeClock()
    recorder = stepped(written, clock)
    written.failures = [DatabaseUnavailable("gone")]
    recorder.note("x")
    recorder.step()
    recorder.note("y")
    clock.advance(1.0)
    recorder.step()
    assert (written.batches, counted()) == ([["x", "y"]], (2, 0))


def test_after_two_failures_they_are_lost_and_the_next_are_tried_twice_again(
    written: Written, counted: Callable[[], tuple[float, float]]
) -> None:
    clock = FakeClock()
    recorder = stepped(written, clock)
    written.failures = [DatabaseUnavailable("gone")] * 3
    for text in "xy":
        recorder.note(text)
        recorder.step()
        clock.advance(1.0)
        recorder.step()
        clock.advance(1.0)
    assert (written.batches, counted()) == ([["y"]], (1, 1))


def test_what_is_refused_is_not_tried_again(written: Written, counted: Callable[[], tuple[float, float]]) -> None:
    recorder = stepped(written, FakeClock())
    written.failures = [ValueError("a row that cannot be written")]
    recorder.note("x")
    assert (recorder.step(), recorder.step(), counted()) == (0.0, None, (0, 1))


def test_an_outage_is_logged_once_a_minute(written: Written, caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    recorder = stepped(written, clock)
    written.failures = [DatabaseUnavailable("gone")] * 62
    for _ in range(62):
        recorder.note("x")
        recorder.step()
        clock.advance(1.0)
    assert [record.getMessage() for record in caplog.records].count("notes not written") == 2


def test_no_thread_is_there_before_the_first_and_close_writes_the_last(written: Written) -> None:
    recorder = Recorder(RECORDED, lambda one: {"text": one}, written)
    assert recorder._thread is None
    for text in "xyz":
        recorder.note(text)
    recorder.close()
    assert [text for batch in written.batches for text in batch] == ["x", "y", "z"]
    recorder.note("too late")
    assert recorder.flush(0.0) is True


def test_flush_waits_for_what_was_noted_before_it(written: Written) -> None:
    recorder = Recorder(RECORDED, lambda one: {"text": one}, written)
    for _ in range(3):
        recorder.note("x")
        assert recorder.flush()
    assert len(written.batches) == 3
    recorder.close()
