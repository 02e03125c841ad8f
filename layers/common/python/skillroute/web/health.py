"""`/health` and `/ready`: how the parts stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from skillroute import __version__
from skillroute.errors import DatabaseUnavailable, SkillrouteError
from skillroute.observability import counts
from skillroute.ports import IndexReplica
from skillroute.search.embed import QueryEmbedder


class Dependency(BaseModel):
    """How one part stands."""

    ok: bool
    detail: str | None = None


class Health(BaseModel):
    """How the service stands."""

    status: Literal["ok", "degraded", "unavailable"] = Field(
        description="degraded: searches are answered, not as well as they could be. unavailable: they are not."
    )
    version: str
    search_mode: Literal["semantic", "lexical-only"]
    index_lag: int | None = Field(
        description="Changes that were not in the index when asked; null when PostgreSQL cannot be asked."
    )
    index_items: int | None
    index_skills: int | None
    index_rebuilding: bool
    dependencies: dict[str, Dependency]
    counts: dict[str, float] = Field(description="What this process has counted since it started.")


def health_router(replica: IndexReplica, embedder: QueryEmbedder) -> APIRouter:
    """Return the two routes."""
    router = APIRouter(tags=["operations"])
    report = health_report(replica, embedder)

    @router.get("/health", summary="How the parts stand; 200 as long as the process answers")
    def health() -> Health:
        return report()

    @router.get(
        "/ready",
        summary="Whether searches are answered; 503 when they are not",
        responses={503: {"model": Health, "description": "Searches are not answered."}},
    )
    def ready(response: Response) -> Health:
        found = report()
        if found.status == "unavailable":
            response.status_code = 503
        return found

    return router


def health_report(replica: IndexReplica, embedder: QueryEmbedder) -> Callable[[], Health]:
    """Return a function that asks all parts how they stand."""

    def report() -> Health:
        model_problem = embedder.failure() or (None if embedder.model() else "the embedding model cannot be read")
        database_problem = index_problem = index = None
        try:
            index = replica.status()  # first: borrowing the index brings it up to date
            with replica.current():
                if not index.ready:
                    index = replica.status()
        except DatabaseUnavailable as error:
            database_problem = str(error)
        except SkillrouteError as error:
            index_problem = str(error)
        answered = database_problem is None and index_problem is None
        return Health(
            status="unavailable" if not answered else "degraded" if model_problem else "ok",
            version=__version__,
            search_mode="lexical-only" if model_problem else "semantic",
            index_lag=index.lag if index else None,
            index_items=index.items if index else None,
            index_skills=index.skills if index else None,
            index_rebuilding=index.rebuilding if index else False,
            dependencies={
                "database": Dependency(ok=database_problem is None, detail=database_problem),
                "index": Dependency(ok=answered, detail=index_problem or database_problem),
                "embedding_model": Dependency(ok=model_problem is None, detail=model_problem),
            },
            counts=counts(),
        )

    return report
