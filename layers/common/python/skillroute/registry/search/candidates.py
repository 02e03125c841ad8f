"""Servers and agents: both searches, merged and scored (registry-search-design, Score-Before-Filter).

Candidates are the nearest neighbours and everything that contains a keyword. All of them are scored, by both numbers,
before any is left out. A keyword can be in thousands of entities, though, and reading those costs more than all the
rest; so the best by boost are read, and of the others those that are near enough to get into the answer in spite of
their boost. The scores decide which they are: the answer is the same as if all had been read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillroute.core.documents.index.ahead import Nearest, ask_ahead
from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.embedding.model import Vector
from skillroute.core.postgres.database import Database
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.model import EntityKind
from skillroute.registry.search import scoring
from skillroute.registry.search.model import TYPE_OF_KIND
from skillroute.registry.search.plan import RegistryPlan
from skillroute.registry.search.repository import KeywordHit, KeywordHits, RegistrySearchRepository
from skillroute.registry.search.scoring import Score, Scored

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates of one kind.

    Attributes
    ----------
    ranked : sequence of Scored
        Best first; the first `max_results` are the answer.
    count : int
        How many there are, those that were not scored included.
    searched : sequence of Scored
        Those that one of the two searches has among its best, or that are in the answer; best first.
    """

    ranked: Sequence[Scored] = ()
    count: int = 0
    searched: Sequence[Scored] = ()


@dataclass(slots=True)
class _Merge:
    """The results of both searches for one kind, by entity; `tools` are the cosines of servers' best tools."""

    kind: EntityKind
    nearest: Sequence[IndexHit]
    hits: Sequence[KeywordHit]
    named: Sequence[KeywordHit]
    total: int
    tools: Mapping[int, float]
    known: dict[int, KeywordHit] = field(init=False)
    cosines: dict[int, float] = field(init=False)

    def __post_init__(self) -> None:
        self.known = {hit.id: hit for hit in (*self.hits, *self.named)}
        self.cosines = {int(hit.key): hit.score for hit in self.nearest}

    @property
    def is_complete(self) -> bool:
        """Whether everything that contains a keyword was read."""
        return self.total <= len(self.hits) + len(self.named)

    def not_read(self) -> list[int]:
        return [id_ for id_ in {**self.cosines, **self.tools} if id_ not in self.known]

    def not_near(self) -> list[int]:
        return [id_ for id_ in self.known if id_ not in self.cosines]


def read_keyword_hits(database: Database, plan: RegistryPlan) -> KeywordHits:
    """Return what contains a keyword: the best of each kind, or all of it where the plan shows all."""
    query = plan.query
    if not query.keywords:
        return KeywordHits([], [], {})
    return database.read(
        lambda session: RegistrySearchRepository(session).keyword_search(
            query.keywords,
            plan.scope,
            limit=None if plan.show_all else plan.nearest,
            names=sorted(query.names),
            by_coverage=plan.fusion == "coverage",
        )
    )


def by_keywords(plan: RegistryPlan, found: KeywordHits) -> dict[EntityKind, Candidates]:
    """Score what contains a keyword, without vectors."""
    return {kind: _lexical(plan, kind, found) for kind in plan.scope.kinds}


