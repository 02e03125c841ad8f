"""Computes what each bound of `no_match` refuses and loses: the curve to choose `SKILLROUTE_NO_MATCH_BELOW` by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LOST = (0.01, 0.02, 0.05, 0.1)
"""The shares of the requests with a right tool that may be refused."""


@dataclass(frozen=True, slots=True)
class Bound:
    """A least confidence in the first five results.

    Attributes
    ----------
    no_match_below : float
        What `SKILLROUTE_NO_MATCH_BELOW` takes, rounded down so that it loses no more than it says.
    lost : float
        Of the requests with a right tool among the first five, the share below it.
    refused : float or None
        Of the requests that nothing serves, the share below it; None where the file has none.
    """

    no_match_below: float
    lost: float
    refused: float | None


def bounds(served: Sequence[float], unserved: Sequence[float]) -> list[Bound]:
    """Return the highest bound for each share that may be lost; none where nothing was served.

    Parameters
    ----------
    served, unserved : sequence of float
        Confidences in the first five: of requests with a right tool among them, and of those that nothing serves.

    Examples
    --------
    >>> bounds([0.2, *[0.9] * 19], [0.1, 0.3])[2]
    Bound(no_match_below=0.9, lost=0.05, refused=1.0)
    """
    in_order = sorted(served)
    found = []
    for share in LOST if in_order else ():
        bound = int(in_order[int(share * len(in_order))] * 1000) / 1000
        lost = sum(confidence < bound for confidence in in_order) / len(in_order)
        refused = sum(confidence < bound for confidence in unserved) / len(unserved) if unserved else None
        found.append(Bound(bound, round(lost, 4), None if refused is None else round(refused, 4)))
    return found
