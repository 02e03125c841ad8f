"""The logistic function, and the logarithm of a sum of exponentials, without overflow."""

from __future__ import annotations

import math
from collections.abc import Sequence

_MIN_LOGIT = -50.0
"""Where a probability is no more than 1e-21; the exponential of a thousand would be an error."""


def logistic(logit: float) -> float:
    """Return the probability of a logit, 0..1; logits below -50 count as -50.

    Examples
    --------
    >>> logistic(0.0), logistic(1000.0), logistic(-1000.0) == logistic(-50.0)
    (0.5, 1.0, True)
    """
    return 1.0 / (1.0 + math.exp(-max(logit, _MIN_LOGIT)))


def log_sum_exp(values: Sequence[float]) -> float:
    """Return the logarithm of the sum of the values' exponentials. Raises `ValueError` where there are no values.

    Examples
    --------
    >>> log_sum_exp([1000.0])
    1000.0
    """
    highest = max(values)
    return highest + math.log(sum(math.exp(value - highest) for value in values))