class HybridSearch:
    """Both searches over one index and one query vector.

    Every method raises `IndexUnavailable` when the index fails and `DatabaseUnavailable` when PostgreSQL does.
    """

    def __init__(self, plan: RegistryPlan, database: Database, index: SearchedIndex, vector: Vector) -> None:
        self._plan = plan
        self._database = database
        self._index = index
        self._vector = vector

    def nearest(self) -> dict[EntityKind, list[IndexHit]]:
        """Return the nearest neighbours of each kind, however far they are."""
        wheres = {kind: self._plan.where(kind) for kind in self._plan.scope.kinds}
        asked = (Nearest(REGISTRY_DOCUMENTS, [self._vector], where, self._plan.nearest) for where in wheres.values())
        ask_ahead(self._index, asked)
        return {kind: self._near(where, self._plan.nearest) for kind, where in wheres.items()}

    def merged(
        self, nearest: Mapping[EntityKind, Sequence[IndexHit]], found: KeywordHits, tools: Mapping[int, float]
    ) -> dict[EntityKind, Candidates]:
        """Score the candidates of both searches, and the servers of near tools (`best_tools`)."""
        merges = {kind: _merge(kind, nearest[kind], found, tools) for kind in self._plan.scope.kinds}
        self._complete(list(merges.values()))
        return {kind: self._merged(merge) for kind, merge in merges.items()}

    def _merged(self, merge: _Merge) -> Candidates:
        count = merge.total + sum(hit.boost == 0.0 for hit in merge.known.values())
        ranked = self._scored(merge)
        # By rank nothing beyond the ranks counts, and those were read.
        if not merge.is_complete and self._plan.fusion != "rrf":
            seen = len(merge.known)
            if not self._read_unseen(merge, ranked):
                whole = self._with_all_hits(merge)
                self._complete([whole])
                return self._merged(whole)
            if len(merge.known) > seen:
                ranked = self._scored(merge)
        best = {int(hit.key) for hit in merge.nearest} | {hit.id for hit in merge.hits[: self._plan.nearest]}
        best |= merge.tools.keys()
        return _candidates(self._plan, ranked, count, best)

    def _complete(self, merges: Sequence[_Merge]) -> None:
        """Get the boosts of what is near and was not read, and the cosines of what was read and is not near.

        Of all kinds in one question each.
        """
        boosts = self._boosts([id_ for merge in merges if not merge.is_complete for id_ in merge.not_read()])
        for merge in merges:
            if merge.is_complete:
                merge.known |= self._without_keywords(merge.not_read(), merge.kind)
            else:
                merge.known |= {id_: hit for id_, hit in boosts.items() if hit.kind == merge.kind}
        cosines = self._cosines([id_ for merge in merges for id_ in merge.not_near()])
        for merge in merges:
            merge.cosines |= {id_: cosine for id_, cosine in cosines.items() if id_ in merge.known}

    def _read_unseen(self, merge: _Merge, ranked: Sequence[Scored]) -> bool:
        """Read what was not read by keyword but is near enough to get into the answer; False where that is not known.

        What was not read gets at most what keywords add to the last that was. So it needs a cosine of at least
        ``least`` for the score of the last in the answer, and is not needed when even the farthest of the nearest
        neighbours has less.
        """
        if len(ranked) < self._plan.max_results:
            return False
        last = ranked[self._plan.max_results - 1].score.unclamped
        most = self._score(merge.hits[-1], 0.0).boost_contrib
        least = 2.0 * (last - most) - 1.0 - _ROUNDING
        if least <= 0.0:
            return False  # what has no vector counts with 0, and no vector search finds it
        if len(merge.nearest) == self._plan.nearest and merge.nearest[-1].score >= least:
            where = self._plan.where(merge.kind)
            near = self._near(where, self._index.count(REGISTRY_DOCUMENTS, where=where), least)
            merge.cosines |= {int(hit.key): hit.score for hit in near}
            merge.known |= self._boosts(merge.not_read())
        return True

    def _with_all_hits(self, merge: _Merge) -> _Merge:
        scope = replace(self._plan.scope, kinds=[merge.kind])
        everything = read_keyword_hits(self._database, replace(self._plan, scope=scope, show_all=True))
        return _merge(merge.kind, merge.nearest, everything, merge.tools)

    def _scored(self, merge: _Merge) -> list[Scored]:
        """Score what is known. Those that were deleted in between have no row any more and are left out."""
        cosines = merge.cosines
        if self._plan.fusion == "rrf":
            vector_ranks = {int(hit.key): rank for rank, hit in enumerate(merge.nearest, 1)}
            keyword_ranks = {hit.id: rank for rank, hit in enumerate(merge.hits[: self._plan.nearest], 1)}
            scores = {
                id_: scoring.by_ranks(cosines.get(id_, 0.0), hit.boost, vector_ranks.get(id_), keyword_ranks.get(id_))
                for id_, hit in merge.known.items()
            }
        else:
            scores = {
                id_: self._score(hit, cosines.get(id_, 0.0), merge.tools.get(id_)) for id_, hit in merge.known.items()
            }
        return scoring.by_rank(_scored(self._plan, merge.known[id_], score) for id_, score in scores.items())

    def _score(self, hit: KeywordHit, cosine: float, best_tool: float | None = None) -> Score:
        if self._plan.fusion == "coverage" and hit.kind == "server":
            return scoring.covered_server(cosine, hit.boost, hit.coverage, best_tool)
        if self._plan.fusion == "coverage":
            return scoring.covered(cosine, hit.boost, hit.coverage)
        return scoring.boosted(cosine, hit.boost)

    def _near(self, where: IndexFilter, limit: int, threshold: float | None = None) -> list[IndexHit]:
        return self._index.search(REGISTRY_DOCUMENTS, self._vector, where=where, limit=limit, threshold=threshold)

    def _cosines(self, ids: Sequence[int]) -> dict[int, float]:
        if not ids:
            return {}
        hits = self._near(IndexFilter(keys=[str(id_) for id_ in ids]), len(ids))
        return {int(hit.key): hit.score for hit in hits}

    def _boosts(self, ids: Sequence[int]) -> dict[int, KeywordHit]:
        keywords = self._plan.query.keywords
        return (
            self._database.read(
                lambda session: RegistrySearchRepository(session).boosts(keywords, ids, self._plan.scope)
            )
            if ids
            else {}
        )

    def _without_keywords(self, ids: Sequence[int], kind: EntityKind) -> dict[int, KeywordHit]:
        payloads = self._index.payloads(REGISTRY_DOCUMENTS, [str(id_) for id_ in ids])
        return {
            int(key): KeywordHit(int(key), kind, payload["path"], payload["name"], 0.0, 0.0)
            for key, payload in payloads.items()
        }


def _merge(kind: EntityKind, nearest: Sequence[IndexHit], found: KeywordHits, tools: Mapping[int, float]) -> _Merge:
    best, named = ([hit for hit in hits if hit.kind == kind] for hits in (found.hits, found.named))
    return _Merge(kind, nearest, best, named, found.totals.get(kind, 0), tools if kind == "server" else {})


def _lexical(plan: RegistryPlan, kind: EntityKind, found: KeywordHits) -> Candidates:
    hits = [hit for hit in found.hits if hit.kind == kind]
    named = (hit for hit in found.named if hit.kind == kind)
    ranked = scoring.by_rank(_scored(plan, hit, scoring.lexical(hit.boost)) for hit in (*hits, *named))
    return _candidates(plan, ranked, found.totals.get(kind, 0), {hit.id for hit in hits[: plan.nearest]})


def _candidates(plan: RegistryPlan, ranked: Sequence[Scored], count: int, best: Iterable[int]) -> Candidates:
    searched = {*best, *(candidate.id for candidate in ranked[: plan.max_results])}
    return Candidates(ranked, count, [candidate for candidate in ranked if candidate.id in searched])


def _scored(plan: RegistryPlan, hit: KeywordHit, score: Score) -> Scored:
    return Scored(hit.id, TYPE_OF_KIND[hit.kind], hit.path, hit.name, score, plan.names(hit.name, score))
