"""Registry search: the stages strung together, with the lexical fallback (registry-search-design, Search Flow)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from typing import TypeVar

from skillroute.core.caller import Caller
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.index_lease import IndexLease
from skillroute.core.documents.model import IndexHit
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import EmbeddingUnavailable, IndexUnavailable
from skillroute.core.observability import Metric, count, observe_ms
from skillroute.core.postgres.database import Database
from skillroute.core.reranking.port import Reranker
from skillroute.core.search_run import SearchRun
from skillroute.registry.model import EntityKind
from skillroute.registry.search import answer, tools
from skillroute.registry.search.answer import Found
from skillroute.registry.search.best_tools import best_tools
from skillroute.registry.search.candidates import HybridSearch, by_keywords, read_keyword_hits
from skillroute.registry.search.model import Fusion, RegistrySearchRequest, RegistrySearchResponse
from skillroute.registry.search.plan import RegistryPlan, plan
from skillroute.registry.search.repository import KeywordHits, RegistryScope, RegistrySearchRepository, ToolHit
from skillroute.registry.search.rerank import RegistryRerank
from skillroute.registry.search.scoring import Scored
from skillroute.registry.search.tools import GradedTool

T = TypeVar("T")


class RegistrySearch:
    """Searches MCP servers, their tools, and A2A agents.

    The keyword search waits for PostgreSQL while the query is embedded and its neighbours are looked up, so it runs in
    a thread of its own.

    Parameters
    ----------
    replica : IndexReplica
    embedder : QueryEmbedder
        Remembers for a while that the model is away, so that not every search waits for it.
    database : Database
    default_fusion : "boost", "rrf" or "coverage"
        For requests that name none.
    reranker : Reranker, optional
        Without one `hybrid_rerank` is served as `hybrid`.
    rerank_timeout_s : float
        The most that a search waits for it.
    threads : int
        Reads that run in parallel to searches; more of them wait.
    """

    def __init__(
        self,
        replica: IndexReplica,
        embedder: QueryEmbedder,
        database: Database,
        *,
        default_fusion: Fusion,
        threads: int = 8,
        reranker: Reranker | None = None,
        rerank_timeout_s: float = 2.0,
    ) -> None:
        self._replica = replica
        self._embedder = embedder
        self._database = database
        self._default_fusion: Fusion = default_fusion
        self._rerank = RegistryRerank(database, reranker, rerank_timeout_s)
        self._workers = ThreadPoolExecutor(threads, thread_name_prefix="registry-search")

    def __call__(self, request: RegistrySearchRequest, caller: Caller) -> RegistrySearchResponse:
        """Answer `POST /api/v1/search/registry`.

        Without the embedding model or the index the answer is lexical and says so.

        Raises
        ------
        DatabaseUnavailable
            PostgreSQL cannot be reached.
        """
        run = SearchRun(caller)
        is_logged = answer.are_scores_logged()
        show_all = request.explain or is_logged
        search_plan = plan(request, caller, default_fusion=self._default_fusion, show_all=show_all)
        found = self._find(run, search_plan)
        if is_logged:
            answer.log_scores(found)
        chosen = answer.chosen(request, found)
        with run.watch.stage("load"):
            details = answer.load(self._database, chosen, search_plan.scope)
        response = answer.response(run, request, search_plan, found, chosen, details)
        count(Metric.SEARCH)
        observe_ms(Metric.SEARCH_TIME, response.metadata.total_time_ms)
        if not (response.servers or response.tools or response.agents):
            count(Metric.SEARCH_EMPTY)
        return response

    def _find(self, run: SearchRun, search_plan: RegistryPlan) -> Found:
        with self._beside(lambda: self._keyword_search(run, search_plan)) as by_words:
            try:
                with IndexLease(self._replica, run.watch, run.stale) as index:
                    run.index = index.kind
                    return self._hybrid(run, search_plan, index, by_words)
            except EmbeddingUnavailable as error:
                run.degrade("embedding_unavailable", error)
            except IndexUnavailable as error:
                run.degrade("index_unavailable", error)
            found = self._lexical_hits(run, search_plan, by_words.result())
        entities = by_keywords(search_plan, found)
        graded = self._tools(run, search_plan, entities["server"].searched) if search_plan.with_tools else []
        return Found("lexical-only", entities, graded)

    def _hybrid(
        self, run: SearchRun, search_plan: RegistryPlan, index: LentIndex, by_words: Future[KeywordHits]
    ) -> Found:
        with run.watch.stage("query_embedding"):
            vector = self._embedder.embed(search_plan.query.text, index.model)
        search = HybridSearch(search_plan, self._database, index, vector)
        with run.watch.stage("vector_search"):
            nearest = search.nearest()
        keyword_hits = by_words.result()
        with run.watch.stage("vector_search"):
            best = self._best_tools(run, search_plan, index, vector, nearest, keyword_hits)
            entities = search.merged(nearest, keyword_hits, best)
        graded: list[GradedTool] = []
        if search_plan.with_tools:
            graded = self._tools(run, search_plan, entities["server"].searched, index, vector)
        found = Found("hybrid", entities, graded)
        return self._rerank(run, search_plan, found, index) if search_plan.reranks else found

    def _best_tools(
        self,
        run: SearchRun,
        search_plan: RegistryPlan,
        index: LentIndex,
        vector: Vector,
        nearest: Mapping[EntityKind, Sequence[IndexHit]],
        keyword_hits: KeywordHits,
    ) -> dict[int, float]:
        hits = (*keyword_hits.hits, *keyword_hits.named)
        servers = {int(hit.key) for hit in nearest.get("server", ())} | {hit.id for hit in hits if hit.kind == "server"}
        try:
            return best_tools(search_plan, self._database, index, vector, sorted(servers))
        except IndexUnavailable as error:
            run.degrade("tool_search_failed", error)
            return {}

    def _keyword_search(self, run: SearchRun, search_plan: RegistryPlan) -> KeywordHits:
        with run.watch.stage("keyword_search"):
            return read_keyword_hits(self._database, search_plan)

    def _lexical_hits(self, run: SearchRun, search_plan: RegistryPlan, read: KeywordHits) -> KeywordHits:
        """Return what is ranked without vectors, given what was read for ranking with them."""
        query = search_plan.query
        if not query.keywords and query.tags:
            with run.watch.stage("keyword_search"):
                return self._database.read(
                    lambda session: RegistrySearchRepository(session).tagged(
                        search_plan.scope, limit=search_plan.nearest
                    )
                )
        if search_plan.fusion == "coverage":  # the best by boost are others
            return self._keyword_search(run, replace(search_plan, fusion="boost"))
        return read

    def _tools(
        self,
        run: SearchRun,
        search_plan: RegistryPlan,
        searched: Sequence[Scored],
        index: LentIndex | None = None,
        vector: Vector | None = None,
    ) -> list[GradedTool]:
        """Grade the tools of the best servers; when the index fails here, by keywords alone."""
        servers = searched[: search_plan.servers_with_tools]
        if not servers:
            return []
        keywords, ids = search_plan.query.keywords, [server.id for server in servers]
        with (
            run.watch.stage("tool_search"),
            self._beside(lambda: self._tools_of(keywords, ids, search_plan.scope)) as reading,
        ):
            cosines = None
            if index is not None and vector is not None:
                try:
                    paths = {server.path.removeprefix("/") for server in servers}
                    cosines = tools.cosines(index, vector, search_plan, paths)
                    # Most tools name their server by its path, and are looked up while the others are read.
                    if others := {tool.server for tool in reading.result()} - paths:
                        cosines = tools.joined(cosines, tools.cosines(index, vector, search_plan, others))
                except IndexUnavailable as error:
                    if "tool_search_failed" not in run.degraded:
                        run.degrade("tool_search_failed", error)
            found = reading.result()
            if cosines is not None and vector is not None and index is not None and search_plan.scope.include_disabled:
                cosines = tools.with_inactive(cosines, vector, self._inactive(found, cosines, index.model))
            return tools.graded(search_plan, servers, found, cosines)

    def _inactive(
        self, found: Sequence[ToolHit], indexed: Mapping[int, float], model: EmbeddingModel
    ) -> dict[int, Vector]:
        """Return the vectors of tools of disabled servers: they are in no index."""
        ids = [tool.id for tool in found if tool.id not in indexed]
        if not ids:
            return {}
        return self._database.read(lambda session: RegistrySearchRepository(session).inactive_vectors(ids, model))

    def _tools_of(self, keywords: Sequence[str], server_ids: Sequence[int], scope: RegistryScope) -> list[ToolHit]:
        return self._database.read(
            lambda session: RegistrySearchRepository(session).tools_of(keywords, server_ids, scope)
        )

    @contextmanager
    def _beside(self, read: Callable[[], T]) -> Iterator[Future[T]]:
        """Read in a thread beside the block, and wait for its end: no connection is in use after its search."""
        reading = self._workers.submit(copy_context().run, read)  # with the time limit of the search
        try:
            yield reading
        finally:
            wait([reading])
