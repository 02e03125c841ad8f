"""Whether what was found serves the request at all (docs/adr/0041)."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.search.confidence import Confidence, Standing, load_confidences
from skillroute.search.explain import explain_confidence
from skillroute.search.explained import ConfidenceExplanation
from skillroute.search.found import Hit
from skillroute.search.retrieve import Ranking
from skillroute.search.run import ToolSearchRun


class Judge:
    """Notes how likely the first result serves the request, and whether nothing that was found does.

    Parameters
    ----------
    no_match_below : float, optional
        The confidence in the first five below which nothing is taken to fit; without it that of the embedding model.
    """

    def __init__(self, no_match_below: float | None) -> None:
        self._no_match_below = no_match_below

    def __call__(self, run: ToolSearchRun, ranking: Ranking, model: str, hits: Sequence[Hit]) -> None:
        """Judge the results of a search, of which the index has vectors of `model`.

        Scores of other modes than hybrid are no probabilities, and those of an embedding model without weights of its
        own are not calibrated: there is no confidence then, and no match is missing but where nothing was found.
        """
        if not hits:
            # What failed might have found something; a reranker finds nothing.
            run.no_match = not set(run.degraded) - {"reranker_unavailable"}
            return
        found = self._known(ranking, model, hits[0])
        if found is None:
            return
        confidence, standing = found
        run.confidence_first_five = confidence.first_five(standing)
        # Never more: the first is one of them. The two curves were fitted apart.
        run.confidence = min(run.confidence_first_five, confidence.first(standing))
        run.no_match = run.confidence_first_five < self._least(confidence)

    def explain(self, ranking: Ranking, model: str, hits: Sequence[Hit]) -> ConfidenceExplanation | None:
        """Return how the confidence came about; None where there is none."""
        found = self._known(ranking, model, hits[0]) if hits else None
        return None if found is None else explain_confidence(*found, self._least(found[0]))

    def _known(self, ranking: Ranking, model: str, first: Hit) -> tuple[Confidence, Standing] | None:
        standing = ranking.standing(first.candidate.key)
        if standing is None:
            return None
        name = model if standing.reranker is None else f"{model} + {standing.reranker}"
        confidence = load_confidences().get(name)
        return None if confidence is None else (confidence, standing)

    def _least(self, confidence: Confidence) -> float:
        return confidence.no_match_below if self._no_match_below is None else self._no_match_below
