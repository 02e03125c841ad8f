"""A deadline: one moment for many steps, whoever waits and for whatever."""

from __future__ import annotations

import doctest

import pytest
from skillroute.core.errors.model import EmbeddingUnavailable, RerankerUnavailable
from skillroute.core.time import deadline as module
from skillroute.core.time.deadline import Callee, Deadline

from tests.doubles import FakeClock

MODEL = Callee("the embedding model", EmbeddingUnavailable)


class Late(RerankerUnavailable):
    """The time was up."""


def test_the_examples_in_its_docstring_are_true() -> None:
    results = doctest.testmod(module)
    assert results.attempted > 0
    assert results.failed == 0


def test_what_is_left_falls_to_zero_and_no_further() -> None:
    clock = FakeClock()
    deadline = Deadline(2.0, clock)
    clock.advance(0.5)
    assert (deadline.left_s(), deadline.remaining_s(), deadline.is_over) == (1.5, 1.5, False)
    clock.advance(1.5)
    assert (deadline.remaining_s(), deadline.is_over) == (0.0, True)
    clock.advance(10.0)
    assert deadline.remaining_s() == 0.0


@pytest.mark.parametrize("ask", [Deadline.left_s, Deadline.check])
def test_when_the_time_is_up_the_callee_is_named_in_an_error_of_its_own(ask: object) -> None:
    with pytest.raises(EmbeddingUnavailable, match=r"^the embedding model did not answer within 0 s$"):
        ask(Deadline(0.0, FakeClock(), callee=MODEL))  # type: ignore[operator]


def test_being_late_can_be_told_from_other_failures() -> None:
    with pytest.raises(Late):
        Deadline(0.0, FakeClock(), callee=Callee("the reranker", RerankerUnavailable, late=Late)).check()


def test_when_nobody_waits_any_more_no_time_is_left() -> None:
    deadline = Deadline(3600.0, FakeClock())
    deadline.abandon()
    assert deadline.is_over
