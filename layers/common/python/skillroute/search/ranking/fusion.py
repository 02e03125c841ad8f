"""One fusion of a search: what was known of its candidates, and what was made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest

from skillroute.core.ranking.learned_fusion import FEATURES, Evidence, FusedRequest, Fusion, coverage, features
from skillroute.core.ranking.logistic import log_sum_exp
from skillroute.search.answer.optional_fields import FusionExplanation, ToolExplanation, parts
from skillroute.search.ranking.confidence import FIRST_RESULTS, Standing, ahead_of_ten


@dataclass(frozen=True)  # without slots: properties are cached
class Fused:
    """Keys, evidence and probabilities of all candidates, in one order."""

    fusion: Fusion
    request: FusedRequest
    keys: Sequence[str]
    evidence: Sequence[Evidence]
    probabilities: Sequence[float]

    def standing(self, key: str) -> Standing:
        """Return what is known of a candidate and of all others."""
        return Standing(
            self.probabilities[self.keys.index(key)],
            self._nearest,
            self.request.words,
            ahead=self._ahead,
            words_found=self._words_found,
        )

    @cached_property
    def _nearest(self) -> float:
        """The highest cosine, which the standing of each of the first five has."""
        return max(self.evidence).cosine  # by which evidence is compared first

    @cached_property
    def _ahead(self) -> float:
        """How far the likeliest is ahead, which the standing of each of the first five has."""
        return ahead_of_ten(self.probabilities)

    @cached_property
    def _words_found(self) -> float:
        """The share of the request's words in the likeliest candidates, in the standing of each of the first five."""
        likeliest = nlargest(FIRST_RESULTS, range(len(self.evidence)), key=self.probabilities.__getitem__)
        return coverage(self.request, [self.evidence[place] for place in likeliest])

    def explain(self, key: str) -> ToolExplanation:
        """Return what a candidate's probability is made of."""
        place = self.keys.index(key)
        own = self.evidence[place]
        return ToolExplanation(
            cosine=own.cosine,
            cosine_rank=1 + sum(other.cosine > own.cosine for other in self.evidence),
            bm25=own.bm25,
            bm25_rank=1 + sum(other.bm25 > own.bm25 for other in self.evidence) if own.bm25 else None,
            clause_margin=own.clause_margin if self.request.clauses else None,
            leads_clause=own.leads_clause if self.request.clauses else None,
            features=parts(FEATURES, self.fusion.weights, self._rows[place]),
            sum=self._sums[place],
            rivals=self._rivals,
            probability=self.probabilities[place],
        )

    @cached_property
    def _rows(self) -> list[tuple[float, ...]]:
        return features(self.request, self.evidence)

    @cached_property
    def _rivals(self) -> float:
        """The logarithm of the candidates' total weight."""
        return log_sum_exp(self._sums)

    @cached_property
    def _sums(self) -> list[float]:
        return self.fusion.sums(self._rows)

    def explain_curve(self, model: str, clauses: Sequence[str]) -> FusionExplanation:
        """Return what makes probabilities of the sums, which is the same for all candidates."""
        return FusionExplanation(
            model=model,
            slope=self.fusion.slope,
            rivalry=self.fusion.rivalry,
            intercept=self.fusion.intercept,
            candidates=len(self.keys),
            words=self.request.words,
            clauses=list(clauses),
        )
