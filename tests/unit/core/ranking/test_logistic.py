"""The logistic function and the logarithm of summed exponentials, where floats would overflow too."""

from __future__ import annotations

import doctest
import math

import pytest
from skillroute.core.ranking import logistic as module
from skillroute.core.ranking.logistic import log_sum_exp, logistic


def test_the_examples_in_the_docstrings_hold() -> None:
    results = doctest.testmod(module)
    assert (results.failed, results.attempted) == (0, 2)


@pytest.mark.parametrize("logit", [-1e308, -1000.0, -50.0, -3.0, 0.0, 3.0, 1000.0, 1e308])
def test_a_logit_and_its_opposite_have_probabilities_that_make_one(logit: float) -> None:
    assert logistic(logit) + logistic(-logit) == pytest.approx(1.0)
    assert 0.0 < logistic(logit) <= 1.0


def test_the_sum_is_that_of_the_exponentials_and_overflows_for_no_values() -> None:
    assert log_sum_exp([0.5, -1.0, 2.0]) == pytest.approx(math.log(math.exp(0.5) + math.exp(-1.0) + math.exp(2.0)))
    assert log_sum_exp([1000.0, 1000.0]) == pytest.approx(1000.0 + math.log(2.0))
    assert log_sum_exp([-1000.0, -1000.0]) == pytest.approx(-1000.0 + math.log(2.0))
