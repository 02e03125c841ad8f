"""Deadlines for which only some of the time counts."""

from __future__ import annotations

import pytest
from skillroute.core.time.counted import CountedTime
from skillroute.core.time.deadline import Deadline

from tests.doubles import FakeClock


def test_a_deadline_of_counted_time_stands_still_outside_the_blocks_that_count() -> None:
    clock = FakeClock()
    waited = CountedTime(clock)
    deadline = Deadline(2.0, waited)
    clock.advance(60.0)
    assert deadline.remaining_s() == 2.0
    with waited.counting():
        clock.advance(0.5)
    clock.advance(60.0)
    assert deadline.remaining_s() == 1.5
    waited.add(1.5)
    assert deadline.is_over


def test_a_block_that_fails_counts_too() -> None:
    clock = FakeClock()
    waited = CountedTime(clock)
    with pytest.raises(ValueError), waited.counting():
        clock.advance(3.0)
        raise ValueError
    assert waited() == 3.0
