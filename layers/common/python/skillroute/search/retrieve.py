"""Stages 1 and 2: skills and tools out of the index, ranked by meaning or by words (search-contract BR-002, BR-003).

Both rankings answer with scores in 0..1, sorted by score descending, then by id ascending (decision 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from skillroute.catalogue.names import possible_names
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.model import Collection, IndexFilter, IndexHit
from skillroute.core.embedding.model import Vector
from skillroute.search.confidence import Standing
from skillroute.search.explained import FusionExplanation, ToolExplanation
from skillroute.search.plan import CANDIDATE_POOL, passes
from skillroute.skills.model import SkillKey

# Below an exact name everything else stays, however well its words match (decision 11).
_BELOW_EXACT_NAMES = 0.99
_A_LITTLE = 1e-6


Keyed = TypeVar("Keyed", bound="Candidate | IndexHit")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record that matched: what it is sorted by, and its plain cosine similarity where there is one.

    `is_named` tells that the query contains its exact name; nothing ranks it lower than what is not named. `lift` is
    what its matched skill changed of the score.
    """

    key: str
    score: float
    similarity: float | None
    is_named: bool = False
    lift: float = 0.0


class Ranking(Protocol):
    """One way of finding and scoring.

    `best_tool_is_bare` tells, once skills were searched, that the best tool of all is in no skill that the caller sees:
    a search of the matched skills' tools alone would hide it.
    """

    best_tool_is_bare: bool

    def skills(self, where: IndexFilter, *, limit: int, threshold: float) -> list[Candidate]:
        """Return the best skills that pass the filter, `limit` at most."""
        ...

    def tools(self, *wheres: IndexFilter, limit: int, threshold: float) -> list[Candidate]:
        """Return the candidates of one search or of several side by side, each once, scored on one scale."""
        ...

    def standing(self, key: str) -> Standing | None:
        """Return what is known of a tool that was found beside all others; None where scores are no probabilities."""
        ...

    def explain(self, candidate: Candidate) -> ToolExplanation:
        """Return what the score of a tool that was found is made of, as far as the ranking alone knows."""
        ...

    def explain_curve(self) -> FusionExplanation | None:
        """Return what makes probabilities; None where there are none."""
        ...


