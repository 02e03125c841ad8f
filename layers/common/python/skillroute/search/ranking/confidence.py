"""How likely the results of mode `hybrid` serve the request, and from where on nothing does (docs/adr/0041).

The probability of learned fusion says how far a candidate stands out from its rivals, and one always does. Whether any
is near at all, the highest cosine says; whether it is one of many, how far it is ahead of ten; what is missing, the
request's words that the first five lack, and what the first does: a tool that lists does not delete. How much of all to
ask for depends on the length of the request. The weights are data, one set for each embedding model;
`training/confidence.py` makes them with the features below.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import nlargest
from importlib.resources import files
from operator import mul
from types import MappingProxyType
from typing import Any, Self

from skillroute.core.ranking.logistic import logistic

FEATURES = ("likelihood", "cosine", "length", "ahead", "words_found", "other_action")
"""The logit of the first result's probability, the highest cosine of all candidates, the logarithm of the words, how
far the likeliest is ahead of ten (`ahead_of_ten`), the highest BM25 of the likeliest five as a share of what a text
could have for the request, and whether the result does something else than the request asks for (`actions.py`)."""

FIRST_RESULTS = 5

_RIVALS = 10
_MIN_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True)
class Standing:
    """The evidence about the first result and of all candidates.

    Attributes
    ----------
    probability : float
        Of a result by learned fusion, or blended with a reranker; its own, also where the query names it.
    cosine : float
        The highest of all candidates; 0..1.
    words : int
        Of the request.
    reranker : str or None
        What the probability is blended with; its curves are others.
    ahead : float
        How far the likeliest is ahead of the ten likeliest (`ahead_of_ten`); 0 and up.
    words_found : float
        The highest BM25 of the likeliest five, as a share of what a text could have for the request; 0..1.
    other_action : bool
        The result does something else than the request asks for.
    """

    probability: float
    cosine: float
    words: int
    reranker: str | None = None
    ahead: float = 0.0
    words_found: float = 0.0
    other_action: bool = False


def features(standing: Standing) -> tuple[float, ...]:
    """Return `FEATURES`, in order."""
    return (
        _logit(standing.probability),
        standing.cosine,
        math.log(max(standing.words, 1)),
        standing.ahead,
        standing.words_found,
        float(standing.other_action),
    )


def ahead_of_ten(probabilities: Iterable[float]) -> float:
    """Return the logit of the highest probability less the mean logit of the ten highest, or of all that there are."""
    highest = [_logit(probability) for probability in nlargest(_RIVALS, probabilities)]
    return highest[0] - sum(highest) / len(highest) if highest else 0.0


def _logit(probability: float) -> float:
    likely = min(max(probability, _MIN_PROBABILITY), 1.0 - _MIN_PROBABILITY)
    return math.log(likely / (1.0 - likely))


@dataclass(frozen=True, slots=True)
class Curve:
    """A logistic function of the features; a weight for each of `FEATURES`."""

    weights: Sequence[float]
    intercept: float

    @classmethod
    def read(cls, stored: Mapping[str, float]) -> Self:
        """Read a curve as `confidence_weights.json` has it. Raises `ValueError` where it is of other features."""
        if stored.keys() != {*FEATURES, "intercept"}:
            raise ValueError(f"weights of {sorted(stored)}, and the features are {sorted(FEATURES)}")
        return cls([float(stored[name]) for name in FEATURES], float(stored["intercept"]))

    def __call__(self, standing: Standing) -> float:
        """Return the probability."""
        return logistic(sum(map(mul, self.weights, features(standing))) + self.intercept)


@dataclass(frozen=True, slots=True)
class Confidence:
    """The curves of one embedding model.

    Attributes
    ----------
    first, first_five : Curve
        That the first result serves the request, and that one of the first five does.
    no_match_below : float
        The least of `first_five` with which something is taken to fit, where the deployment sets no other.
    """

    first: Curve
    first_five: Curve
    no_match_below: float

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """Read what `confidence_weights.json` has of a model. Raises `ValueError` as `Curve.read` does."""
        return cls(Curve.read(stored["first"]), Curve.read(stored["first_five"]), float(stored["no_match_below"]))


@cache
def load_confidences() -> Mapping[str, Confidence]:
    """Return the curves that lie next to this code, by the embedding model's name, or it and the reranker's."""
    stored = json.loads(files(__package__).joinpath("confidence_weights.json").read_text(encoding="utf-8"))
    return MappingProxyType({name: Confidence.read(curves) for name, curves in stored["models"].items()})
