"""Whether what was found serves the request at all (docs/adr/0041)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skillroute.search.answer.explain_scores import explain_confidence
from skillroute.search.answer.explanation import ConfidenceExplanation
from skillroute.search.candidates.candidate import Hit
from skillroute.search.candidates.retrieve import RankedTools
from skillroute.search.model import Fit
from skillroute.search.ranking.actions import does_something_else
from skillroute.search.ranking.confidence import FIRST_RESULTS, Confidence, Standing, load_confidences
from skillroute.search.run import ToolSearchRun

LIKELY_FROM, UNLIKELY_BELOW = 0.7, 1 / 3
"""Of the confidence in the first five, between which nobody can tell."""


class Judge:
    """Notes how likely the first result serves the request, and whether nothing that was found does.

    Parameters
    ----------
    no_match_below : float, optional
        The confidence in the first five below which nothing is taken to fit; without it that of the embedding model.
    """

    def __init__(self, no_match_below: float | None) -> None:
        self._no_match_below = no_match_below

    def __call__(
        self,
        run: ToolSearchRun,
        ranked: RankedTools,
        model: str,
        hits: Sequence[Hit],
        query: str,
        no_match_below: float | None = None,
    ) -> None:
        """Judge the results of a search for `query`, by a bound of its own or ours; the index has vectors of `model`.

        Scores of other modes than hybrid are no probabilities, and those of an embedding model without weights of its
        own are not calibrated: there is no confidence then, and no match is missing but where nothing was found.
        """
        if not hits:
            # What failed might have found something; a reranker finds nothing.
            run.no_match = not set(run.degraded) - {"reranker_unavailable"}
            run.fit = "unlikely" if run.no_match else None
            return
        found = self._known(ranked, model, hits, query)
        if found is None:
            return
        if run.language is not None:
            # The curves were fitted to English, and what a model cannot read is near to something all the same.
            run.no_match = not any(hit.candidate.is_named or ranked.explain(hit.candidate).bm25 for hit in hits)
            run.fit = "unlikely" if run.no_match else None
            return
        confidence, first, likeliest = found
        run.confidence_first_five = confidence.first_five(likeliest)
        # Never more: the first is one of them. The two curves were fitted apart.
        run.confidence = min(run.confidence_first_five, confidence.first(first))
        # A tool that the request names is there, however unlikely its words make it.
        is_named = hits[0].candidate.is_named
        run.no_match = not is_named and run.confidence_first_five < self._least(confidence, no_match_below)
        run.fit = "likely" if is_named else "unlikely" if run.no_match else _fit(run.confidence_first_five)

    def explain(
        self,
        ranked: RankedTools,
        model: str,
        hits: Sequence[Hit],
        query: str,
        no_match_below: float | None = None,
    ) -> ConfidenceExplanation | None:
        """Return how the confidence came about; None where there is none."""
        found = self._known(ranked, model, hits, query) if hits else None
        return None if found is None else explain_confidence(*found, self._least(found[0], no_match_below))

    def _known(
        self, ranked: RankedTools, model: str, hits: Sequence[Hit], query: str
    ) -> tuple[Confidence, Standing, Standing] | None:
        """Return the curves, and what is known of the first result and of the likeliest among the first five.

        They are one but where the first is first because it is named.
        """
        first = _standing(ranked, hits[0], query)
        if first is None:
            return None
        name = model if first.reranker is None else f"{model} + {first.reranker}"
        confidence = load_confidences().get(name)
        if confidence is None:
            return None
        shown = hits[:FIRST_RESULTS] if hits[0].candidate.is_named else ()
        standings = (_standing(ranked, hit, query) for hit in shown)
        alike = [standing for standing in standings if standing and standing.reranker == first.reranker]
        return confidence, first, max(alike, key=lambda standing: standing.probability, default=first)

    def _least(self, confidence: Confidence, asked: float | None) -> float:
        return next(bound for bound in (asked, self._no_match_below, confidence.no_match_below) if bound is not None)


def _standing(ranked: RankedTools, hit: Hit, query: str) -> Standing | None:
    standing = ranked.standing(hit.candidate.key)
    if standing is None:
        return None
    other = does_something_else(query, hit.payload["name"], hit.payload.get("description") or "")
    return replace(standing, other_action=other)


def _fit(confidence_first_five: float) -> Fit:
    """Return a confidence in a word.

    Of 376 requests for the two catalogues that were answered among the first five, 3 in a hundred are below a third,
    and 36 in a hundred of 140 that nothing serves; from 0.7 on are 75 and 16 (docs/adr/0041).
    """
    if confidence_first_five >= LIKELY_FROM:
        return "likely"
    return "unlikely" if confidence_first_five < UNLIKELY_BELOW else "unsure"
