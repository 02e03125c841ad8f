"""Trying again: what is, how often, and what whoever waits is told (deadlines: tests/unit/core/embedding)."""

from __future__ import annotations

import doctest

import pytest
from skillroute.core.errors.model import Conflict, NotFound
from skillroute.core.time import retry as module
from skillroute.core.time.retry import Retry, TransientFailure

from tests.unit.core.stubs import Attempts


def test_the_examples_in_its_docstring_are_true() -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0


def test_without_a_deadline_the_last_failure_is_raised_as_it_is() -> None:
    attempt = Attempts(*[TransientFailure(f"down {number}") for number in range(5)])
    with pytest.raises(TransientFailure, match=r"^down 2$"):
        Retry(attempts=3, base_s=0.0).run(attempt)
    assert attempt.made == 3


def test_the_caller_says_what_may_pass() -> None:
    attempt = Attempts(Conflict("overtaken"), NotFound("gone"))
    with pytest.raises(NotFound, match="gone"):
        Retry(base_s=0.0).run(attempt, again=lambda error: isinstance(error, Conflict))
    assert attempt.made == 2


def test_what_pauses_for_as_long_each_time_goes_on_until_the_attempt_gives_up() -> None:
    pauses: list[float] = []
    every = Retry.every(0.05)
    steady = Retry(attempts=every.attempts, base_s=0.05, cap_s=every.cap_s, uniform=every.uniform, sleep=pauses.append)
    assert steady.run(Attempts(*[TransientFailure("not yet") for _ in range(2000)])) == "done"
    assert pauses == [0.05] * 2000
