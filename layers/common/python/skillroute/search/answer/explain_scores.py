"""Explaining an answer: what each score is made of, and the confidence in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from skillroute.catalogue.text import split_name
from skillroute.search.answer.explanation import (
    ConfidenceExplanation,
    SearchPart,
    ToolExplanation,
    parts,
)
from skillroute.search.candidates.candidate import Hit
from skillroute.search.candidates.retrieve import RankedTools
from skillroute.search.ranking.confidence import FEATURES, Confidence, Curve, Standing, features


def explain_tools(
    ranked: RankedTools, query: str, hits: Sequence[Hit], give_way: Callable[[], None] = lambda: None
) -> list[ToolExplanation]:
    """Return of each result what its score is made of, in order; `give_way` is called before each."""
    explained = []
    for hit in hits:
        give_way()
        explained.append(_explain(ranked, query, hit))
    return explained


def _explain(ranked: RankedTools, query: str, hit: Hit) -> ToolExplanation:
    candidate, found = hit.candidate, ranked.explain(hit.candidate)
    seen: dict[str, Any] = {
        "is_named": candidate.is_named,
        "rule": "named" if candidate.is_named else None,
        "skill_lift": candidate.lift,
        "score": candidate.score,
    }
    if found.bm25 is not None:
        seen["words_in"] = words_in(query, hit.payload)
    return found.model_copy(update=seen)


def words_in(query: str, payload: Mapping[str, Any]) -> dict[str, float]:
    """Return which share of a query's words each field of a tool has, by the weight of the words; 0..1."""
    from skillroute.core.documents.index.bm25 import Bm25Encoder  # noqa: PLC0415 - the index has loaded it

    encoder = Bm25Encoder()
    asked = encoder.query(query)
    weights = dict(zip(asked.indices, asked.values, strict=True)) if asked else {}
    name = payload["name"]
    texts = {"name": f"{name} {split_name(name)}", "description": payload["description"], "server": payload["server"]}
    shares = {}
    for field, text in texts.items():
        document = encoder.document(text or "")
        there = set(document.indices) if document else set()
        shares[field] = sum(weights[word] for word in there & weights.keys()) / (sum(weights.values()) or 1.0)
    return shares


def explain_confidence(
    confidence: Confidence, first: Standing, likeliest: Standing, no_match_below: float
) -> ConfidenceExplanation:
    """Return how the confidence in the first result, and in the likeliest of the first five, came about."""
    return ConfidenceExplanation(
        first=_parts_of(confidence.first, first),
        first_five=_parts_of(confidence.first_five, likeliest),
        no_match_below=no_match_below,
    )


def _parts_of(curve: Curve, standing: Standing) -> dict[str, SearchPart]:
    return parts(FEATURES, curve.weights, features(standing)) | {
        "intercept": SearchPart(value=1.0, weight=curve.intercept, contribution=curve.intercept)
    }
