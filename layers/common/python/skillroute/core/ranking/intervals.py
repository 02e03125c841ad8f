"""How sure a difference of means is: the paired bootstrap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of paired differences, with its 95 % interval: one that holds 0 shows nothing."""

    mean: float
    low: float
    high: float


def interval(differences: Floats, rng: np.random.Generator) -> tuple[float, float]:
    """Return the 2.5th and 97.5th percentile of the means of 2,000 resamples (Efron and Tibshirani 1993)."""
    drawn = rng.integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.percentile(differences[drawn].mean(axis=1), (2.5, 97.5))
    return float(low), float(high)


def difference(values: Sequence[float], others: Sequence[float], *, seed: int) -> Difference:
    """Return how much higher `others` are than `values`, pair by pair. The same seed gives the same interval."""
    found = np.array(others, np.float64) - np.array(values, np.float64)
    return Difference(float(found.mean()), *interval(found, np.random.default_rng(seed)))
