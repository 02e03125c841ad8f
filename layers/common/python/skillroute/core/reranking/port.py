"""The port of rerankers, which order the candidates of a search again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skillroute.core.errors.model import RerankerUnavailable


def no_reranker() -> RerankerUnavailable:
    """Return the error of a deployment that has none."""
    return RerankerUnavailable("there is no reranker: set SKILLROUTE_RERANK_PROVIDER")


class Reranker(Protocol):
    """Looks at a query and a text together, and says how well they go together."""

    @property
    def name(self) -> str:
        """Provider and model."""
        ...

    def logits(self, query: str, texts: Sequence[str], *, timeout_s: float) -> list[float]:
        """Return for each text, in order, a number whose sigmoid is its relevance.

        Raises
        ------
        RerankerUnavailable
            It failed, was throttled, or did not answer within `timeout_s` seconds.
        """
        ...
