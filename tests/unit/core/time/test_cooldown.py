"""A memory of failure: who may try again, and when."""

from __future__ import annotations

import pytest
from skillroute.core.time.cooldown import Cooldown

from tests.doubles import FakeClock, in_threads


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def cooldown(clock: FakeClock) -> Cooldown:
    return Cooldown(rest_s=1.0, clock=clock)


def test_without_a_failure_all_may_try(cooldown: Cooldown) -> None:
    assert [cooldown.begin() for _ in range(3)] == [None] * 3


def test_callers_are_refused_with_the_reason_until_the_rest_is_over(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.begin()
    cooldown.failed("no answer")
    assert cooldown.begin() == "no answer"
    clock.advance(0.99)
    assert cooldown.begin() == "no answer"


def test_after_the_rest_one_may_try_and_the_others_are_refused(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.failed("no answer")
    clock.advance(1.0)
    assert [cooldown.begin() for _ in range(3)] == [None, "no answer", "no answer"]


def test_a_second_failure_begins_a_new_rest(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.failed("no answer")
    clock.advance(1.0)
    cooldown.begin()
    cooldown.failed("still none")
    assert cooldown.begin() == "still none"
    clock.advance(1.0)
    assert cooldown.begin() is None


def test_after_a_success_all_may_try(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.failed("no answer")
    clock.advance(1.0)
    cooldown.begin()
    cooldown.succeeded()
    assert [cooldown.begin() for _ in range(3)] == [None] * 3


def test_of_many_threads_at_once_one_may_try(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.failed("no answer")
    clock.advance(1.0)
    answers = in_threads(8, lambda _: cooldown.begin())
    assert sorted(map(str, answers)) == ["None"] + ["no answer"] * 7


def test_whoever_only_asks_for_the_failure_may_try_with_all_others_once_the_rest_is_over(
    cooldown: Cooldown, clock: FakeClock
) -> None:
    assert cooldown.failure() is None
    cooldown.failed("no answer")
    clock.advance(0.99)
    assert cooldown.failure() == "no answer"
    clock.advance(0.01)
    assert [cooldown.failure() for _ in range(3)] == [None] * 3


def test_a_failure_for_want_of_time_does_not_hold_for_whoever_has_more(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.failed("no answer within 2 s", up_to_s=2.0)
    assert [cooldown.failure(timeout_s) for timeout_s in (1.0, 2.0, 2.1)] == ["no answer within 2 s"] * 2 + [None]
    cooldown.failed("no rights")
    assert cooldown.failure(3600.0) == "no rights"
