"""The formulas of registry-search-design: Score Combination, Scoring in Lexical-Only Mode; and two other fusions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skillroute.core.ranking.rank_fusion import of_first, rrf
from skillroute.registry.search.model import (
    BEST_TOOL_SHARE,
    BOOST_SHARE,
    COVERAGE_SHARE,
    MAX_LEXICAL_BOOST,
    SERVER_COVERAGE_SHARE,
    EntityType,
)


@dataclass(frozen=True, slots=True)
class Score:
    """How a candidate was scored.

    Attributes
    ----------
    vector : float or None
        Cosine, -1..1; 0 for what has no vector yet, None without the embedding model.
    text_boost : float
        Summed over keywords and places.
    boost_contrib : float
        The boost's share of the relevance.
    unclamped : float
        What is sorted by: clamping makes ties of what differs (decision 23).
    vector_rank, keyword_rank : int or None
        Places in the two searches, from 1, when they are what is fused; None where a search did not rank it.
    reranker_logit : float or None
        What the reranker says, where it was asked.
    tool_contrib : float
        What a server's best tool adds to the relevance.
    """

    vector: float | None
    text_boost: float
    boost_contrib: float
    unclamped: float
    vector_rank: int | None = None
    keyword_rank: int | None = None
    reranker_logit: float | None = None
    tool_contrib: float = 0.0

    @property
    def normalized_vector(self) -> float | None:
        return None if self.vector is None else normalized(self.vector)

    @property
    def final(self) -> float:
        """The relevance, 0..1."""
        return min(1.0, max(0.0, self.unclamped))


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score. The path of a tool is its server's.

    `is_named`: the query contains the name; set only for those with a relevance of 1.
    """

    id: int
    type: EntityType
    path: str
    name: str
    score: Score
    is_named: bool = False


def normalized(cosine: float) -> float:
    """Map a cosine from -1..1 to 0..1."""
    return (cosine + 1.0) / 2.0


def boosted(cosine: float, boost: float) -> Score:
    """Score by similarity and keywords: ``(cosine + 1) / 2 + 0.1 * boost``."""
    share = boost * BOOST_SHARE
    return Score(cosine, boost, share, normalized(cosine) + share)


def covered(cosine: float, boost: float, coverage: float) -> Score:
    """Score by similarity and coverage: ``(cosine + 1) / 2 + 0.4 * coverage`` (docs/adr/0017)."""
    share = coverage * COVERAGE_SHARE
    return Score(cosine, boost, share, normalized(cosine) + share)


def covered_server(cosine: float, boost: float, coverage: float, best_tool: float | None) -> Score:
    """Score a server by similarity and coverage (docs/adr/0057).

    ``(cosine + 0.5 * max(0, best_tool - cosine) + 1) / 2 + 0.2 * coverage``, `best_tool` being the highest cosine of
    its tools; None where none of them is near.
    """
    share = coverage * SERVER_COVERAGE_SHARE
    lift = 0.0 if best_tool is None else max(0.0, best_tool - cosine) * BEST_TOOL_SHARE / 2.0
    return Score(cosine, boost, share, normalized(cosine) + lift + share, tool_contrib=lift)


def lexical(boost: float) -> Score:
    """Score by keywords alone: ``boost / 12.5``."""
    share = boost / MAX_LEXICAL_BOOST
    return Score(None, boost, share, share)


def by_ranks(cosine: float, boost: float, vector_rank: int | None, keyword_rank: int | None) -> Score:
    """Score by ``1 / (60 + rank)``, summed over the two searches and scaled so that first in both is 1."""
    fused = of_first(rrf(vector_rank, keyword_rank), 2)
    return Score(cosine, boost, boost * BOOST_SHARE, fused, vector_rank, keyword_rank)


def by_rank(candidates: Iterable[Scored]) -> list[Scored]:
    """Sort by relevance. The clamp makes ties: of those what the query names comes first, then by the score before it.

    Then by path; tools of one server by name.
    """

    def key(candidate: Scored) -> tuple[float, bool, float, str, str, int]:
        name = candidate.name if candidate.type == "tool" else ""
        return (
            -candidate.score.final,
            not candidate.is_named,
            -candidate.score.unclamped,
            candidate.path,
            name,
            candidate.id,
        )

    return sorted(candidates, key=key)
