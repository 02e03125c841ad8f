"""How long to wait for something while an invocation goes on."""

from __future__ import annotations

import threading
from contextvars import copy_context
from dataclasses import dataclass

import pytest
from skillroute.core.time.time_left import at_most_s, ending_with


@dataclass
class Invocation:
    """Lambda's context, as far as it matters here."""

    left_ms: int

    def get_remaining_time_in_millis(self) -> int:
        return self.left_ms


def in_a_thread(wait_s: float, *, with_context: bool) -> float:
    waits: list[float] = []
    run = copy_context().run if with_context else lambda work: work()
    thread = threading.Thread(target=lambda: run(lambda: waits.append(at_most_s(wait_s))))
    thread.start()
    thread.join()
    return waits[0]


@pytest.mark.parametrize("context", [None, object()])
def test_without_an_invocation_there_is_no_end(context: object) -> None:
    with ending_with(context):
        assert at_most_s(300.0) == 300.0


def test_nothing_is_waited_for_longer_than_the_invocation_goes_on() -> None:
    with ending_with(Invocation(left_ms=10_000)):
        assert at_most_s(3.0) == 3.0
        assert 0 < at_most_s(300.0) < 10.0
    assert at_most_s(300.0) == 300.0


def test_time_is_kept_for_the_answer() -> None:
    with ending_with(Invocation(left_ms=1_000)):
        assert at_most_s(300.0) < 0.6


@pytest.mark.parametrize("left_ms", [0, 120])
def test_at_the_very_end_a_part_that_is_well_may_still_answer(left_ms: int) -> None:
    with ending_with(Invocation(left_ms)):
        assert at_most_s(300.0) == 0.25
        assert at_most_s(0.1) == 0.1


def test_a_thread_of_its_own_has_no_end_and_one_that_is_given_the_context_has() -> None:
    with ending_with(Invocation(left_ms=10_000)):
        assert in_a_thread(300.0, with_context=False) == 300.0
        assert in_a_thread(300.0, with_context=True) < 10.0
