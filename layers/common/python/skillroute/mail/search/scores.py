"""Turn engines' raw scores into scores in 0..1: min-max, reciprocal ranks, and the reranker's head (message-search, 3).

Scores are rounded to nine decimals as soon as they are made, so that what is shown is what orders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from skillroute.core.ranking.logistic import logistic
from skillroute.core.ranking.rank_fusion import of_first, rrf
from skillroute.core.reranking.blend import ALONE, Blend
from skillroute.mail.search.cursor import Cursor

RawScores = Sequence[tuple[int, float]]
"""Ids with an engine's own scores, the best first, ties by id."""

_DECIMALS = 9
_COVERAGE_SHARE = 0.4
"""Of the words beside the cosine; from 0.3 to 0.6 it is about the same."""

_TAIL = 2.0
"""Subtracted from the fused score for a cursor in a reranked ranking's tail: below 0, as no score is."""


class Match(NamedTuple):
    """A document that was found. Sorted as it is: tuples of a thousand sort in a tenth of the time of objects.

    Attributes
    ----------
    order : float
        Minus its score, which is 0 to 1 and rounded.
    raw : float
        The engine's own score.
    lexical_rank, semantic_rank : int or None
        Its places in the engines' own lists, from 1.
    fused : float or None
        Its score before the reranker looked at the head.
    """

    order: float
    id: int
    raw: float
    lexical_rank: int | None = None
    semantic_rank: int | None = None
    fused: float | None = None
    is_reranked: bool = False

    @property
    def score(self) -> float:
        return -self.order

    @property
    def factors(self) -> dict[str, float]:
        """The parts of its score."""
        parts = {
            "score": self.score,
            "raw_score": self.raw,
            "lexical_rank": self.lexical_rank,
            "semantic_rank": self.semantic_rank,
            "fused_score": self.fused,
        }
        return {name: float(value) for name, value in parts.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Scale:
    """Min-max over the raw scores of a pool.

    Examples
    --------
    >>> scale = Scale.over([1.0, 2.0, 5.0])
    >>> scale(1.0), scale(2.0), scale(5.0), scale(9.0)
    (0.0, 0.25, 1.0, 1.0)
    >>> Scale.over([3.0])(3.0)
    1.0
    """

    least: float
    most: float

    @classmethod
    def over(cls, raw_scores: Sequence[float]) -> Scale:
        return cls(min(raw_scores, default=0.0), max(raw_scores, default=0.0))

    @property
    def is_flat(self) -> bool:
        """Whether all raw scores are alike."""
        return self.most <= self.least

    def __call__(self, raw: float) -> float:
        if self.is_flat:
            return 1.0 if raw >= self.least else 0.0
        return rounded(min(max((raw - self.least) / (self.most - self.least), 0.0), 1.0))


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranking that is known to its end.

    Attributes
    ----------
    matches : list of Match
        In order.
    by_place : bool
        A cursor whose document is still in the ranking stands where that is now: ranks move with what comes and goes.
        Else the raw score counts.
    moves : bool
        So do fused scores. Where they do not, score and id say what comes after a document that has gone.
    """

    matches: list[Match]
    by_place: bool
    moves: bool = True

    def all(self) -> list[Match]:
        return self.matches

    def after(self, cursor: Cursor | None, _need: int) -> list[Match]:
        """Return what comes after a cursor."""
        if cursor is None:
            return self.matches
        if self.by_place:
            at = next((at for at, match in enumerate(self.matches) if match.id == cursor.id), None)
            return self._behind_one_gone(cursor) if at is None else self.matches[at + 1 :]
        place = (-rounded(min(max(cursor.score, 0.0), 1.0)), cursor.id)
        return [match for match in self.matches if match[:2] > place]

    def raw_score(self, match: Match) -> float:
        """Return what a cursor says of a match."""
        if not self.by_place:
            return match.raw
        return match.score if match.fused is None or match.is_reranked else match.fused - _TAIL

    def _behind_one_gone(self, cursor: Cursor) -> list[Match]:
        """Return what comes after a document that has gone, by its raw score.

        The document that moved up into its rank has its fused score now, so one of equal score comes whatever its id.
        The reranker's score of one depends on no other: among the reranked the id counts.
        """
        head = [match for match in self.matches if match.is_reranked]
        tail = self.matches[len(head) :]
        in_tail = cursor.score < 0.0
        raw_score = rounded(min(max(cursor.score + _TAIL if in_tail else cursor.score, 0.0), 1.0))
        if head and not in_tail:
            return [match for match in head if match[:2] > (-raw_score, cursor.id)] + tail
        fused = [(match, match.score if match.fused is None else match.fused) for match in tail]
        if self.moves:
            return [match for match, score in fused if score <= raw_score]
        return [match for match, score in fused if (-score, match.id) > (-raw_score, cursor.id)]


def semantic(nearest: RawScores) -> Ranked:
    """Return the ranking by cosine, negatives clamped to 0."""
    matches = [
        Match(-rounded(min(max(cosine, 0.0), 1.0)), id_, cosine, None, rank)
        for rank, (id_, cosine) in enumerate(nearest, 1)
    ]
    return Ranked(sorted(matches), by_place=False)


def by_coverage(lexical: RawScores, nearest: RawScores, most: float, *, pool: int) -> Ranked:
    """Fuse two rankings: the cosine, and 0.4 of how much of the query's words a document has (docs/adr/0040).

    Parameters
    ----------
    most : float
        What BM25 could give a document for this query.
    pool : int
        How many nearest were asked for. What is not among so many counts as the last of them does; what is not among
        fewer has no vector, and its words count alone.
    """
    words, cosines = dict(lexical), dict(nearest)
    lexical_ranks, semantic_ranks = _ranks(lexical), _ranks(nearest)
    beyond = nearest[-1][1] if len(nearest) >= pool else None
    matches = []
    for id_ in words.keys() | cosines.keys():
        coverage = min(words.get(id_, 0.0) / most, 1.0) if most else 0.0
        near = cosines.get(id_, beyond)
        cosine = coverage if near is None else min(max(near, 0.0), 1.0)
        raw = (cosine + _COVERAGE_SHARE * coverage) / (1.0 + _COVERAGE_SHARE)
        matches.append(Match(-rounded(raw), id_, raw, lexical_ranks.get(id_), semantic_ranks.get(id_)))
    return Ranked(sorted(matches), by_place=True, moves=False)


def by_ranks(lexical: RawScores, nearest: RawScores, rrf_k: int) -> Ranked:
    """Fuse two rankings: the sum of 1/(k + rank), times (k + 1)/2, so that first in both is 1.0."""
    lexical_ranks, semantic_ranks = _ranks(lexical), _ranks(nearest)
    matches = []
    for id_ in lexical_ranks.keys() | semantic_ranks.keys():
        one, two = lexical_ranks.get(id_), semantic_ranks.get(id_)
        raw = rrf(one, two, k=rrf_k)
        matches.append(Match(-rounded(of_first(raw, 2, rrf_k)), id_, raw, one, two))
    return Ranked(sorted(matches), by_place=True)


def reranked(fused: Ranked, logits: Sequence[float], blend: Blend = ALONE) -> Ranked:
    """Order the head by the reranker, one logit for each of the first; the rest keep their order below it.

    A blend makes one logit of the reranker's and of the fused score's.

    A score of the tail is its fused score on the scale that the head leaves below itself, so that scores fall all the
    way down.
    """
    first = fused.matches[: len(logits)]
    blended = blend.logits(blend.sums([match.score for match in first], logits))
    head = sorted(
        match._replace(order=-rounded(logistic(logit)), raw=logit, fused=match.score, is_reranked=True)
        for match, logit in zip(first, blended, strict=True)
    )
    floor = head[-1].score if head else 1.0
    tail = [
        match._replace(order=-rounded(match.score * floor), fused=match.score) for match in fused.matches[len(head) :]
    ]
    # The tail is not sorted again: where the head's last is next to nothing, rounding would undo its order.
    return Ranked([*head, *tail], by_place=True, moves=fused.moves)


def _ranks(found: RawScores) -> dict[int, int]:
    return {id_: rank for rank, (id_, _) in enumerate(found, 1)}


def rounded(score: float) -> float:
    """Return a score as it orders."""
    return round(score, _DECIMALS)
