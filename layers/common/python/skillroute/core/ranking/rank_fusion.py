"""Reciprocal rank fusion: one ranking of several (Cormack, Clarke and Buettcher, SIGIR 2009)."""

from __future__ import annotations

RRF_CONSTANT = 60
"""As its authors chose it."""


def rrf(*ranks: int | None, k: int = RRF_CONSTANT) -> float:
    """Return the sum of ``1 / (k + rank)`` over the lists that rank something, from 1; None where one does not.

    Examples
    --------
    >>> rrf(1, 4, k=1), rrf(None, 1, k=1)
    (0.7, 0.5)
    """
    return sum((1.0 / (k + rank) for rank in ranks if rank is not None), 0.0)


def of_first(fused: float, lists: int, k: int = RRF_CONSTANT) -> float:
    """Return a fused score as a share of what the first in all lists has, 0..1."""
    return min(fused * (k + 1) / lists, 1.0)
