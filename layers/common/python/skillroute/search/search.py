"""Tool search: the stages strung together (search-contract BR-001), with every way it degrades."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.model import DEFAULT_TOOL_THRESHOLD, ItemType
from skillroute.core.caller import Caller
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.index_lease import IndexLease
from skillroute.core.documents.replica_port import LendsIndex
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import IndexTimeout, IndexUnavailable
from skillroute.core.observability import Metric, count
from skillroute.core.rationing.turns import Turns
from skillroute.core.recent_searches import RecentSearches
from skillroute.core.reranking.port import Reranker
from skillroute.core.time.deadline import Deadline
from skillroute.search import plan
from skillroute.search.answer import build as answer
from skillroute.search.answer.duplicates import hits_of
from skillroute.search.answer.explain_scores import explain_tools
from skillroute.search.answer.explanation import SearchExplanation
from skillroute.search.answer.language import language_of
from skillroute.search.answer.matches import load, matches
from skillroute.search.answer.optional_parts import asks_for_more, size_beside, with_more
from skillroute.search.answer.schemas import SchemaLoader, Schemas
from skillroute.search.batch.embed_ahead import embed_ahead
from skillroute.search.candidates.candidate import Found, FoundNeed, MatchedSkill, matching_skills, tool_hits
from skillroute.search.candidates.retrieve import RankedTools, Ranking, skills_of_tools
from skillroute.search.candidates.servers import offering, unknown_servers
from skillroute.search.candidates.unembedded import MissingVectors
from skillroute.search.candidates.visible_skills import keys_of_skills
from skillroute.search.learned import Learned
from skillroute.search.model import DEFAULT_SKILL_THRESHOLD, Mode, SearchRequest, SearchResponse, SkillMatch, ToolMatch
from skillroute.search.needs.search import find_for_needs
from skillroute.search.notes import Notes, searched_text
from skillroute.search.plan import SearchPlan, skills_where, tools_where, wanted_tools
from skillroute.search.ranking.choose import Rankings
from skillroute.search.ranking.lift import lift_by_skill
from skillroute.search.ranking.no_match import Judge
from skillroute.search.receipts import Door, KeepsReceipts
from skillroute.search.run import ToolSearchRun
from skillroute.skills.collection import SKILL_DOCUMENTS


class ToolSearch:
    """Searches tools, prompts and resources.

    Parameters
    ----------
    replica : LendsIndex
    embedder : QueryEmbedder
    schemas : SchemaLoader
    missing : MissingVectors
        Looks, where nothing is found, for what has no vector.
    reranker : Reranker, optional
        Without one `hybrid_rerank` is served as `hybrid`.
    learned : Learned, optional
    recent : RecentSearches, optional
        Remembers how whole searches went.
    receipts : KeepsReceipts, optional
        Keeps what was asked and shown.
    default_ranking : RankBy
        For requests that name no mode.
    hybrid_skill_weight : float
        How far the hybrid strategy lifts the tools of a matched skill, 0..1.
    no_match_below : float, optional
        The confidence below which nothing is taken to fit; that of the embedding model's weights where it is not given.
    rerank_timeout_s : float
        The most that a search waits for the reranker.

    Every method raises `DatabaseUnavailable` when PostgreSQL cannot be reached. What else fails degrades the answer.
    """

    def __init__(
        self,
        replica: LendsIndex,
        embedder: QueryEmbedder,
        schemas: SchemaLoader,
        missing: MissingVectors,
        *,
        default_ranking: plan.RankBy,
        hybrid_skill_weight: float = 0.1,
        no_match_below: float | None = None,
        reranker: Reranker | None = None,
        rerank_timeout_s: float = 2.0,
        recent: RecentSearches | None = None,
        learned: Learned | None = None,
        receipts: KeepsReceipts | None = None,
        give_way: Callable[[], None] = lambda: None,
    ) -> None:
        self._give_way = give_way
        self._replica = replica
        self._schemas = schemas
        self._missing = missing
        self._default_ranking = default_ranking
        self._hybrid_skill_weight = hybrid_skill_weight
        self._judge = Judge(no_match_below)
        self._rankings = Rankings(embedder, reranker, rerank_timeout_s, learned)
        self._notes = Notes(recent or RecentSearches(), receipts)

    def embed_ahead(self, requests: Iterable[SearchRequest], index: LentIndex, turns: Turns | None = None) -> None:
        """Embed what the searches of requests will embed, all in one call; they find it remembered."""
        embed_ahead(self._rankings.embedder, requests, index.model, self._default_ranking, turns)

    def search(
        self,
        request: SearchRequest,
        caller: Caller,
        *,
        lent: LendsIndex | None = None,
        taken: int = 0,
        door: Door | None = "http",
    ) -> SearchResponse:
        """Answer `POST /api/v1/search`, or one search of a batch.

        Parameters
        ----------
        lent : LendsIndex, optional
            Lends the index that a batch was lent already.
        taken : int
            The bytes that the batch's answer has taken already.
        door : str or None
            Of its receipt; None leaves none.
        """
        language = language_of(" ".join(request.texts))
        run = ToolSearchRun(caller, language=language, search_id=self._notes.new_id(door))
        try:
            with IndexLease(lent or self._replica, run.watch, run.stale) as index:
                run.index = index.kind
                found = self._find_all(run, index, request)
                found = self._rankings.used_with(run, index, found) if request.used_with else found
        except IndexUnavailable as error:
            run.degrade("index_unavailable", error)
            found = Found(needs=[FoundNeed(need) for need in request.needs or ()])
        self._give_way()
        wants_more = asks_for_more(request)
        beside = taken + (size_beside(found) if wants_more else 0)
        described = answer.described(found.hits, beside)
        loaded = load(run, found.hits, self._schemas, described.room) if request.include_schemas else Schemas({})
        self._give_way()
        response = answer.response(run, request, found, answer.enriched(found.hits, described, loaded))
        self._notes.answered(run, request, found, response.metadata, door)
        self._give_way()
        return with_more(response, request, found) if wants_more else response

    def skills(
        self,
        query: str,
        caller: Caller,
        *,
        limit: int = 5,
        threshold: float | None = None,
        mode: Mode | None = None,
    ) -> tuple[list[SkillMatch], ToolSearchRun]:
        """Answer `GET /api/v1/search/skills`: stage 1 alone, and how it went."""
        run = ToolSearchRun(caller)
        wanted = plan.ranking_for(mode, self._default_ranking)
        count(Metric.SEARCH)
        try:
            with IndexLease(self._replica, run.watch, run.stale) as index:
                run.index = index.kind
                ranking = self._rankings.choose(run, index, query, wanted, tools_where(caller))
                least = plan.least_cosine(wanted, threshold, default=DEFAULT_SKILL_THRESHOLD)
                matched = matching_skills(run, index, ranking, limit, least, empty=True)
                if not matched:
                    self._missing.look(run, index, query, SKILL_DOCUMENTS, skills_where(caller))
                return [skill.match for skill in matched], run
        except IndexUnavailable as error:
            run.degrade("index_unavailable", error)
            return [], run

    def tools(
        self,
        query: str,
        caller: Caller,
        *,
        skill_ids: list[str] | None = None,
        item_type: ItemType | None = None,
        limit: int = 10,
        threshold: float | None = None,
        mode: Mode | None = None,
        servers: list[str] | None = None,
        explain: bool = False,
    ) -> tuple[Sequence[ToolMatch], ToolSearchRun]:
        """Answer `GET /api/v1/search/tools`: stage 2 alone, and how it went."""
        run = ToolSearchRun(caller, language=language_of(query), search_id=self._notes.new_id("http"))
        wanted = plan.ranking_for(mode, self._default_ranking)
        count(Metric.SEARCH)
        try:
            with IndexLease(self._replica, run.watch, run.stale) as index:
                run.index = index.kind
                keys = None if skill_ids is None else keys_of_skills(index, skill_ids, caller)
                where = tools_where(caller, item_type, keys, servers)
                ranking = self._rankings.choose(run, index, query, wanted, where)
                least = plan.least_cosine(wanted, threshold, default=DEFAULT_TOOL_THRESHOLD)
                ranked = ranking.tools(where, limit=limit, threshold=least)
                if not ranked.candidates:
                    self._missing.look(run, index, query, TOOL_DOCUMENTS, where)
                hits = tool_hits(index, ranked.candidates[:limit], caller)
                self._judge(run, ranked, index.model.name, hits, query)
                run.unknown_servers = unknown_servers(index, servers, caller)
                explained = explain_tools(ranked, query, hits) if explain else []
        except IndexUnavailable as error:
            run.degrade("tool_search_failed", error)
            hits, explained = [], []
        self._notes.receipt(run, [searched_text(run, query, hits)], "http")
        return matches(run, hits, explained, self._schemas) if hits else [], run

    def _find_all(self, run: ToolSearchRun, index: LentIndex, request: SearchRequest) -> Found:
        """Search for each need, all embedded in one call; a reranker has the time of one search for all of them."""
        if request.needs is None:
            return self._find(run, index, request, self._rankings)
        with run.watch.stage("query_embedding"):
            self.embed_ahead([request], index)
        until = Deadline(self._rankings.rerank_timeout_s)

        def find(each: ToolSearchRun, one: SearchRequest) -> Found:
            return self._find(each, index, one, replace(self._rankings, rerank_timeout_s=until.remaining_s()))

        return find_for_needs(run, request, plan.ranking_for(request.mode, self._default_ranking), find)

    def _find(self, run: ToolSearchRun, index: LentIndex, request: SearchRequest, rankings: Rankings) -> Found:
        search_plan = plan.plan(request, self._default_ranking)
        everything = wanted_tools(run.caller, request)
        ranking = rankings.choose(run, index, request.text, search_plan.ranking, everything)
        skills = self._stage1(run, index, ranking, request, search_plan) if search_plan.match_skills else []
        try:
            with run.watch.stage("tool_search"):
                ranked = self._stage2(run, index, ranking, request, search_plan, skills)
                hits = hits_of(index, ranked.candidates, request, run.caller, self._give_way)
                self._judge(run, ranked, index.model.name, hits, request.text, request.no_match_below)
        except IndexUnavailable as error:
            run.degrade("tool_search_failed", error)
            return Found(skills)
        candidates, unknown = ranked.candidates, unknown_servers(index, request.server, run.caller)
        found = Found(skills, len(candidates), hits, unknown_servers=unknown, candidates=candidates)
        return self._explained(ranked, index, request, found) if request.explain else found

    def _explained(self, ranked: RankedTools, index: LentIndex, request: SearchRequest, found: Found) -> Found:
        self._give_way()
        confidence = self._judge.explain(ranked, index.model.name, found.hits, request.text, request.no_match_below)
        return replace(
            found,
            explained=explain_tools(ranked, request.text, found.hits, self._give_way),
            explanation=SearchExplanation(fusion=ranked.explain_curve(), confidence=confidence),
        )

    def _stage1(
        self, run: ToolSearchRun, index: LentIndex, ranking: Ranking, request: SearchRequest, search_plan: SearchPlan
    ) -> list[MatchedSkill]:
        """Match skills; whatever goes wrong here, the search goes on without them (search-contract BR-006)."""
        try:
            skills = matching_skills(run, index, ranking, search_plan.skill_limit, search_plan.skill_threshold)
            skills = offering(index, skills, request, run.caller)
            if not skills:
                there_are_some = index.count(SKILL_DOCUMENTS, where=skills_where(run.caller)) > 0
                run.fall_back("no_skill_matched" if there_are_some else "no_skills")
            return skills
        except IndexTimeout:
            run.fall_back("skill_search_timeout")
        except IndexUnavailable:
            run.fall_back("skill_search_failed")
        return []

    def _stage2(
        self,
        run: ToolSearchRun,
        index: LentIndex,
        ranking: Ranking,
        request: SearchRequest,
        search_plan: SearchPlan,
        skills: list[MatchedSkill],
    ) -> RankedTools:
        everything = wanted_tools(run.caller, request)
        of_skills = wanted_tools(run.caller, request, [skill.key for skill in skills])
        if not skills:
            wheres = [everything]
        elif search_plan.search_all:
            wheres = [of_skills, everything]
        else:
            wheres = [of_skills]
        ranked = ranking.tools(*wheres, limit=request.limit, threshold=search_plan.tool_threshold)
        if not ranked.candidates:
            self._missing.look(run, index, request.text, TOOL_DOCUMENTS, *wheres)
        if not skills or not search_plan.search_all:
            return ranked
        skills_of = skills_of_tools(index, ranked.candidates)
        skill_scores = {skill.key: skill.match.score for skill in skills}
        lifted = lift_by_skill(ranked.candidates, skills_of, skill_scores, self._hybrid_skill_weight)
        return replace(ranked, candidates=lifted)
