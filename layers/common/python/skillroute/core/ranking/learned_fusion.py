"""Learned fusion: one ranking out of meaning and words, and how likely each candidate is right (docs/adr/0038).

A linear model over the features of each candidate orders them; a logistic one makes a probability of its value and
of how strong the others are. The weights are data, one set for each embedding model, since cosines of two models are of
different size. `training/fusion.py` makes them with the features below, so that what is learned is what is served.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from operator import mul
from types import MappingProxyType
from typing import Any, NamedTuple, Self

from skillroute.core.ranking.logistic import log_sum_exp, logistic

_MAX_PER_WORD = 2.2
"""The upper bound of a word's BM25 score with k1 = 1.2, over its weight."""

_LONG = 5.0
"""The logarithm of how many words make a request as long as can be: 150."""

FEATURES = (
    "cosine",
    "short_margin",  # the distance to the highest cosine, for a short request: how far meaning is to be trusted alone
    "uncovered_margin",  # the same for a request whose words are hardly found at all
    "bm25_rank",  # 1 / rank
    "long_share",  # the share of the highest BM25, for a long request
    "long_coverage",  # BM25 as a share of what a text could have for this request, for a long one
    "clause_margin",  # the distance to the highest cosine of the clause where it is least; more clauses weigh more
    "clause_first",  # the highest BM25 of a clause is this candidate's; likewise
)
"""Each grows, or stays, when a candidate's own cosine or BM25 grows, and no weight is negative: more of either never
makes a candidate less likely."""


class Evidence(NamedTuple):
    """The evidence for a candidate.

    Attributes
    ----------
    cosine : float
        0..1; 0 without a vector.
    bm25 : float
        0 and up.
    clause_margin : float
        0 or less: its cosine to a clause less the highest to that clause, of the clause where this is most.
    leads_clause : bool
        A clause's highest BM25 is its own.
    """

    cosine: float
    bm25: float
    clause_margin: float = 0.0
    leads_clause: bool = False


@dataclass(frozen=True, slots=True)
class FusedRequest:
    """The evidence of a request: its words, the sum of their weights (`Bm25Encoder.query`), and its clauses.

    `clauses` is 0 where none were searched for.
    """

    words: int
    weight: float
    clauses: int = 0


@dataclass(frozen=True, slots=True)
class ClauseEvidence:
    """The evidence of a clause of the request: the candidates it brings.

    Attributes
    ----------
    cosines : mapping of key to float
        Of the nearest, 0..1.
    highest, lowest : float
        Of `cosines`; 0 where there are none.
    first_by_words : set of keys
        Those of the highest BM25.
    """

    cosines: Mapping[str, float]
    highest: float
    lowest: float
    first_by_words: frozenset[str]

    @classmethod
    def of(cls, cosines: Mapping[str, float], bm25: Mapping[str, float]) -> Self:
        """Take what the searches of a clause found."""
        best = max(bm25.values(), default=0.0)
        first = frozenset(key for key, score in bm25.items() if score == best)
        return cls(cosines, max(cosines.values(), default=0.0), min(cosines.values(), default=0.0), first)

    @property
    def candidates(self) -> set[str]:
        """The keys of what it found."""
        return {*self.cosines, *self.first_by_words}

    def margin(self, key: str) -> float:
        """Return a cosine less the highest; one that is not among the nearest is taken for the last of them."""
        return self.cosines.get(key, self.lowest) - self.highest


def features(request: FusedRequest, candidates: Sequence[Evidence]) -> list[tuple[float, ...]]:
    """Return `FEATURES` of each candidate, in order; ranks and shares are among all that are given."""
    best_cosine = max((candidate.cosine for candidate in candidates), default=0.0)
    best_bm25 = max((candidate.bm25 for candidate in candidates), default=0.0)
    most = _MAX_PER_WORD * request.weight
    best_coverage = min(1.0, best_bm25 / most) if most else 0.0
    length = min(1.0, math.log(max(request.words, 1)) / _LONG)
    ranks = _ranks([candidate.bm25 for candidate in candidates])
    apart = max(0.0, 1.0 - 2.0 / request.clauses) if request.clauses else 0.0
    made: list[tuple[float, ...]] = []
    for candidate, rank in zip(candidates, ranks, strict=True):
        margin = candidate.cosine - best_cosine
        made.append(
            (
                candidate.cosine,
                (1.0 - length) * margin,
                (1.0 - best_coverage) * margin,
                1.0 / rank if candidate.bm25 else 0.0,
                length * (candidate.bm25 / best_bm25 if best_bm25 else 0.0),
                length * (candidate.bm25 / most if most else 0.0),
                apart * candidate.clause_margin,
                apart * candidate.leads_clause,
            )
        )
    return made


def coverage(request: FusedRequest, candidates: Iterable[Evidence]) -> float:
    """Return the highest BM25 of some candidates as a share of what a text could have for the request; 0..1."""
    most = _MAX_PER_WORD * request.weight
    return min(1.0, max((candidate.bm25 for candidate in candidates), default=0.0) / most) if most else 0.0


def _ranks(values: Sequence[float]) -> list[int]:
    """Return the place of each value from the highest, from 1; equal values share the first place of theirs."""
    place_of: dict[float, int] = {}
    for place, value in enumerate(sorted(values, reverse=True), 1):
        place_of.setdefault(value, place)
    return [place_of[value] for value in values]


@dataclass(frozen=True, slots=True)
class Fusion:
    """The weights of one embedding model.

    Attributes
    ----------
    weights : sequence of float
        One for each of `FEATURES`.
    slope, rivalry, intercept : float
        Of the logistic function that makes a probability: `slope` of the weighted sum, `rivalry`, 0 or less, of the
        log of the sum of the exponentials of all candidates' weighted sums.
    """

    weights: Sequence[float]
    slope: float
    rivalry: float
    intercept: float

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        """Read weights as `fusion_weights.json` has them.

        Raises
        ------
        ValueError
            They are of other features.
        """
        weights = stored["weights"]
        if weights.keys() != set(FEATURES):
            raise ValueError(f"weights of {sorted(weights)}, and the features are {sorted(FEATURES)}")
        curve = (float(stored[name]) for name in ("slope", "rivalry", "intercept"))
        return cls([float(weights[name]) for name in FEATURES], *curve)

    def probabilities(self, request: FusedRequest, candidates: Sequence[Evidence]) -> list[float]:
        """Return how likely each candidate serves the request, in order; its order is the ranking."""
        sums = self.sums(features(request, candidates))
        if not sums:
            return []
        base = self.rivalry * log_sum_exp(sums) + self.intercept
        return [logistic(self.slope * value + base) for value in sums]

    def sums(self, rows: Iterable[Sequence[float]]) -> list[float]:
        """Return the weighted sums of rows of `FEATURES`, in order."""
        return [sum(map(mul, self.weights, row)) for row in rows]


@cache
def load_fusions(package: str) -> Mapping[str, Fusion]:
    """Return the weights that lie next to a package's code, by the embedding model's name; ``*`` is any other."""
    stored = json.loads(files(package).joinpath("fusion_weights.json").read_text(encoding="utf-8"))
    fusions = {name: Fusion.read(weights) for name, weights in stored["models"].items()}
    return MappingProxyType({"*": fusions[stored["other_models"]], **fusions})


def fusion_for(package: str, model: str) -> Fusion:
    """Return the weights for an embedding model."""
    fusions = load_fusions(package)
    return fusions.get(model) or fusions["*"]
