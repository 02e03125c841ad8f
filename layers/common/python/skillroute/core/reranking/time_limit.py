"""How long a search may wait for a reranker."""

from __future__ import annotations

from skillroute.core.errors.model import RerankerUnavailable
from skillroute.core.time.time_left import left_s

_KEPT_S = 0.25
"""Left to the stages behind it: at so little there is no reranking (message-search, section 7)."""


def rerank_within_s(most_s: float) -> float:
    """Return the seconds that a reranker has: `most_s`, or what the invocation leaves it.

    Raises
    ------
    RerankerUnavailable
        That is nothing.
    """
    left = left_s()
    timeout_s = most_s if left is None else min(most_s, left - _KEPT_S)
    if timeout_s <= 0.0:
        raise RerankerUnavailable("no time is left for it")
    return timeout_s
