"""Stages 1 and 2: skills and tools out of the index, ranked by meaning or by words (search-contract BR-002, BR-003).

Both rankings answer with scores in 0..1, sorted by score descending, then by id ascending (decision 3); but what the
query names stands before all else, whatever its score (decision 40, docs/adr/0063).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Protocol, TypeVar

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.mentions import Named, mentions
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.ahead import ByWords, Matching, Nearest, Question, ask_ahead
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.embedding.model import Vector
from skillroute.search.answer.explanation import FusionExplanation, ToolExplanation
from skillroute.search.plan import CANDIDATE_POOL, passes
from skillroute.search.ranking.confidence import Standing
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import SkillKey

CLAUSE_POOL = 30
"""How many candidates a clause brings by meaning, and by words: what it asks for is one tool."""

_MAX_PER_NAME = 1_000
"""How many tools of a name that a query has are looked at: a hundred servers have one called search."""

Keyed = TypeVar("Keyed", bound="Candidate | IndexHit")


class Candidate(NamedTuple):
    """A record that matched: what it is sorted by, and its plain cosine similarity where there is one.

    `is_named` tells that the query names it: it stands before all that is not named, and has no higher score for that.
    `lift` is what its matched skill changed of the score.
    """

    key: str
    score: float
    similarity: float | None
    is_named: bool = False
    lift: float = 0.0


@dataclass(frozen=True)
class RankedTools:
    """The tools that a search found, best first, and what is known of their scores; of cosines as they are."""

    candidates: Sequence[Candidate]

    def standing(self, key: str) -> Standing | None:
        """Return what is known of a tool that was found beside all others; None where scores are no probabilities."""
        return None

    def explain(self, candidate: Candidate) -> ToolExplanation:
        """Return what the score of a tool that was found is made of, as far as the ranking alone knows."""
        return ToolExplanation(cosine=candidate.similarity)

    def explain_curve(self) -> FusionExplanation | None:
        """Return what makes probabilities; None where there are none."""
        return None


class Ranking(Protocol):
    """One way of finding and scoring; calls do not depend on each other."""

    def skills(self, where: IndexFilter, *, limit: int, threshold: float, empty: bool = False) -> list[Candidate]:
        """Return the best skills that pass the filter, `limit` at most; with `empty` those without tools too."""
        ...

    def tools(self, *wheres: IndexFilter, limit: int, threshold: float) -> RankedTools:
        """Return the candidates of one search or of several side by side, each once, scored on one scale."""
        ...


def by_rank(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort what the query names before all else, then by score descending, then by id ascending.

    Ids that are numbers compare as numbers.
    """
    return sorted(candidates, key=lambda c: (not c.is_named, -c.score, int(c.key) if c.key.isdecimal() else 0, c.key))


def skills_of_tools(index: SearchedIndex, tools: Iterable[Candidate]) -> dict[str, Sequence[SkillKey]]:
    """Return the keys of the skills of tools, by the tools' keys; those deleted a moment ago are left out."""
    payloads = index.payloads(TOOL_DOCUMENTS, [tool.key for tool in tools])
    return {key: payload["skill_keys"] for key, payload in payloads.items()}


@dataclass(frozen=True, slots=True)
class SemanticRanking:
    """By cosine similarity to the query's vector, clamped to 0..1 (decision 2)."""

    index: SearchedIndex
    vector: Vector

    def skills(self, where: IndexFilter, *, limit: int, threshold: float, empty: bool = False) -> list[Candidate]:
        return self._search(SKILL_DOCUMENTS, where, limit, threshold)

    def tools(self, *wheres: IndexFilter, limit: int, threshold: float) -> RankedTools:
        pool = max(limit, CANDIDATE_POOL)
        found = [self._search(TOOL_DOCUMENTS, where, pool, threshold) for where in wheres]
        # A cosine is the same whatever was searched beside it.
        return RankedTools(found[0] if len(found) == 1 else by_rank(_each_once(found)))

    def _search(self, collection: Collection, where: IndexFilter, limit: int, threshold: float) -> list[Candidate]:
        hits = self.index.search(
            collection,
            self.vector,
            where=where,
            limit=limit,
            # A negative cosine is clamped to 0, so a threshold of 0 lets everything through.
            threshold=threshold if threshold > 0.0 else None,
        )
        scored = ((hit.key, min(1.0, max(0.0, hit.score))) for hit in hits)
        return by_rank(Candidate(key, score, score) for key, score in scored)


@dataclass(frozen=True)
class _SharingWords(RankedTools):
    """Tools that share a word with the query or that it names; `found` has their scores."""

    found: Sequence[IndexHit]

    def explain(self, candidate: Candidate) -> ToolExplanation:
        scores = {hit.key: hit.score for hit in self.found}
        ranked = sorted(scores.values(), reverse=True)
        own = scores.get(candidate.key, 0.0)
        return ToolExplanation(
            bm25=own,
            bm25_rank=1 + ranked.index(own) if own in ranked else None,
            bm25_best=ranked[0] if ranked else 0.0,
        )


