"""Modes `hybrid`, `hybrid_rerank`: candidates by meaning and by words, ranked by how likely they are right (ADR 38)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.ahead import AnswersAhead, Counted, Nearest, ask_ahead
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.embedding.model import Vector
from skillroute.core.ranking.learned_fusion import ClauseEvidence, Evidence, FusedRequest, fusion_for
from skillroute.search.candidates.retrieve import (
    CLAUSE_POOL,
    Candidate,
    LexicalRanking,
    SemanticRanking,
    by_rank,
    first_questions,
    skills_of_tools,
)
from skillroute.search.candidates.skill_choice import among_others, one_a_tool
from skillroute.search.learned import MAX_ADDED, LearnedRequests, Nearness, lifted
from skillroute.search.plan import CANDIDATE_POOL, passes
from skillroute.search.ranking.fusion import Fused, FusedTools
from skillroute.search.ranking.rerank import RerankStage
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import SkillKey

_AT_ONCE = 32
"""Of how many tools the skills are looked up together, best first: those of the first few are enough nearly always."""


@dataclass(frozen=True)  # without slots: the best of all tools is cached
class HybridRanking:
    """By the probability that learned fusion gives; what the query names comes first (decision 40).

    A skill matches by the best of its tools, or by its own vector (decision 34); its score is that of its best tool.

    Attributes
    ----------
    index : LentIndex
    query : str
    vector : Vector
        Of the query.
    clauses : mapping of str to Vector
        The query's clauses and their vectors, for one that may have several needs.
    everything : IndexFilter
        All tools that the search may return, of any skill and of none.
    seen : IndexFilter
        All skills that the caller sees.
    rerank : RerankStage, optional
        Looks at the best of them once more.
    learned : LearnedRequests, optional
        Raises the cosines of tools that served requests like this one.
    """

    index: LentIndex
    query: str
    vector: Vector
    clauses: Mapping[str, Vector]
    everything: IndexFilter
    seen: IndexFilter
    rerank: RerankStage | None = None
    learned: LearnedRequests | None = None

    @cached_property
    def _near(self) -> Mapping[str, Nearness]:
        return {} if self.learned is None else self.learned.near(self.vector)

    @cached_property
    def _by_words(self) -> LexicalRanking:
        return LexicalRanking(self.index, self.query, self.everything)

    @cached_property
    def _best(self) -> FusedTools:
        """The best of all tools: what skills match by, and what tools come from first."""
        fused, scored = self._scored([self.everything])
        reranked, blended = None, {}
        if self.rerank is not None:
            scored, reranked = self.rerank(scored)
            blended = {tool.key: tool.score for tool in scored} if reranked else {}
        return FusedTools(by_rank(scored), self.index.model.name, list(self.clauses), [fused], reranked, blended)

    def skills(self, where: IndexFilter, *, limit: int, threshold: float, empty: bool = False) -> list[Candidate]:
        """Return the skills of the best tools, then the nearest that have any; `threshold` is the least cosine.

        With `empty` also the nearest that have none (decision 43).
        """
        tools = self._best.candidates
        best, skills_of = self._best_of_skills(tools, where, limit if threshold <= 0.0 else len(tools))
        cosines = self._cosines(SKILL_DOCUMENTS, list(best)) if threshold > 0.0 else {}
        matched = [
            Candidate(key, tool.score, cosines.get(key), tool.is_named)
            for key, tool in best.items()
            if cosines.get(key, 0.0) >= threshold
        ]
        by_meaning = SemanticRanking(self.index, self.vector)
        if tools and len(matched) < limit:
            near = by_meaning.skills(where, limit=limit, threshold=threshold)
            ask_ahead(self.index, (self._having(skill.key) for skill in near if skill.key not in best))
            # None of their tools is a candidate: none would score higher than the last that is.
            last = min(tool.score for tool in tools)
            matched += [
                Candidate(skill.key, last * skill.score, skill.similarity)
                for skill in near
                if skill.key not in best and self._has_tools(skill.key)
            ]
        if empty:
            near = by_meaning.skills(where, limit=limit, threshold=threshold)
            ask_ahead(self.index, (self._having(skill.key) for skill in near))
            without_tools = [skill for skill in near if not self._has_tools(skill.key)]
            cosines = self._cosines(SKILL_DOCUMENTS, [skill.key for skill in matched]) if without_tools else {}
            matched += among_others(without_tools, matched, cosines)
        # Tools of many skills may be named: they leave the best of the others its place.
        others = by_rank(skill for skill in matched if not skill.is_named)
        named = by_rank(skill for skill in matched if skill.is_named)[: max(1, limit - 1) if others else limit]
        room = limit - len(named)
        return [*named, *(others[:room] if empty else one_a_tool(others, tools, skills_of, room))]

    def _best_of_skills(
        self, tools: Sequence[Candidate], where: IndexFilter, enough: int
    ) -> tuple[dict[str, Candidate], dict[str, Sequence[SkillKey]]]:
        """Return the skills of tools that pass a filter, each with the first of its tools, in that order.

        All of them, or at least the best `enough` that are not named, which come behind those that are; and the skills
        of the tools that were looked at for it.
        """
        best: dict[str, Candidate] = {}
        looked_up: dict[str, Sequence[SkillKey]] = {}
        known: set[str] = set()
        # All at once where each question is a round trip, which takes longer: they are looked up later at any rate.
        at_once = max(1, len(tools)) if isinstance(self.index, AnswersAhead) else _AT_ONCE
        for start in range(0, len(tools), at_once):
            some = tools[start : start + at_once]
            skills_of = skills_of_tools(self.index, some)
            looked_up |= skills_of
            first: dict[str, Candidate] = {}
            for tool in some:
                for key in skills_of.get(tool.key, ()):
                    if key not in known:
                        first.setdefault(key, tool)
            known |= first.keys()
            skills = self.index.payloads(SKILL_DOCUMENTS, list(first))
            best |= {key: tool for key, tool in first.items() if key in skills and passes(where, skills[key])}
            # What comes later scores no more than the last of these.
            if sum(not tool.is_named and tool.score > some[-1].score for tool in best.values()) >= enough:
                break
        return best, looked_up

    def _has_tools(self, skill: str) -> bool:
        return self.index.count(TOOL_DOCUMENTS, where=self._having(skill).where) > 0

    def _having(self, skill: str) -> Counted:
        of_skill = replace(self.everything, any_of={**self.everything.any_of, "skill_keys": [skill]})
        return Counted(TOOL_DOCUMENTS, of_skill)

    def tools(self, *wheres: IndexFilter, limit: int, threshold: float) -> FusedTools:
        """Return what is near or shares a word; `threshold` is the least cosine of what the query does not name.

        Tools without a skill are searched with those of the matched skills (decision 39): none is hidden because a
        classifier was cautious.

        The threshold cuts and changes no score: all candidates are scored side by side before it. What the query names
        is returned whatever its skills (decision 40).
        """
        best = self._best
        if self.everything in wheres:
            return replace(best, candidates=_above(threshold, best.candidates))
        wanted = {key for where in wheres for key in where.any_of["skill_keys"]}
        offered = self._offered(best.candidates, wanted)
        known = [tool for tool in best.candidates if tool.key in offered or tool.is_named]
        if len(_above(threshold, known)) < limit:
            fused, more = self._more(wheres, wanted, known)
            best, known = replace(best, fused=[*best.fused, fused]), by_rank([*known, *more])
        return replace(best, candidates=_above(threshold, known))

    def _offered(self, tools: Sequence[Candidate], wanted: AbstractSet[str]) -> set[str]:
        """Return the keys of tools that have one of the wanted skills, or none that the caller sees."""
        found = skills_of_tools(self.index, tools)
        skills_of = {tool.key: found.get(tool.key, ()) for tool in tools}
        others = {key for keys in skills_of.values() for key in keys} - wanted
        payloads = self.index.payloads(SKILL_DOCUMENTS, sorted(others))
        seen = {key for key, skill in payloads.items() if passes(self.seen, skill)}
        return {key for key, keys in skills_of.items() if not wanted.isdisjoint(keys) or seen.isdisjoint(keys)}

    def _more(
        self, wheres: Sequence[IndexFilter], wanted: AbstractSet[str], known: Sequence[Candidate]
    ) -> tuple[Fused, list[Candidate]]:
        """Return what else the matched skills have, scored beside all other tools, and no higher than what is known."""
        have = {tool.key for tool in known}
        fused, scored = self._scored([*wheres, self.everything])
        found = [tool for tool in by_rank(scored) if tool.key not in have]
        skills_of = skills_of_tools(self.index, found)
        most = min((tool.score for tool in known if not tool.is_named), default=1.0)
        return fused, [
            tool._replace(score=min(tool.score, most))
            for tool in found
            if not wanted.isdisjoint(skills_of.get(tool.key, ()))
        ]

    def _scored(self, wheres: Sequence[IndexFilter]) -> tuple[Fused, list[Candidate]]:
        """Return the candidates that pass any of the filters by their probabilities, in no order."""
        ask_ahead(self.index, first_questions(self._by_words, self.vector, self.clauses, wheres))
        cosines = self._nearest(wheres)
        cosines |= self._taught(wheres, cosines)
        words = self._sharing_a_word(self.query, wheres, CANDIDATE_POOL)
        named = self._by_words.named
        clauses = self._of_clauses(wheres)
        keys = sorted({*cosines, *words, *named, *(key for clause in clauses for key in clause.candidates)})
        # What only one of them found is scored by the others as well: a guess in its place would be part of the rank.
        unseen, unworded = ([key for key in keys if key not in known] for known in (cosines, words))
        if unseen and unworded:
            near = Nearest(TOOL_DOCUMENTS, [self.vector], IndexFilter(keys=unseen), len(unseen))
            ask_ahead(self.index, [near, self._by_words.scores_of(unworded)])
        cosines |= self._cosines(TOOL_DOCUMENTS, unseen)
        words.update(self._by_words.scored(unworded))
        margins = {key: max(clause.margin(key) for clause in clauses) for key in keys} if clauses else {}
        leading = {key for clause in clauses for key in clause.first_by_words}
        taught = self._near
        with_learned = {key: lifted(cosines.get(key, 0.0), taught.get(key)) for key in keys} if taught else cosines
        evidence = [
            Evidence(with_learned.get(key, 0.0), words.get(key, 0.0), margins.get(key, 0.0), key in leading)
            for key in keys
        ]
        request = self._request()
        fusion = fusion_for(__package__, self.index.model.name)
        fused = Fused(fusion, request, keys, evidence, fusion.probabilities(request, evidence), cosines, taught)
        return fused, [
            Candidate(key, probability, cosines.get(key), key in named)
            for key, probability in zip(keys, fused.probabilities, strict=True)
        ]

    def _request(self) -> FusedRequest:
        from skillroute.core.documents.index.bm25 import Bm25Encoder  # noqa: PLC0415 - the index has loaded it

        vector = Bm25Encoder().query(self.query)
        return FusedRequest(len(self.query.split()), sum(vector.values) if vector else 0.0, len(self.clauses))

    def _of_clauses(self, wheres: Sequence[IndexFilter]) -> list[ClauseEvidence]:
        nearest: list[dict[str, float]] = [{} for _ in self.clauses]
        for where in wheres if self.clauses else ():
            vectors = list(self.clauses.values())
            found = self.index.search_each(TOOL_DOCUMENTS, vectors, where=where, limit=CLAUSE_POOL)
            for known, hits in zip(nearest, found, strict=True):
                known.update(_cosines_of(hits))
        return [
            ClauseEvidence.of(_highest(known, CLAUSE_POOL), self._sharing_a_word(clause, wheres, CLAUSE_POOL))
            for clause, known in zip(self.clauses, nearest, strict=True)
        ]

    def _nearest(self, wheres: Sequence[IndexFilter]) -> dict[str, float]:
        found = [self.index.search(TOOL_DOCUMENTS, self.vector, where=where, limit=CANDIDATE_POOL) for where in wheres]
        return _cosines_of(hit for hits in found for hit in hits)

    def _taught(self, wheres: Sequence[IndexFilter], known: Mapping[str, float]) -> dict[str, float]:
        """Return the cosines of tools that learned requests alone bring, of those that pass a filter."""
        near = ((key, found.cosine * found.share) for key, found in self._near.items())
        keys = [key for key, _ in sorted(near, key=lambda found: -found[1])[:MAX_ADDED] if key not in known]
        if not keys:
            return {}
        found = [
            self.index.search(TOOL_DOCUMENTS, self.vector, where=replace(where, keys=keys), limit=len(keys))
            for where in wheres
        ]
        return _cosines_of(hit for hits in found for hit in hits)

    def _sharing_a_word(self, text: str, wheres: Sequence[IndexFilter], limit: int) -> dict[str, float]:
        scores: dict[str, float] = {}
        for where in wheres:
            scores.update(self.index.search_text(TOOL_DOCUMENTS, text, where=where, limit=limit))
        return scores

    def _cosines(self, collection: Collection, keys: Sequence[str]) -> dict[str, float]:
        if not keys:
            return {}
        hits = self.index.search(collection, self.vector, where=IndexFilter(keys=keys), limit=len(keys))
        return _cosines_of(hits)


def _highest(scores: Mapping[str, float], count: int) -> Mapping[str, float]:
    if len(scores) <= count:
        return scores
    return dict(sorted(scores.items(), key=lambda found: -found[1])[:count])


def _cosines_of(hits: Iterable[IndexHit]) -> dict[str, float]:
    return {key: 0.0 if score < 0.0 else min(1.0, score) for key, score in hits}


def _above(threshold: float, tools: Iterable[Candidate]) -> list[Candidate]:
    return [tool for tool in tools if tool.is_named or (tool.similarity or 0.0) >= threshold]
