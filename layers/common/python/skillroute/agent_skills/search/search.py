"""The search for Agent Skills: by meaning and by words, over descriptions and bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from skillroute.agent_skills.search.candidates import Candidate, PieceSearch
from skillroute.agent_skills.search.model import (
    AgentSkillDegradation,
    AgentSkillMatch,
    AgentSkillSearchMetadata,
    AgentSkillSearchMode,
    AgentSkillSearchRequest,
    AgentSkillSearchResponse,
    MatchedPiece,
    Part,
)
from skillroute.core.caller import Caller
from skillroute.core.documents.index_lease import IndexLease
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.replica_port import LendsIndex
from skillroute.core.documents.visibility import visible_to
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import EmbeddingUnavailable, IndexUnavailable
from skillroute.core.observability import Metric, count, observe_ms
from skillroute.core.postgres.database import Database
from skillroute.core.search_run import SearchRun

SNIPPET = 300
"""Characters of a piece that an answer shows."""


class AgentSkillSearch:
    """`POST /api/v1/search/agent-skills`."""

    def __init__(self, replica: LendsIndex, embedder: QueryEmbedder, database: Database) -> None:
        self._replica = replica
        self._embedder = embedder
        self._database = database

    def __call__(
        self,
        request: AgentSkillSearchRequest,
        caller: Caller,
        *,
        parts: Sequence[Part] | None = None,
        is_served: bool = False,
    ) -> AgentSkillSearchResponse:
        """Return the skills that fit a query, the best first.

        Without the embedding model the answer is by words alone, without the index it is empty; it says so.

        Parameters
        ----------
        parts : sequence of "description" or "body", optional
            Only these are searched: for measuring what each of them finds. By default all.
        is_served : bool
            Only skills that agents are served: not a global one whose path one of the organisation's own has.

        Raises
        ------
        DatabaseUnavailable
            PostgreSQL cannot be reached.
        """
        run = SearchRun(caller, search_mode="hybrid")
        of_parts = {} if parts is None else {"part": list(parts)}
        where = IndexFilter({**visible_to(caller).any_of, **of_parts})
        candidates = self._find(run, request, where)
        with run.watch.stage("load"):
            found = self._load(candidates, caller, request.limit, is_served=is_served)
        count(Metric.SEARCH)
        watch = run.watch
        observe_ms(Metric.SEARCH_TIME, watch.total_ms())
        return AgentSkillSearchResponse(
            query=request.query,
            search_mode=cast("AgentSkillSearchMode", run.search_mode),
            agent_skills=found,
            metadata=AgentSkillSearchMetadata(
                index=run.index,
                degraded=cast("list[AgentSkillDegradation]", run.degraded),
                query_embedding_time_ms=watch.ms("query_embedding"),
                search_time_ms=watch.ms("search"),
                load_time_ms=watch.ms("load"),
                index_sync_time_ms=watch.ms("index_sync"),
                total_time_ms=watch.total_ms(),
            ),
        )

    def _find(self, run: SearchRun, request: AgentSkillSearchRequest, where: IndexFilter) -> list[Candidate]:
        by_words: list[Candidate] = []
        try:
            with IndexLease(self._replica, run.watch, run.stale) as index:
                run.index = index.kind
                search = PieceSearch(index, where, request.limit)
                with run.watch.stage("search"):
                    by_words = search.by_words(request.query)
                with run.watch.stage("query_embedding"):
                    vector = self._embedder.embed(request.query, index.model)
                with run.watch.stage("search"):
                    found = search.by_meaning(request.query, vector, by_words)
        except EmbeddingUnavailable as error:
            run.degrade("embedding_unavailable", error)
        except IndexUnavailable as error:
            run.degrade("index_unavailable", error)
        else:
            if not found or any(candidate.similarity is not None for candidate in found):
                return found
            run.degrade("vectors_missing", EmbeddingUnavailable("what matches by words has no vector"))
        run.search_mode = "lexical-only"
        return by_words

    def _load(
        self, candidates: Sequence[Candidate], caller: Caller, limit: int, *, is_served: bool
    ) -> list[AgentSkillMatch]:
        # Some more than are shown: those that are gone since the index was asked are left out. Of two with one
        # path one stays, so that twice as many are enough.
        best = {int(candidate.best_piece): candidate for candidate in candidates[: 2 * limit]}
        if not best:
            return []
        rows = self._database.read(
            lambda session: session.run(
                "found_agent_skills", piece_ids=list(best), org_id=caller.org_id, is_served=is_served
            )
        )
        found = [
            AgentSkillMatch(
                id=id_,
                org_id=org_id,
                path=path,
                name=name,
                description=description,
                score=round(candidate.score, 6),
                similarity=candidate.similarity,
                matched=MatchedPiece(
                    part="body" if nth else "description", heading=heading or None, snippet=_snippet(content)
                ),
            )
            for candidate, (id_, org_id, path, name, description, nth, heading, content) in _paired(candidates, rows)
        ]
        return found[:limit]


def _paired(candidates: Sequence[Candidate], rows: Sequence[Sequence[Any]]) -> list[tuple[Candidate, Sequence[Any]]]:
    """Return each candidate that is still there with its row, in the order of the candidates."""
    row_of = {row[0]: row for row in rows}
    return [(candidate, row_of[candidate.id]) for candidate in candidates if candidate.id in row_of]


def _snippet(content: str) -> str:
    text = " ".join(content.split())
    if len(text) <= SNIPPET:
        return text
    cut = text[:SNIPPET]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[SNIPPET // 2 :] else cut}…"