@dataclass(frozen=True)  # without slots: what is named is cached
class LexicalRanking:
    """By BM25, as a share of the best score; what the query names comes first (decision 40).

    Thresholds are cosine similarities and mean nothing here, so they are not applied. `everything` is all that the
    search may return, of any skill and of none: what is named is found whatever its skills.
    """

    index: SearchedIndex
    query: str
    everything: IndexFilter

    def skills(self, where: IndexFilter, *, limit: int, threshold: float, empty: bool = False) -> list[Candidate]:
        hits = self.index.search_text(SKILL_DOCUMENTS, self.query, where=where, limit=limit)
        return _shares(hits, self._skills_of_named(where))[:limit]

    def tools(self, *wheres: IndexFilter, limit: int, threshold: float) -> RankedTools:
        pool = max(limit, CANDIDATE_POOL)
        ask_ahead(self.index, [*(ByWords(TOOL_DOCUMENTS, self.query, where, pool) for where in wheres), self.called])
        found = [self.index.search_text(TOOL_DOCUMENTS, self.query, where=where, limit=pool) for where in wheres]
        # Scaled together: each search's own best would make scores of two searches strangers to each other.
        hits = _each_once(found)
        hits += self.scored(self.named - {hit.key for hit in hits})
        return _SharingWords(_shares(hits, self.named), hits)

    def scored(self, keys: Iterable[str]) -> list[IndexHit]:
        """Return those of some tools that share a word with the query, with their scores."""
        listed = sorted(keys)
        if not listed:
            return []
        asked = self.scores_of(listed)
        return self.index.search_text(TOOL_DOCUMENTS, self.query, where=asked.where, limit=asked.limit)

    def scores_of(self, keys: Sequence[str]) -> ByWords:
        """Return what `scored` asks of some tools in the order of their keys."""
        return ByWords(TOOL_DOCUMENTS, self.query, IndexFilter(keys=keys), len(keys))

    @property
    def called(self) -> Matching:
        """The question for tools that may be named: those that are called as the query says."""
        names = {**self.everything.any_of, "name_key": mentions(self.query).keys}
        return Matching(TOOL_DOCUMENTS, replace(self.everything, any_of=names), _MAX_PER_NAME)

    @cached_property
    def named(self) -> AbstractSet[str]:
        """The tools that the query names (decision 40), of all that the search may return."""
        asked = mentions(self.query)
        found = self.index.match(TOOL_DOCUMENTS, where=self.called.where, limit=_MAX_PER_NAME)
        if not found or asked.by_key_alone:
            return frozenset(found)
        # Which server a tool is of, or how its name is written, decides where the request says it, and only there.
        payloads = self.index.payloads(TOOL_DOCUMENTS, found)
        return asked.named(Named(key, tool["name"], tool["server"]) for key, tool in payloads.items())

    def _skills_of_named(self, where: IndexFilter) -> list[str]:
        payloads = self.index.payloads(TOOL_DOCUMENTS, sorted(self.named)).values()
        of_named = sorted({key for payload in payloads for key in payload["skill_keys"]})
        skills = self.index.payloads(SKILL_DOCUMENTS, of_named)
        return [key for key, skill in skills.items() if passes(where, skill)]


def first_questions(
    by_words: LexicalRanking, vector: Vector, clauses: Mapping[str, Vector], wheres: Iterable[IndexFilter]
) -> Iterator[Question]:
    """Give what a search by meaning and by words asks before anything is known."""
    of_clauses = list(clauses.values())
    for where in wheres:
        yield Nearest(TOOL_DOCUMENTS, [vector], where, CANDIDATE_POOL)
        yield ByWords(TOOL_DOCUMENTS, by_words.query, where, CANDIDATE_POOL)
        if of_clauses:
            yield Nearest(TOOL_DOCUMENTS, of_clauses, where, CLAUSE_POOL)
            yield from (ByWords(TOOL_DOCUMENTS, clause, where, CLAUSE_POOL) for clause in clauses)
    if "named" not in by_words.__dict__:
        yield by_words.called


def _each_once(found: Iterable[Iterable[Keyed]]) -> list[Keyed]:
    return list({hit.key: hit for hits in found for hit in hits}.values())


def _shares(hits: Sequence[IndexHit], named: Iterable[str]) -> list[Candidate]:
    """Return hits with their shares of the best score, and what is named; that has 0 where it shares no word."""
    best = max((hit.score for hit in hits), default=0.0)
    of_query = frozenset(named)
    # Divided first: the best itself is exactly 1.
    scores = dict.fromkeys(of_query, 0.0) | {hit.key: hit.score / best for hit in hits if best > 0.0}
    return by_rank(Candidate(key, min(1.0, score), None, key in of_query) for key, score in scores.items())
