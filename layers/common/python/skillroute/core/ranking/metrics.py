"""Measures of a ranked answer: pure functions over ids.

A request has needs, N of them; each is served by any one of its tools, mostly there is only one.

- recall@k: the share of needs that the first k serve.
- ndcg@k: the needs that a tool is the first to serve, / log2(rank + 1), over those of the best order of k tools.
- comp@k: 1 when the first k serve every need, else 0.
- reciprocal rank: 1 / rank of the first tool that serves a need.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

Needs = Sequence[Collection[str]]


def recall(ranked: Sequence[str], needs: Needs, k: int) -> float:
    """Return the share of the needs that the first `k` serve, 0..1.

    Examples
    --------
    >>> recall(["a", "b"], [["b", "c"], ["d"]], 1), recall(["a", "b"], [["b", "c"], ["d"]], 2)
    (0.0, 0.5)
    """
    return sum(_gains(ranked[:k], needs)) / len(needs)


def comp(ranked: Sequence[str], needs: Needs, k: int) -> float:
    """Return 1 when the first `k` serve every need, else 0 (the COMP of Qu et al. 2024, COLT)."""
    return float(sum(_gains(ranked[:k], needs)) == len(needs))


def ndcg(ranked: Sequence[str], needs: Needs, k: int) -> float:
    """Return the normalised discounted gain of the first `k`, 0..1 (Järvelin and Kekäläinen 2002).

    A second tool for a need that is served gains nothing. One tool may serve several needs; the best order then takes
    first what serves the most of those that are left, which is the best there is but in contrived cases: hence the cap.
    """
    return min(1.0, _dcg(_gains(ranked[:k], needs)) / _dcg(_best_gains(needs, k)))


def reciprocal_rank(ranked: Sequence[str], needs: Needs, k: int) -> float:
    """Return 1 / rank of the first that serves a need within the first `k`, else 0."""
    return next((1.0 / rank for rank, gain in enumerate(_gains(ranked[:k], needs), 1) if gain), 0.0)


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share of the values do not exceed (nearest rank).

    Examples
    --------
    >>> percentile([4.0, 1.0, 3.0, 2.0], 0.5), percentile([4.0, 1.0, 3.0, 2.0], 0.95)
    (2.0, 4.0)
    """
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _gains(ranked: Sequence[str], needs: Needs) -> list[int]:
    """Return for each tool how many needs it is the first to serve."""
    open_needs = list(needs)
    gains = []
    for id_ in ranked:
        left = [need for need in open_needs if id_ not in need]
        gains.append(len(open_needs) - len(left))
        open_needs = left
    return gains


def _best_gains(needs: Needs, k: int) -> list[int]:
    """Return the gains of `k` tools, each the one that serves the most needs that are left."""
    open_needs, gains = list(needs), list[int]()
    while open_needs and len(gains) < k:
        served = {id_: [need for need in open_needs if id_ in need] for need in open_needs for id_ in need}
        most = max(served.values(), key=len)
        gains.append(len(most))
        open_needs = [need for need in open_needs if not any(need is one for one in most)]
    return gains


def _dcg(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
