"""Tool search: the stages strung together (search-contract BR-001), with every way it degrades.

What failed on the way shows three times: in the answer's metadata, in the log, and as a metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from skillroute.domain.caller import Caller
from skillroute.domain.index import Collection
from skillroute.domain.items import ItemSchemas, ItemType
from skillroute.domain.search import (
    DEFAULT_SKILL_THRESHOLD,
    DEFAULT_TOOL_THRESHOLD,
    Degradation,
    EnrichedTool,
    FallbackReason,
    Mode,
    SearchMetadata,
    SearchMode,
    SearchRequest,
    SearchResponse,
    SkillMatch,
    ToolMatch,
)
from skillroute.errors import DependencyUnavailable, EmbeddingUnavailable, IndexTimeout, IndexUnavailable
from skillroute.observability import Metric, count, logger, observe_ms
from skillroute.ports import IndexReplica, VectorIndex
from skillroute.search import plan as planning
from skillroute.search.embed import QueryEmbedder
from skillroute.search.enrich import SchemaLoader
from skillroute.search.fuse import lift_by_skill, merge
from skillroute.search.plan import SearchPlan, tools_where, visible_to
from skillroute.search.retrieve import Candidate, LexicalRanking, Ranking, SemanticRanking
from skillroute.search.timing import Stopwatch


@dataclass(slots=True)
class _Run:
    """One search while it runs."""

    caller: Caller
    watch: Stopwatch = field(default_factory=Stopwatch)
    search_mode: SearchMode = "semantic"
    fallback_reason: FallbackReason | None = None
    degraded: list[Degradation] = field(default_factory=list)

    def degrade(self, what: Degradation, error: Exception) -> None:
        self.degraded.append(what)
        count(Metric.SEARCH_DEGRADED)
        logger.warning("search degraded", extra={"degradation": what, "reason": str(error)})


@dataclass(frozen=True, slots=True)
class _Found:
    """What stages 1 and 2 found: the skills, and the tools in rank order with their payloads."""

    skills: list[SkillMatch]
    candidates: list[Candidate]
    returned: list[tuple[Candidate, Mapping[str, Any]]]


class ToolSearch:
    """Searches tools, prompts and resources.

    Parameters
    ----------
    replica : IndexReplica
    embedder : QueryEmbedder
    schemas : SchemaLoader
    default_ranking : "semantic" or "lexical"
        For requests that name no mode.
    hybrid_skill_weight : float
        How far the hybrid strategy lifts the tools of a matched skill, 0..1.
    """

    def __init__(
        self,
        replica: IndexReplica,
        embedder: QueryEmbedder,
        schemas: SchemaLoader,
        *,
        default_ranking: planning.Ranking = "semantic",
        hybrid_skill_weight: float = 0.3,
    ) -> None:
        self._replica = replica
        self._embedder = embedder
        self._schemas = schemas
        self._default_ranking = default_ranking
        self._hybrid_skill_weight = hybrid_skill_weight

    def search(self, request: SearchRequest, caller: Caller) -> SearchResponse:
        """Answer `POST /api/v1/search`.

        Raises
        ------
        DatabaseUnavailable
            PostgreSQL cannot be reached.
        EmbeddingModelMismatch
            The stored vectors are of another model than the one configured.
        InvalidInput
            The mode is not available yet.
        """
        run = _Run(caller)
        search_plan = planning.plan(request, self._default_ranking)
        found = self._find(run, request, search_plan)
        tools = self._enrich(run, request, found)
        return self._answer(run, request, found, tools)

    def skills(
        self,
        query: str,
        caller: Caller,
        *,
        limit: int = 5,
        threshold: float = DEFAULT_SKILL_THRESHOLD,
        mode: Mode | None = None,
    ) -> tuple[list[SkillMatch], SearchMode]:
        """Answer `GET /api/v1/search/skills`: stage 1 alone, and how it ranked."""
        run = _Run(caller)
        ranking = planning.ranking_for(mode, self._default_ranking)
        try:
            with self._index(run) as index:
                ranked = self._ranking(run, index, query, ranking)
                return self._skill_matches(run, index, ranked, limit=limit, threshold=threshold), run.search_mode
        except IndexUnavailable as error:
            run.degrade("index_unavailable", error)
            return [], run.search_mode

    def tools(
        self,
        query: str,
        caller: Caller,
        *,
        skill_ids: list[str] | None = None,
        item_type: ItemType | None = None,
        limit: int = 10,
        threshold: float = DEFAULT_TOOL_THRESHOLD,
        mode: Mode | None = None,
    ) -> tuple[list[ToolMatch], SearchMode]:
        """Answer `GET /api/v1/search/tools`: stage 2 alone, and how it ranked."""
        run = _Run(caller)
        ranking = planning.ranking_for(mode, self._default_ranking)
        try:
            with self._index(run) as index:
                ranked = self._ranking(run, index, query, ranking)
                where = tools_where(caller, item_type, skill_ids)
                candidates = ranked.tools(where, limit=limit, threshold=threshold)
                returned = _with_payloads(index, candidates[:limit])
        except IndexUnavailable as error:
            run.degrade("tool_search_failed", error)
            return [], run.search_mode
        return [ToolMatch(**_hit(candidate, payload)) for candidate, payload in returned], run.search_mode

    def _index(self, run: _Run) -> _Lease:
        return _Lease(self._replica, run.watch)

    def _find(self, run: _Run, request: SearchRequest, search_plan: SearchPlan) -> _Found:
        try:
            with self._index(run) as index:
                ranking = self._ranking(run, index, request.query, search_plan.ranking)
                skills = self._stage1(run, index, ranking, request) if search_plan.match_skills else []
                return self._stage2(run, index, ranking, request, search_plan, skills)
        except IndexUnavailable as error:
            run.degrade("index_unavailable", error)
            return _Found([], [], [])

    def _ranking(self, run: _Run, index: VectorIndex, query: str, ranking: planning.Ranking) -> Ranking:
        run.search_mode = ranking
        if ranking == "semantic":
            try:
                with run.watch.stage("query_embedding"):
                    return SemanticRanking(index, self._embedder.embed(query))
            except EmbeddingUnavailable as error:
                run.search_mode = "lexical-only"
                run.degrade("embedding_unavailable", error)
        return LexicalRanking(index, query)

    def _stage1(self, run: _Run, index: VectorIndex, ranking: Ranking, request: SearchRequest) -> list[SkillMatch]:
        """Match skills; whatever goes wrong here, the search goes on without them (search-contract BR-006)."""
        try:
            skills = self._skill_matches(
                run, index, ranking, limit=request.skill_limit, threshold=request.skill_threshold
            )
            if not skills:
                empty = index.count(Collection.SKILLS, where=visible_to(run.caller)) == 0
                run.fallback_reason = "no_skills" if empty else "no_skill_matched"
        except IndexTimeout:
            skills, run.fallback_reason = [], "skill_search_timeout"
        except IndexUnavailable:
            skills, run.fallback_reason = [], "skill_search_failed"
        if run.fallback_reason is not None:
            count(Metric.SEARCH_FALLBACK)
            logger.warning(
                "No skills matched, falling back to unfiltered search", extra={"fallback_reason": run.fallback_reason}
            )
        return skills

    def _skill_matches(
        self, run: _Run, index: VectorIndex, ranking: Ranking, *, limit: int, threshold: float
    ) -> list[SkillMatch]:
        with run.watch.stage("skill_search"):
            candidates = ranking.skills(visible_to(run.caller), limit=limit, threshold=threshold)
            payloads = index.payloads(Collection.SKILLS, [candidate.key for candidate in candidates])
        return [
            SkillMatch(
                id=candidate.key,
                name=payloads[candidate.key]["name"],
                description=payloads[candidate.key]["description"],
                score=candidate.score,
                tool_count=payloads[candidate.key]["tool_count"],
            )
            for candidate in candidates
            if candidate.key in payloads
        ]

    def _stage2(
        self,
        run: _Run,
        index: VectorIndex,
        ranking: Ranking,
        request: SearchRequest,
        search_plan: SearchPlan,
        skills: list[SkillMatch],
    ) -> _Found:
        def tools(skill_ids: list[str] | None) -> list[Candidate]:
            where = tools_where(run.caller, request.item_type, skill_ids)
            return ranking.tools(where, limit=request.limit, threshold=request.tool_threshold)

        try:
            with run.watch.stage("tool_search"):
                if not skills:
                    candidates = tools(None)
                else:
                    candidates = tools([skill.id for skill in skills])
                    if search_plan.search_all:
                        candidates = self._lifted(index, merge(candidates, tools(None)), skills)
                returned = _with_payloads(index, candidates[: request.limit])
        except IndexUnavailable as error:
            run.degrade("tool_search_failed", error)
            return _Found(skills, [], [])
        return _Found(skills, candidates, returned)

    def _lifted(self, index: VectorIndex, candidates: list[Candidate], skills: list[SkillMatch]) -> list[Candidate]:
        payloads = index.payloads(Collection.TOOLS, [candidate.key for candidate in candidates])
        skills_of = {key: payload["skill_ids"] for key, payload in payloads.items()}
        skill_scores = {skill.id: skill.score for skill in skills}
        return lift_by_skill(candidates, skills_of, skill_scores, self._hybrid_skill_weight)

    def _enrich(self, run: _Run, request: SearchRequest, found: _Found) -> list[EnrichedTool]:
        schemas: dict[int, ItemSchemas] = {}
        if request.include_schemas and found.returned:
            try:
                with run.watch.stage("schema_load"):
                    schemas = self._schemas.load(
                        [(payload["db_id"], payload["content_hash"]) for _, payload in found.returned]
                    )
            except DependencyUnavailable as error:
                run.degrade("schema_load_failed", error)
        nothing = ItemSchemas(None, None, None)
        return [
            # Straight from our own tables: validating them again would cost more than the search.
            EnrichedTool.model_construct(
                **_hit(candidate, payload),
                input_schema=schemas.get(payload["db_id"], nothing).input_schema,
                output_schema=schemas.get(payload["db_id"], nothing).output_schema,
                annotations=schemas.get(payload["db_id"], nothing).annotations,
            )
            for candidate, payload in found.returned
        ]

    def _answer(self, run: _Run, request: SearchRequest, found: _Found, tools: list[EnrichedTool]) -> SearchResponse:
        watch = run.watch
        metadata = SearchMetadata(
            strategy_used=request.strategy,
            search_mode=run.search_mode,
            skill_ids_used=[skill.id for skill in found.skills] or None,
            fallback_reason=run.fallback_reason,
            degraded=run.degraded,
            stage1_skill_count=len(found.skills),
            stage2_candidate_count=len(found.candidates),
            final_count=len(tools),
            query_embedding_time_ms=watch.ms("query_embedding"),
            skill_search_time_ms=watch.ms("skill_search"),
            tool_search_time_ms=watch.ms("tool_search"),
            schema_load_time_ms=watch.ms("schema_load"),
            index_sync_time_ms=watch.ms("index_sync"),
            total_time_ms=watch.total_ms(),
        )
        count(Metric.SEARCH)
        observe_ms(Metric.SEARCH_TIME, metadata.total_time_ms)
        return SearchResponse.model_construct(
            query=request.query, tools=tools, matched_skills=found.skills, metadata=metadata
        )


class _Lease:
    """Borrows the index, and counts the time until it is there as bringing it up to date."""

    def __init__(self, replica: IndexReplica, watch: Stopwatch) -> None:
        self._lease = replica.current()
        self._watch = watch

    def __enter__(self) -> VectorIndex:
        with self._watch.stage("index_sync"):
            return self._lease.__enter__()

    def __exit__(self, *error: Any) -> bool | None:
        return self._lease.__exit__(*error)


def _with_payloads(index: VectorIndex, candidates: list[Candidate]) -> list[tuple[Candidate, Mapping[str, Any]]]:
    payloads = index.payloads(Collection.TOOLS, [candidate.key for candidate in candidates])
    return [(candidate, payloads[candidate.key]) for candidate in candidates if candidate.key in payloads]


def _hit(candidate: Candidate, payload: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": candidate.key,
        "db_id": payload["db_id"],
        "type": payload["type"],
        "name": payload["name"],
        "description": payload["description"],
        "server": payload["server"] or None,
        "score": candidate.score,
        "similarity": candidate.similarity,
        "skill_ids": list(payload["skill_ids"]),
        "primary_skill_id": payload["primary_skill_id"],
    }
