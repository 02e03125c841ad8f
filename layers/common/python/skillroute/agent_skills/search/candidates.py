"""Skills by their pieces: both engines asked, and the best piece of each skill counted.

A skill's cosine is that of its nearest piece, and its words are those of the piece that has most of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from skillroute.agent_skills.collection import AGENT_SKILL_DOCUMENTS
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.embedding.model import Vector

POOL = 200
"""Pieces that an engine is asked for at first."""

MAX_POOL = 3200
"""The most that it is asked for: 50 skills of as many pieces as a skill may have."""

WORDS_SHARE = 0.4
"""How much the words add to the cosine, as in the search for mail (docs/adr/0040).

From 0.2 to 1 as much is found (docs/benchmarks.md, *Agent Skills*).
"""

Ask = Callable[[int], list[IndexHit]]
"""Asks an engine for so many pieces."""


@dataclass(slots=True)
class Candidate:
    """A skill that was found, with the scores of its pieces.

    Attributes
    ----------
    cosines, words : dict of str to float
        By the keys of pieces; words as a share of what the best piece of the search has.
    """

    id: int
    cosines: dict[str, float] = field(default_factory=dict)
    words: dict[str, float] = field(default_factory=dict)

    @property
    def similarity(self) -> float | None:
        """The cosine of its nearest piece; None where no piece has a vector."""
        return max(self.cosines.values(), default=None)

    @property
    def score(self) -> float:
        """The score, 0 to 1: what has no vector yet counts by its words alone."""
        return _fused(self.similarity, max(self.words.values(), default=0.0))

    @property
    def best_piece(self) -> str:
        """The key of the piece that fits best."""
        keys = self.cosines.keys() | self.words.keys()
        return min(keys, key=lambda key: (-_fused(self.cosines.get(key), self.words.get(key, 0.0)), int(key)))


class PieceSearch:
    """Finds skills in one index.

    Every method raises `IndexUnavailable` when the index fails.
    """

    def __init__(self, index: SearchedIndex, where: IndexFilter, limit: int) -> None:
        self._index = index
        self._where = where
        self._limit = limit
        self._skill_of: dict[str, int] = {}
        self._most_words = 1.0

    def by_words(self, query: str) -> list[Candidate]:
        """Return the skills that share a word with a query, the best first."""
        hits = self._pool(
            lambda limit: self._index.search_text(AGENT_SKILL_DOCUMENTS, query, where=self._where, limit=limit)
        )
        self._most_words = max((hit.score for hit in hits), default=0.0) or 1.0
        found: dict[int, Candidate] = {}
        self._add_words(hits, found)
        return ranked(found)

    def by_meaning(self, query: str, vector: Vector, by_words: Sequence[Candidate]) -> list[Candidate]:
        """Return the skills nearest to a query's vector and those that were found by its words, the best first.

        Each engine is asked for the pieces that only the other one has found: a piece that lacks one of its scores, as
        it was not among the first of an engine, would not be comparable (docs/benchmarks.md has what that cost).
        """
        hits = self._pool(
            lambda limit: self._index.search(AGENT_SKILL_DOCUMENTS, vector, where=self._where, limit=limit)
        )
        found = {candidate.id: candidate for candidate in by_words}
        near = {hit.key for hit in hits}
        far = [key for candidate in by_words for key in candidate.words if key not in near]
        if far:
            where = IndexFilter(keys=far)
            hits = [*hits, *self._index.search(AGENT_SKILL_DOCUMENTS, vector, where=where, limit=len(far))]
        worded = {key for candidate in by_words for key in candidate.words}
        if unworded := sorted(near - worded):
            where = IndexFilter(keys=unworded)
            more = self._index.search_text(AGENT_SKILL_DOCUMENTS, query, where=where, limit=len(unworded))
            self._add_words(more, found)
        for key, cosine in hits:
            if skill := self._skill_of.get(key):
                found.setdefault(skill, Candidate(skill)).cosines[key] = cosine
        return ranked(found)

    def _add_words(self, hits: Iterable[IndexHit], found: dict[int, Candidate]) -> None:
        for key, score in hits:
            if skill := self._skill_of.get(key):
                found.setdefault(skill, Candidate(skill)).words[key] = min(1.0, score / self._most_words)

    def _pool(self, ask: Ask) -> list[IndexHit]:
        """Return pieces of as many skills as are wanted, where there are so many."""
        pool = POOL
        while True:
            hits = ask(pool)
            unknown = [hit.key for hit in hits if hit.key not in self._skill_of]
            payloads = self._index.payloads(AGENT_SKILL_DOCUMENTS, unknown) if unknown else {}
            self._skill_of |= {key: int(payload["agent_skill_id"]) for key, payload in payloads.items()}
            skills = {self._skill_of.get(hit.key) for hit in hits}
            if len(hits) < pool or len(skills) >= 2 * self._limit or pool >= MAX_POOL:
                return hits
            pool *= 4


def ranked(found: Mapping[int, Candidate]) -> list[Candidate]:
    """Return skills by score, those that are the same in it by id."""
    return sorted(found.values(), key=lambda candidate: (-candidate.score, candidate.id))


def _fused(cosine: float | None, words: float) -> float:
    """Return the score of a cosine and of words: the weighted mean, or the words alone where there is no vector."""
    if cosine is None:
        return words
    return (min(max(cosine, 0.0), 1.0) + WORDS_SHARE * words) / (1.0 + WORDS_SHARE)
