"""Message search: the stages strung together, and what happens when one of them fails (message-search.md)."""

from __future__ import annotations

from collections.abc import Mapping

from skillroute.core.caller import Caller
from skillroute.core.documents.replica_port import IndexReplica
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import EmbeddingUnavailable, IndexNotReady, IndexUnavailable
from skillroute.core.postgres.database import Database
from skillroute.core.reranking.port import Reranker
from skillroute.core.time.timing import Stopwatch
from skillroute.mail.search.answer import outcome
from skillroute.mail.search.answers import MessageSearchResponse
from skillroute.mail.search.budget import Budget
from skillroute.mail.search.engines import Engines, Served
from skillroute.mail.search.facets import facets
from skillroute.mail.search.model import EngineSetting, MessageSearchRequest
from skillroute.mail.search.outcome import SearchOutcome
from skillroute.mail.search.page import Page
from skillroute.mail.search.plan import default_mode, plan
from skillroute.mail.search.run import MessageRun
from skillroute.mail.search.scope import search_scope
from skillroute.mail.search.shadow import Shadow
from skillroute.mail.text import query_terms

_NOTHING = Page([], None)


class MessageSearch:
    """Searches messages, the agents that write them, and the projects they belong to.

    Parameters
    ----------
    replica : IndexReplica
    embedder : QueryEmbedder
    database : Database
    reranker : Reranker or None
        Without one `hybrid_rerank` is served as `hybrid`.
    setting : "postgres", "bm25", "shadow", "hybrid" or None
        What the deployment says of engines; None goes by what is there.
    shadow_timeout_s : float
        The most that an answer waits for the shadow's.
    rerank_timeout_s : float
        The most that a search waits for the reranker.
    index_wait_s : float
        The most that a search waits for the process's first index to be built; meanwhile PostgreSQL answers.
    """

    def __init__(
        self,
        replica: IndexReplica,
        embedder: QueryEmbedder,
        database: Database,
        reranker: Reranker | None = None,
        *,
        setting: EngineSetting | None = None,
        shadow_timeout_s: float = 0.1,
        rerank_timeout_s: float = 2.0,
        index_wait_s: float = 5.0,
    ) -> None:
        self._database = database
        self._setting: EngineSetting | None = setting
        self._has_reranker = reranker is not None
        self._engines = Engines(
            replica,
            embedder.for_messages(),
            database,
            reranker,
            shadow=Shadow(replica, timeout_s=shadow_timeout_s) if setting == "shadow" else None,
            rerank_timeout_s=rerank_timeout_s,
            index_wait_s=index_wait_s,
        )

    def __call__(self, request: MessageSearchRequest, caller: Caller) -> MessageSearchResponse:
        """Answer `POST /api/v1/search/messages`. Raises `DatabaseUnavailable`."""
        return self.search(request, caller).response

    def search(
        self, request: MessageSearchRequest, caller: Caller, *, budget: Budget | None = None, offset: int = 0
    ) -> SearchOutcome:
        """Answer a query. Whatever else is away, the answer is what can be found without it, and says so.

        Parameters
        ----------
        budget : Budget or None
            The time that is left; None is all the time there is.
        offset : int
            Results to pass over before the page; 0 with a cursor.

        Raises
        ------
        DatabaseUnavailable
            PostgreSQL cannot be reached.
        """
        run = self._begun(request, caller, budget or Budget(), offset)
        return outcome(run, self._served(run), self._database)

    def _begun(self, request: MessageSearchRequest, caller: Caller, budget: Budget, offset: int) -> MessageRun:
        watch, wanted = Stopwatch(), facets(request, caller.org_id)
        with watch.stage("scope"):
            view = search_scope(self._database, request, caller, wanted)
        requested = default_mode(request.mode, self._setting)
        run = MessageRun(request, caller, wanted, view, requested, budget, offset, watch)
        if not self._has_reranker:
            run.missing["reranker"] = "feature_unavailable"
        run.fit()
        return run

    def _served(self, run: MessageRun) -> Served:
        if not run.request.text:
            return self._engines.listed(run) if run.facets.applied else Served("empty", None, _NOTHING)
        terms = query_terms(run.request.text)
        if not terms:
            return Served("text_match", None, _NOTHING)
        if self._setting in ("postgres", "shadow"):
            run.index_state = "bypassed"
        if run.scope.unscoped.passes_nothing:
            # As if it had been searched: what cannot be seen takes no time either.
            chosen = plan(run.requested, self._setting, run.missing)
            run.cursor(chosen.engine)
            return Served("text_match", chosen, _NOTHING)
        return self._searched(run, terms)

    def _searched(self, run: MessageRun, terms: Mapping[str, float]) -> Served:
        """Try what is planned; what fails is missing from the next plan, and the last one needs PostgreSQL alone."""
        while True:
            chosen = plan(run.requested, self._setting, run.missing)
            try:
                return self._engines.searched(run, chosen, terms)
            except IndexNotReady as error:
                run.lose("index", "index_not_ready", error)
            except IndexUnavailable as error:
                run.lose("index", "engine_error", error)
            except EmbeddingUnavailable as error:
                run.lose("model", "feature_unavailable", error)
