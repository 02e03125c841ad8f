"""Whether what was found serves the request at all (docs/adr/0041)."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.search.confidence import FIRST_RESULTS, Confidence, Standing, load_confidences
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
        found = self._known(ranking, model, hits)
        if found is None:
            return
        if run.language is not None:
            # The curves were fitted to English, and what a model cannot read is near to something all the same.
            run.no_match = not any(hit.candidate.is_named or ranking.explain(hit.candidate).bm25 for hit in hits)
            return
        confidence, first, likeliest = found
        run.confidence_first_five = confidence.first_five(likeliest)
        # Never more: the first is one of them. The two curves were fitted apart.
        run.confidence = min(run.confidence_first_five, confidence.first(first))
        # A tool that the request names is there, however unlikely its words make it.
        run.no_match = not hits[0].candidate.is_named and run.confidence_first_five < self._least(confidence)

    def explain(self, ranking: Ranking, model: str, hits: Sequence[Hit]) -> ConfidenceExplanation | None:
        """Return how the confidence came about; None where there is none."""
        found = self._known(ranking, model, hits) if hits else None
        return None if found is None else explain_confidence(*found, self._least(found[0]))

    def _known(self, ranking: Ranking, model: str, hits: Sequence[Hit]) -> tuple[Confidence, Standing, Standing] | None:
        """Return the curves, and what is known of the first result and of the likeliest among the first five.

        They are one but where the first is first because it is named.
        """
        first = ranking.standing(hits[0].candidate.key)
        if first is None:
            return None
        name = model if first.reranker is None else f"{model} + {first.reranker}"
        confidence = load_confidences().get(name)
        if confidence is None:
            return None
        shown = hits[:FIRST_RESULTS] if hits[0].candidate.is_named else ()
        standings = (ranking.standing(hit.candidate.key) for hit in shown)
        alike = [standing for standing in standings if standing and standing.reranker == first.reranker]
        return confidence, first, max(alike, key=lambda standing: standing.probability, default=first)

    def _least(self, confidence: Confidence) -> float:
        return confidence.no_match_below if self._no_match_below is None else self._no_match_below
