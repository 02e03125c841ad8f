"""Runs a plan: asks the engines, fuses what they find, and cuts a page out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from skillroute.core.documents.index.port import SearchedIndex
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.core.embedding.model import Vector
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import EmbeddingUnavailable, RerankerUnavailable
from skillroute.core.postgres.database import Database
from skillroute.core.reranking.blend import blend_for
from skillroute.core.reranking.port import Reranker
from skillroute.mail.search import model as message_search
from skillroute.mail.search import page, threads
from skillroute.mail.search import scores as fuse
from skillroute.mail.search.answers import ShadowComparison
from skillroute.mail.search.budget import LEXICAL_ONLY_MS, NO_RERANK_MS
from skillroute.mail.search.cursor import CursorEngine
from skillroute.mail.search.lexical import FullText, IndexWords, LexicalEngine, Words
from skillroute.mail.search.model import RRF_K, MailFilter, Method
from skillroute.mail.search.outcome import Stage
from skillroute.mail.search.page import Page, Ranking
from skillroute.mail.search.plan import Plan
from skillroute.mail.search.ready_index import ReadyIndex
from skillroute.mail.search.recency import Times, by_recency
from skillroute.mail.search.repository import MailSearchRepository
from skillroute.mail.search.run import MessageRun
from skillroute.mail.search.scores import Ranked, RawScores
from skillroute.mail.search.shadow import COMPARED, Shadow
from skillroute.mail.search.threads import may_differ_by_thread
from skillroute.mail.search.vector import ask_both_halves, nearest

Half = Callable[[MailFilter], RawScores]
"""Asks an engine for its pool."""


@dataclass(frozen=True, slots=True)
class Served:
    """The results that were found, and how.

    Attributes
    ----------
    plan : Plan or None
        None when nothing had to be asked.
    denied : int
        How many of the candidates lie outside the request's scope; counted for explain only.
    """

    method: Method
    plan: Plan | None
    page: Page
    denied: int = 0
    shadow: ShadowComparison | None = None


class Engines:
    """The parts that a search asks. `Plan` says which of them, `MessageSearch` what happens when one fails.

    Every method raises `DatabaseUnavailable` when PostgreSQL cannot be reached.
    """

    def __init__(
        self,
        replica: IndexReplica,
        embedder: QueryEmbedder,
        database: Database,
        reranker: Reranker | None,
        *,
        shadow: Shadow | None,
        rerank_timeout_s: float,
        index_wait_s: float,
    ) -> None:
        self._index = ReadyIndex(replica, wait_s=index_wait_s)
        self._embedder = embedder
        self._database = database
        self._reranker = reranker
        self._shadow = shadow
        self._rerank_timeout_s = rerank_timeout_s

    def listed(self, run: MessageRun) -> Served:
        """List what passes the filters."""
        with run.stage("lexical"):
            cursor, where = run.cursor("postgres"), run.scope.searched
            found = self._database.read(lambda session: page.listing(session, run.request, where, cursor, run.offset))
        denied = self._denied(run, {"lexical": self._all_listed})
        return Served("filter_only", Plan("lexical", "postgres"), found, denied)

    def searched(self, run: MessageRun, plan: Plan, terms: Mapping[str, float]) -> Served:
        """Search as planned.

        Raises
        ------
        EmbeddingUnavailable, IndexUnavailable
            A part that the plan needs failed. Without the reranker the search goes on.
        """
        if plan.engine == "postgres":
            return self._by_full_text(run, plan, terms)
        with self._index.lease(run.watch, run.budget) as index:
            run.index_state = "ready"
            words = IndexWords(index, terms)
            if plan.mode == "lexical":
                return self._lexical(run, plan, words)[0]
            with run.stage("vector"):
                left_s = run.budget.left_s(LEXICAL_ONLY_MS)
                vector = self._embedder.embed(run.request.text, index.model, timeout_s=left_s)
            return self._with_vector(run, plan, index, words, vector)

    def _by_full_text(self, run: MessageRun, plan: Plan, terms: Mapping[str, float]) -> Served:
        asked = None if self._shadow is None else self._shadow.start(terms, run.scope.searched)
        served, words = self._lexical(run, plan, FullText(self._database, list(terms)))
        if self._shadow is None:
            return served
        first = words.after(None, COMPARED)[:COMPARED]
        return replace(served, shadow=self._shadow.compared([match.id for match in first], asked))

    def _lexical(self, run: MessageRun, plan: Plan, engine: LexicalEngine) -> tuple[Served, Words]:
        with run.stage("lexical"):
            words = Words(engine, run.scope.searched)
            found = self._page(run, words, plan.engine)
        denied = self._denied(run, {"lexical": lambda where: engine.top(where, message_search.POOL)})
        if engine.method == "like_fallback":
            plan = replace(plan, reason="invalid_query")
        return Served(engine.method, plan, found, denied), words

    def _with_vector(
        self, run: MessageRun, plan: Plan, index: SearchedIndex, words: IndexWords, vector: Vector
    ) -> Served:
        halves: dict[Stage, Half] = {"vector": lambda where: nearest(index, vector, where)}
        if plan.mode != "semantic":
            halves = {"lexical": lambda where: words.top(where, message_search.POOL), **halves}
        if "lexical" in halves:
            with run.stage("lexical"):
                ask_both_halves(index, words.terms, vector, run.scope.searched)
        found: dict[Stage, RawScores] = {}
        for stage, ask in halves.items():
            with run.stage(stage):
                found[stage] = ask(run.scope.searched)
        near, lexical = found["vector"], found.get("lexical")
        if not near and lexical is None and words.top(run.scope.searched, 1):
            # Nothing that may be found has a vector: it waits for one, or the model refuses it.
            raise EmbeddingUnavailable("what matches by words has no vector")
        with run.watch.stage("fusion"):
            ranked = self._fused(run, index, words, near, lexical)
        if plan.mode == "hybrid_rerank":
            try:
                ranked = self._reranked(run, ranked)
            except RerankerUnavailable as error:
                run.lose("reranker", "feature_unavailable", error)
                plan = replace(plan, mode="hybrid", reason="feature_unavailable")
        return Served("text_match", plan, self._page(run, ranked, plan.engine), self._denied(run, halves))

    def _fused(
        self, run: MessageRun, index: SearchedIndex, words: IndexWords, near: RawScores, lexical: RawScores | None
    ) -> Ranked:
        if lexical is None:
            return fuse.semantic(near)
        if run.request.fused_by == "rrf":
            return fuse.by_ranks(lexical, near, run.request.rrf_k or RRF_K)
        ranked = fuse.by_coverage(lexical, near, words.most, pool=message_search.POOL)
        return threads.lifted(ranked, threads.threads_in(index)) if may_differ_by_thread(run.scope.searched) else ranked

    def _reranked(self, run: MessageRun, ranked: Ranked) -> Ranked:
        head = [match.id for match in ranked.matches[: run.request.rerank_top_k]]
        if self._reranker is None or not head:
            return ranked
        left_s = run.budget.left_s(NO_RERANK_MS)
        timeout_s = self._rerank_timeout_s if left_s is None else min(self._rerank_timeout_s, left_s)
        if timeout_s <= 0.0:
            raise RerankerUnavailable("no time is left for it")
        with run.stage("rerank"):
            texts = self._database.read(lambda session: MailSearchRepository(session).texts(head))
            logits = self._reranker.logits(run.request.text, [texts.get(id_, "") for id_ in head], timeout_s=timeout_s)
        return fuse.reranked(ranked, logits, blend_for("messages", self._reranker.name))

    def _page(self, run: MessageRun, ranking: Ranking, engine: CursorEngine) -> Page:
        cursor = run.cursor(engine)
        if run.request.ranking == "relevance":
            return page.by_relevance(ranking, run.request, cursor, run.offset, engine)
        return by_recency(ranking, run.request, cursor, run.offset, engine, Times(self._database, run.scope.searched))

    def _denied(self, run: MessageRun, halves: Mapping[Stage, Half]) -> int:
        """Count the candidates that the scope leaves out, where explain asks for it."""
        scope = run.scope.requested
        if scope is None or not run.scope.leaves_out or not run.request.explain:
            return 0
        ids: set[int] = set()
        for stage, ask in halves.items():
            with run.stage(stage, timed_as="scope"):
                ids.update(id_ for id_, _ in ask(run.scope.unscoped))
        with run.watch.stage("scope"):
            return len(self._database.read(lambda session: MailSearchRepository(session).outside(sorted(ids), scope)))

    def _all_listed(self, where: MailFilter) -> RawScores:
        rows = self._database.read(
            lambda session: MailSearchRepository(session).listed(
                where, newest_first=False, after=None, limit=message_search.POOL
            )
        )
        return [(id_, 1.0) for id_, _ in rows]
