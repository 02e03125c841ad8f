"""Leaving alone what has just failed, and letting one at a time try it again."""

from __future__ import annotations

import pytest
from skillroute.domain.cooldown import Cooldown

from tests.doubles import FakeClock, in_threads


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def cooldown(clock: FakeClock) -> Cooldown:
    return Cooldown(rest_s=1.0, clock=clock)


def test_everybody_may_try_what_has_not_failed(cooldown: Cooldown) -> None:
    assert [cooldown.begin() for _ in range(3)] == [None] * 3


def test_a_failure_is_told_to_whoever_comes_before_its_rest_is_over(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.begin()
    cooldown.failed("no answer")
    assert cooldown.begin() == "no answer"
    clock.advance(0.99)
    assert cooldown.begin() == "no answer"


def test_after_the_rest_one_tries_and_the_others_do_not_wait_for_it(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.failed("no answer")
    clock.advance(1.0)
    assert [cooldown.begin() for _ in range(3)] == [None, "no answer", "no answer"]


def test_who_fails_again_begins_a_new_rest(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.failed("no answer")
    clock.advance(1.0)
    cooldown.begin()
    cooldown.failed("still none")
    assert cooldown.begin() == "still none"
    clock.advance(1.0)
    assert cooldown.begin() is None


def test_who_succeeds_lets_everybody_through(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.failed("no answer")
    clock.advance(1.0)
    cooldown.begin()
    cooldown.succeeded()
    assert [cooldown.begin() for _ in range(3)] == [None] * 3


def test_of_many_threads_at_once_one_is_let_through(cooldown: Cooldown, clock: FakeClock) -> None:
    cooldown.failed("no answer")
    clock.advance(1.0)
    told = in_threads(8, lambda _: cooldown.begin())
    assert sorted(map(str, told)) == ["None"] + ["no answer"] * 7
