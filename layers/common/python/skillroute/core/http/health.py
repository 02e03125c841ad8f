"""`/health` and `/ready`: how the parts stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field, create_model

from skillroute import __version__
from skillroute.core.caller import Caller, Scope
from skillroute.core.documents.collection import counted_as
from skillroute.core.documents.replica_port import IndexReplica, IndexStatus
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.errors.model import (
    DatabaseUnavailable,
    DependencyUnavailable,
    EmbeddingModelMismatch,
    EmbeddingUnavailable,
    IndexUnavailable,
    SkillrouteError,
)
from skillroute.core.http.body import SafeJsonRoute
from skillroute.core.http.docs import IDENTITY, UNKNOWN_PARAMETER
from skillroute.core.http.use_cases import anyone, given
from skillroute.core.observability import counts, logger
from skillroute.core.recent_searches import FoundNothing, RecentSearches, StageTimes
from skillroute.core.search_run import SearchMode


class Dependency(BaseModel):
    """How one part stands."""

    ok: bool
    detail: str | None = None


class Asker(BaseModel):
    """Who asks, as the deployment sees them."""

    org_id: str | None = Field(description="The organisation of the caller; null for a caller without one.")
    scopes: list[Scope] = Field(description="What the caller may do; `admin` includes the others.")


class HealthBase(BaseModel):
    """How the service stands, but for what its index holds."""

    status: Literal["ok", "degraded", "unavailable"] = Field(
        description="degraded: searches are answered, not as well as they could be. unavailable: they are not."
    )
    version: str
    caller: Asker | None = Field(None, description="The organisation and the scopes of the request's own token.")
    search_mode: SearchMode = Field(
        description="How a search that names no mode is ranked now: the deployment's default mode, or lexical-only "
        "while the embedding model is away."
    )
    modes: list[SearchMode] = Field(
        description="What a search can be ranked by: `hybrid_rerank` only where a reranker is configured, without "
        "which it is answered as hybrid."
    )
    dependencies: dict[str, Dependency] = Field(description="Which part is away, and what is known of the reason.")
    index_lag: int | None = Field(
        description="Changes that were not in the index when asked; null when PostgreSQL cannot be asked. "
        "This and all below are of all organisations: null but for scope admin without an organisation."
    )
    index_rebuilding: bool | None
    embedding_refused: int | None = Field(
        description="Texts that the embedding model does not take, found by words only: `skillroute dlq refused` lists "
        "them. Null when PostgreSQL cannot be asked."
    )
    counts: dict[str, float] | None = Field(description="What this process has counted since it started.")
    latency: dict[str, StageTimes] | None = Field(
        description="How long the stages of the last 500 tool searches of this process took, and `total`, in "
        "milliseconds. Stages that did not run are left out."
    )
    found_nothing: list[FoundNothing] | None = Field(
        description="The last 50 requests to this process that nothing seemed to fit (`no_match`), the last one first; "
        "without those of members of an organisation."
    )


_COUNT_OF = {f"index_{each.field}": collection for collection, each in counted_as().items()}
_COUNTS: dict[str, Any] = {
    field: (int | None, Field(description=collection.counted_as.description)) for field, collection in _COUNT_OF.items()
}
Health = create_model("Health", __base__=HealthBase, __doc__="How the service stands.", **_COUNTS)
_BEHIND = "it lacks changes that are committed"
_OF_OPERATORS = (
    "index_lag",
    "index_rebuilding",
    "embedding_refused",
    "counts",
    "latency",
    "found_nothing",
    *_COUNT_OF,
)


@dataclass(frozen=True)
class HealthReport:
    """Asks all parts how they stand.

    Attributes
    ----------
    replica : IndexReplica
    embedder : QueryEmbedder
    refused : callable
        Counts texts that the model does not take.
    default_mode : str
        Ranks the searches that name no mode.
    recent : RecentSearches
    reranks : bool
        Whether there is a reranker.
    """

    replica: IndexReplica
    embedder: QueryEmbedder
    refused: Callable[[], int]
    default_mode: SearchMode
    recent: RecentSearches
    reranks: bool

    def to(self, caller: Caller) -> HealthBase:
        """Return how the parts stand.

        Numbers are of all organisations: they are for the operator of the deployment, as one more or less would show
        what another organisation writes (decision 30).
        """
        asker = Asker(org_id=caller.org_id, scopes=sorted(caller.scopes))
        hidden = () if caller.runs_deployment else _OF_OPERATORS
        return self._report().model_copy(update={"caller": asker, **dict.fromkeys(hidden)})

    def _report(self) -> HealthBase:
        index, problems = self._parts()
        database, model = problems.get("database"), problems.get("embedding_model")
        index_problem = problems.get("index") or database
        is_stale = index is not None and index.stale
        modes: list[SearchMode] = ["semantic", "lexical", "hybrid"]
        return Health(
            status="unavailable" if index_problem is not None else "degraded" if model or is_stale else "ok",
            version=__version__,
            # By words alone no search needs the model.
            search_mode="lexical-only" if model and self.default_mode != "lexical" else self.default_mode,
            modes=[*modes, "hybrid_rerank"] if self.reranks else modes,
            dependencies={
                "database": Dependency(ok=database is None, detail=database),
                "index": Dependency(ok=index_problem is None, detail=index_problem or (_BEHIND if is_stale else None)),
                "embedding_model": Dependency(ok=model is None, detail=model),
            },
            index_lag=index.lag if index else None,
            index_rebuilding=index.rebuilding if index else False,
            embedding_refused=self._count_refused() if database is None else None,
            counts=counts(),
            latency=self.recent.latency(),
            found_nothing=self.recent.found_nothing(),
            **{field: index.counts.get(of, 0) if index else None for field, of in _COUNT_OF.items()},
        )

    def _parts(self) -> tuple[IndexStatus | None, dict[str, str]]:
        """Return the status of the index, and of each part that is away why."""
        index, problems = None, {}
        if not self.embedder.model():
            problems["embedding_model"] = EmbeddingUnavailable.public_message
        try:
            index = self.replica.status()  # first: borrowing the index brings it up to date
            with self.replica.current() as lent:
                problem = problems.get("embedding_model") or _model_problem(self.embedder, lent.model)
                if problem is not None:
                    problems["embedding_model"] = problem
                if not index.ready:
                    index = self.replica.status()
        except SkillrouteError as error:
            logger.warning("dependency unavailable", extra={"reason": str(error)})
            known = error if isinstance(error, DependencyUnavailable) else IndexUnavailable
            problems["database" if isinstance(error, DatabaseUnavailable) else "index"] = known.public_message
        return index, problems

    def _count_refused(self) -> int | None:
        try:
            return self.refused()
        except SkillrouteError as error:
            logger.warning("dependency unavailable", extra={"reason": str(error)})
            return None


def _model_problem(embedder: QueryEmbedder, model: EmbeddingModel) -> str | None:
    """Return why queries are not embedded with the model of the vectors; the log says more."""
    own = embedder.model()
    if own and not embedder.can_embed(model):
        return EmbeddingModelMismatch(stored=str(model), configured=str(own)).public_message
    return EmbeddingUnavailable.public_message if embedder.failure(model) else None


router = APIRouter(tags=["operations"], route_class=SafeJsonRoute, responses=IDENTITY | UNKNOWN_PARAMETER)

# Versions and outages are for any identity, and for none but those.
Anyone = Annotated[Caller, Depends(anyone())]
Report = Annotated[HealthReport, given(HealthReport)]


@router.get("/health", response_model=Health, summary="How the parts stand; 200 as long as the process answers")
def get_health(caller: Anyone, report: Report) -> HealthBase:
    """Say how the parts stand. The numbers are for callers who run the deployment, and null for others."""
    return report.to(caller)


@router.get(
    "/ready",
    response_model=Health,
    summary="Whether searches are answered; 503 when they are not",
    responses={503: {"model": Health, "description": "Searches are not answered."}},
)
def get_readiness(response: Response, caller: Anyone, report: Report) -> HealthBase:
    """Say the same as `/health`, with a status that load balancers understand."""
    found = report.to(caller)
    if found.status == "unavailable":
        response.status_code = 503
    return found
