"""Blends a reranker's logits with the score of the search that found the candidates (docs/adr/0050).

A reranker alone forgets what the first stage knows: exact words, and the other candidates. A logistic function of both
makes one probability of them. Its weights are data, one set for each kind of search and reranker; `training/blend.py`
makes those of tools. A reranker without weights of its own counts as much as the first stage, and in searches of mail
alone, as message-search says.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from skillroute.core.ranking.logistic import log_sum_exp, logistic

RERANKED = 20
"""How many candidates a search for tools, servers or agents has reranked: the first."""

_MIN_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True)
class Blend:
    """The weights of a search's own score and of the reranker, and the logistic function on top.

    Attributes
    ----------
    first : float
        Of the logit of the first stage's score.
    reranker : float
        Of the reranker's logit.
    slope, rivalry, intercept : float
        Of the logistic function: `slope` of the weighted sum, `rivalry` of the logarithm of the sum of the
        exponentials of all candidates' weighted sums.
    """

    first: float
    reranker: float
    slope: float = 1.0
    rivalry: float = 0.0
    intercept: float = 0.0

    def sums(self, scores: Sequence[float], logits: Sequence[float]) -> list[float]:
        """Return the weighted sum of each candidate, in order: its order is the ranking.

        Parameters
        ----------
        scores, logits : sequence of float
            Of the first stage, 0..1, and of the reranker; as many of one as of the other.
        """
        return [self.first * _logit(score) + self.reranker * logit for score, logit in zip(scores, logits, strict=True)]

    def logits(self, sums: Sequence[float]) -> list[float]:
        """Return the logit of each candidate's probability, given the weighted sums of all."""
        base = self.intercept + (self.rivalry * log_sum_exp(sums) if sums else 0.0)
        return [self.slope * value + base for value in sums]

    def __call__(self, scores: Sequence[float], logits: Sequence[float]) -> list[float]:
        """Return how likely each candidate is right, in order."""
        return [logistic(value) for value in self.logits(self.sums(scores, logits))]


ALONE = Blend(first=0.0, reranker=1.0)
UNFITTED = {"tools": Blend(first=1.0, reranker=1.0), "registry": Blend(first=1.0, reranker=1.0), "messages": ALONE}
"""Two judges whose errors have nothing in common would add their logits."""


def _logit(score: float) -> float:
    likely = min(max(score, _MIN_PROBABILITY), 1.0 - _MIN_PROBABILITY)
    return math.log(likely / (1.0 - likely))


@cache
def _blends() -> Mapping[str, Mapping[str, Blend]]:
    stored = json.loads(files(__package__).joinpath("blend_weights.json").read_text(encoding="utf-8"))
    return MappingProxyType(
        {search: {name: Blend(**weights) for name, weights in own.items()} for search, own in stored.items()}
    )


def blend_for(search: str, reranker: str) -> Blend:
    """Return the weights for a kind of search (``tools``, ``registry``, ``messages``) and a reranker's name."""
    return _blends()[search].get(reranker, UNFITTED[search])
