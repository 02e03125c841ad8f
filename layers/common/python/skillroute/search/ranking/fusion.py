"""Learned fusion of the candidates of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from heapq import nlargest

from skillroute.core.ranking.learned_fusion import FEATURES, Evidence, FusedRequest, Fusion, coverage, features
from skillroute.core.ranking.logistic import log_sum_exp
from skillroute.search.answer.explanation import FusionExplanation, ToolExplanation, parts
from skillroute.search.candidates.retrieve import Candidate, RankedTools
from skillroute.search.learned import Nearness
from skillroute.search.ranking.confidence import FIRST_RESULTS, Standing, ahead_of_ten
from skillroute.search.ranking.rerank import Reranked


@dataclass(frozen=True)  # without slots: properties are cached
class Fused:
    """One fusion: keys, evidence and probabilities of all candidates, in one order; cosines without what is learned."""

    fusion: Fusion
    request: FusedRequest
    keys: Sequence[str]
    evidence: Sequence[Evidence]
    probabilities: Sequence[float]
    cosines: Mapping[str, float]
    near: Mapping[str, Nearness]

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
            cosine=self.cosines.get(key, 0.0),
            learned_cosine=self.near[key].cosine if key in self.near else None,
            learned_share=self.near[key].share if key in self.near else None,
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


@dataclass(frozen=True)
class FusedTools(RankedTools):
    """Tools by their probabilities.

    Attributes
    ----------
    model : str
        Of the embeddings.
    clauses : sequence of str
        Of the query, where they were searched as well.
    fused : sequence of Fused
        What the scores come from; of a tool that is in several, the first.
    reranked : Reranked, optional
        What a reranker changed of the scores of the first fusion.
    blended : mapping of str to float
        Those scores as it changed them.
    """

    model: str
    clauses: Sequence[str]
    fused: Sequence[Fused]
    reranked: Reranked | None = None
    blended: Mapping[str, float] = field(default_factory=dict)

    def standing(self, key: str) -> Standing:
        standing = self._fused_with(key).standing(key)
        if self.reranked is None or key not in self.blended:
            return standing
        return replace(standing, probability=self.blended[key], reranker=self.reranked.reranker)

    def explain(self, candidate: Candidate) -> ToolExplanation:
        key = candidate.key
        explained = self._fused_with(key).explain(key)
        if self.reranked is None or key not in self.blended:
            return explained
        found = self.reranked
        reranked = {"reranker_logit": found.logits.get(key), "reranker_sum": found.sums.get(key)}
        return explained.model_copy(update={**reranked, "reranked": self.blended[key]})

    def explain_curve(self) -> FusionExplanation:
        curve = self.fused[0].explain_curve(self.model, self.clauses)
        return curve if self.reranked is None else curve.model_copy(update={"rerank": self.reranked.explain()})

    def _fused_with(self, key: str) -> Fused:
        return next(fused for fused in self.fused if key in fused.keys)