def by_rank(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort by score descending, then by id ascending; ids that are numbers compare as numbers.

    Of equal scores the tool that the query names exactly comes first.
    """
    return sorted(candidates, key=lambda c: (-c.score, not c.is_named, int(c.key) if c.key.isdecimal() else 0, c.key))


def named_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort as `by_rank`; what the query names exactly gets more than all others have, so that it comes first.

    A word such as "search" names many tools: among themselves they keep their order.
    """
    listed = list(candidates)
    highest = max((candidate.score for candidate in listed if not candidate.is_named), default=0.0)

    def first(candidate: Candidate) -> Candidate:
        score = max(candidate.score, highest) + _A_LITTLE * candidate.score
        return replace(candidate, score=min(1.0, score))

    return by_rank(first(candidate) if candidate.is_named else candidate for candidate in listed)


def skills_of_tools(index: SearchedIndex, tools: Iterable[Candidate]) -> dict[str, Sequence[SkillKey]]:
    """Return the keys of the skills of tools, by the tools' keys; those deleted a moment ago are left out."""
    payloads = index.payloads(Collection.TOOLS, [tool.key for tool in tools])
    return {key: payload["skill_keys"] for key, payload in payloads.items()}


class SemanticRanking:
    """By cosine similarity to the query's vector, clamped to 0..1 (decision 2)."""

    best_tool_is_bare = False

    def __init__(self, index: SearchedIndex, vector: Vector) -> None:
        self._index = index
        self._vector = vector

    def skills(self, where: IndexFilter, *, limit: int, threshold: float) -> list[Candidate]:
        return self._search(Collection.SKILLS, where, limit, threshold)

    def tools(self, *wheres: IndexFilter, limit: int, threshold: float) -> list[Candidate]:
        pool = max(limit, CANDIDATE_POOL)
        found = [self._search(Collection.TOOLS, where, pool, threshold) for where in wheres]
        # A cosine is the same whatever was searched beside it.
        return found[0] if len(found) == 1 else by_rank(_each_once(found))

    def standing(self, key: str) -> Standing | None:
        return None

    def explain(self, candidate: Candidate) -> ToolExplanation:
        return ToolExplanation(cosine=candidate.similarity)

    def explain_curve(self) -> FusionExplanation | None:
        return None

    def _search(self, collection: Collection, where: IndexFilter, limit: int, threshold: float) -> list[Candidate]:
        hits = self._index.search(
            collection,
            self._vector,
            where=where,
            limit=limit,
            # A negative cosine is clamped to 0, so a threshold of 0 lets everything through.
            threshold=threshold if threshold > 0.0 else None,
        )
        scored = ((hit.key, min(1.0, max(0.0, hit.score))) for hit in hits)
        return by_rank(Candidate(key, score, score) for key, score in scored)


class LexicalRanking:
    """By BM25, as a share of the best score; a tool that is named exactly comes first (decision 11).

    Thresholds are cosine similarities and mean nothing here, so they are not applied.
    """

    best_tool_is_bare = False

    def __init__(self, index: SearchedIndex, query: str) -> None:
        self._index = index
        self._query = query
        self._names = possible_names(query)
        self._found: Sequence[IndexHit] = ()

    def skills(self, where: IndexFilter, *, limit: int, threshold: float) -> list[Candidate]:
        hits = self._index.search_text(Collection.SKILLS, self._query, where=where, limit=limit)
        return _with_exact(hits, self.skills_of_named_tools(where))[:limit]

    def tools(self, *wheres: IndexFilter, limit: int, threshold: float) -> list[Candidate]:
        pool = max(limit, CANDIDATE_POOL)
        found = [self._index.search_text(Collection.TOOLS, self._query, where=where, limit=pool) for where in wheres]
        # Scaled together: each search's own best would make scores of two searches strangers to each other.
        self._found = _each_once(found)
        return _with_exact(self._found, [key for where in wheres for key in self.named_tools(where)])

    def skills_of_named_tools(self, where: IndexFilter) -> list[str]:
        """Return the skills of the tools that the query names, as far as the caller sees them."""
        named = self.named_tools(IndexFilter({"org_id": where.any_of["org_id"]}))
        payloads = self._index.payloads(Collection.TOOLS, named).values()
        of_named = sorted({key for payload in payloads for key in payload["skill_keys"]})
        skills = self._index.payloads(Collection.SKILLS, of_named)
        return [key for key, skill in skills.items() if passes(where, skill)]

    def named_tools(self, where: IndexFilter) -> list[str]:
        """Return the tools whose exact name the query contains (decision 11)."""
        named = IndexFilter({**where.any_of, "name_key": self._names})
        return self._index.match(Collection.TOOLS, where=named, limit=CANDIDATE_POOL)

    def standing(self, key: str) -> Standing | None:
        return None

    def explain(self, candidate: Candidate) -> ToolExplanation:
        scores = {hit.key: hit.score for hit in self._found}
        ranked = sorted(scores.values(), reverse=True)
        own = scores.get(candidate.key, 0.0)
        return ToolExplanation(
            bm25=own,
            bm25_rank=1 + ranked.index(own) if own in ranked else None,
            bm25_best=ranked[0] if ranked else 0.0,
        )

    def explain_curve(self) -> FusionExplanation | None:
        return None


def _each_once(found: Iterable[Iterable[Keyed]]) -> list[Keyed]:
    return list({hit.key: hit for hits in found for hit in hits}.values())


def _with_exact(hits: Sequence[IndexHit], exact: Sequence[str]) -> list[Candidate]:
    best = max((hit.score for hit in hits), default=0.0)
    most = _BELOW_EXACT_NAMES if exact else 1.0
    # Divided first: the best itself is exactly 1.
    scores = {hit.key: hit.score / best * most for hit in hits if best > 0.0} | dict.fromkeys(exact, 1.0)
    named = set(exact)
    return by_rank(Candidate(key, min(1.0, score), None, key in named) for key, score in scores.items())
