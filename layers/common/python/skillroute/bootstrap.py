"""The composition root: the one place that knows which adapter stands behind which port.

Everything is made when it is first asked for, so a function imports and opens only what it uses. Tests and the laptop
pass parts of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from skillroute.domain.embedding import EmbeddingModel
from skillroute.errors import ConfigurationError, SkillrouteError
from skillroute.observability import logger
from skillroute.ports import ChangeFeed, Database, Embedder, IndexReplica, VectorIndex
from skillroute.settings import CatalogSettings, EmbeddingSettings, IndexSettings, SearchSettings

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI

    from skillroute.search.embed import QueryEmbedder
    from skillroute.search.tools import ToolSearch
    from skillroute.services.aggregate_skill import AggregateSkill
    from skillroute.services.assign_skills import AssignSkills
    from skillroute.services.catalogue import Catalogue
    from skillroute.services.create_skill import CreateSkill
    from skillroute.services.embed_missing import EmbedMissing
    from skillroute.services.reindex import Reindex
    from skillroute.services.sync_tools import SyncTools
    from skillroute.storage.index.embedded import Built
    from skillroute.storage.postgres.connection import Pool


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    """Return the configured embedding provider. Nothing is loaded or connected yet."""
    provider = settings.embedding_provider
    if provider == "onnx":
        from skillroute.providers.embedding.onnx import OnnxEmbedder

        return OnnxEmbedder(settings.model_dir)
    if provider == "hashing":
        from skillroute.providers.embedding.hashing import HashingEmbedder

        return HashingEmbedder(settings.embedding_dimension or 384)
    if not settings.embedding_model or not settings.embedding_dimension:
        raise ConfigurationError(f"the embedding provider {provider} needs a model and a dimension")
    model = EmbeddingModel(settings.embedding_model, settings.embedding_dimension)
    if provider == "openai":
        from skillroute.providers.embedding.openai import OpenAIEmbedder

        key = settings.openai_api_key
        return OpenAIEmbedder(
            model,
            base_url=settings.openai_base_url,
            api_key=key.get_secret_value() if key else None,
            send_dimensions=settings.openai_send_dimensions,
        )
    from skillroute.providers.embedding.bedrock import BedrockEmbedder

    return BedrockEmbedder(model, region=settings.bedrock_region)


def make_replica(
    settings: IndexSettings,
    feed: ChangeFeed,
    pool: Pool,
    configured_model: Callable[[], EmbeddingModel | None],
    database_url: str,
) -> IndexReplica:
    """Return the configured index: embedded in this process, or a Qdrant server."""
    if settings.qdrant_url:
        from skillroute.storage.index.qdrant import QdrantIndex
        from skillroute.storage.index.shared import Opened, SharedReplica
        from skillroute.storage.postgres.feed import SharedPosition

        url, key = settings.qdrant_url, settings.qdrant_api_key

        def open_server(model: EmbeddingModel) -> Opened:
            # Characters that Qdrant takes in a collection's name; Bedrock's model ids have colons.
            prefix = settings.qdrant_prefix + re.sub(r"[^\w.-]", "_", f"{model.name}-{model.dimension}-")
            index = QdrantIndex.connect(
                url,
                key.get_secret_value() if key else None,
                model.dimension,
                settings.qdrant_timeout_s,
                prefix=prefix,
            )
            return Opened(model, index, SharedPosition(pool, f"qdrant:{prefix}"))

        return SharedReplica(feed, open_server, configured_model)

    from skillroute.storage.index.embedded import EmbeddedReplica
    from skillroute.storage.index.replica_files import ThrowawayEdgeIndex, new_replica_dir

    def make_edge(model: EmbeddingModel) -> VectorIndex:
        return ThrowawayEdgeIndex(new_replica_dir(settings.index_dir), model.dimension)

    def make_optimised(model: EmbeddingModel) -> Built:
        from skillroute.storage.index.child_build import build_in_child

        return build_in_child(database_url, settings.index_dir, model)

    return EmbeddedReplica(
        feed,
        make_edge,
        configured_model,
        make_optimised=make_optimised if settings.index_optimize_above else None,
        optimise_above=settings.index_optimize_above,
    )


class Parts:
    """All parts of one process, each made when first asked for.

    Parameters
    ----------
    settings : CatalogSettings or SearchSettings
    embedder, replica : optional
        Parts to use instead of the configured ones.
    """

    def __init__(
        self,
        settings: CatalogSettings,
        *,
        embedder: Embedder | None = None,
        replica: IndexReplica | None = None,
        database: Database | None = None,
    ) -> None:
        self.settings = settings
        self._embedder = embedder
        self._replica = replica
        self._database = database

    @cached_property
    def pool(self) -> Pool:
        from skillroute.storage.postgres.connection import Pool

        return Pool(
            self.settings.database_url.get_secret_value(),
            size=self.settings.database_pool_size,
            connect_timeout_s=self.settings.database_connect_timeout_s,
            statement_timeout_s=self.settings.database_statement_timeout_s,
        )

    @cached_property
    def database(self) -> Database:
        from skillroute.storage.postgres.database import PostgresDatabase

        return self._database or PostgresDatabase(self.pool)

    @cached_property
    def feed(self) -> ChangeFeed:
        from skillroute.storage.postgres.feed import PostgresFeed

        return PostgresFeed(self.pool)

    @cached_property
    def embedder(self) -> Embedder:
        return self._embedder or make_embedder(self.settings)

    @cached_property
    def query_embedder(self) -> QueryEmbedder:
        from skillroute.search.embed import QueryEmbedder

        return QueryEmbedder(
            self.embedder,
            timeout_s=self.settings.query_timeout_s,
            cache_size=self.settings.query_cache_size,
            retry_after_s=self.settings.embedding_retry_after_s,
        )

    @cached_property
    def replica(self) -> IndexReplica:
        return self._replica or make_replica(
            self.settings,
            self.feed,
            self.pool,
            self.query_embedder.model,
            self.settings.database_url.get_secret_value(),
        )

    @cached_property
    def tool_search(self) -> ToolSearch:
        from skillroute.search.enrich import SchemaLoader
        from skillroute.search.tools import ToolSearch

        settings = self.settings
        if not isinstance(settings, SearchSettings):
            raise ConfigurationError("searching needs the settings of the search function")
        return ToolSearch(
            self.replica,
            self.query_embedder,
            SchemaLoader(self.database, cache_size=settings.schema_cache_size),
            default_ranking=settings.default_mode,
            hybrid_skill_weight=settings.hybrid_skill_weight,
        )

    @cached_property
    def sync_tools(self) -> SyncTools:
        from skillroute.services.sync_tools import SyncTools

        return SyncTools(
            self.database,
            self.embedder,
            self.aggregate_skill,
            after_commit=self.after_commit,
            timeout_s=self.settings.batch_timeout_s,
        )

    @cached_property
    def catalogue(self) -> Catalogue:
        from skillroute.services.catalogue import Catalogue

        return Catalogue(self.database, self.aggregate_skill, after_commit=self.after_commit)

    @cached_property
    def aggregate_skill(self) -> AggregateSkill:
        from skillroute.services.aggregate_skill import AggregateSkill

        return AggregateSkill(self.database)

    @cached_property
    def create_skill(self) -> CreateSkill:
        from skillroute.services.create_skill import CreateSkill

        return CreateSkill(self.database, self.embedder, after_commit=self.after_commit)

    @cached_property
    def assign_skills(self) -> AssignSkills:
        from skillroute.services.assign_skills import AssignSkills

        return AssignSkills(self.database, self.aggregate_skill, after_commit=self.after_commit)

    @cached_property
    def reindex(self) -> Reindex:
        from skillroute.services.reindex import Reindex

        return Reindex(
            self.database,
            self.embedder,
            self.aggregate_skill,
            after_commit=self.after_commit,
            timeout_s=self.settings.batch_timeout_s,
        )

    @cached_property
    def embed_missing(self) -> EmbedMissing:
        from skillroute.services.embed_missing import EmbedMissing

        return EmbedMissing(
            self.database,
            self.embedder,
            self.aggregate_skill,
            after_commit=self.after_commit,
            timeout_s=self.settings.batch_timeout_s,
        )

    def after_commit(self) -> None:
        """Bring an index server up to date; embedded replicas look for themselves."""
        if not self.settings.qdrant_url:
            return
        try:
            with self.replica.current():
                pass
        except SkillrouteError as error:
            # What was written is safe; the next search or write carries it over.
            logger.warning("index server left behind", extra={"reason": str(error)})

    def search_routers(self) -> list[APIRouter]:
        """Return the routes of the search function."""
        from skillroute.web.health import health_router
        from skillroute.web.search_routes import search_router

        return [search_router(self.tool_search, self.settings.auth), health_router(self.replica, self.query_embedder)]

    def catalog_routers(self) -> list[APIRouter]:
        """Return the routes of the catalog function."""
        from skillroute.web.catalog_routes import catalog_router

        return [catalog_router(self.sync_tools, self.catalogue, self.settings.auth)]

    def close(self) -> None:
        """Let go of the index and of idle connections."""
        if "replica" in self.__dict__:
            self.replica.close()
        if "pool" in self.__dict__:
            self.pool.close()


def search_app(settings: SearchSettings | None = None) -> FastAPI:
    """Return the search function's app; `app.state.parts` closes what it opened."""
    parts = Parts(settings or SearchSettings.load())
    return _app(parts, parts.search_routers(), "Skillroute search")


def catalog_app(settings: CatalogSettings | None = None) -> FastAPI:
    """Return the catalog function's app; `app.state.parts` closes what it opened."""
    parts = Parts(settings or CatalogSettings.load())
    return _app(parts, parts.catalog_routers(), "Skillroute catalogue")


def _app(parts: Parts, routers: list[APIRouter], title: str) -> FastAPI:
    from skillroute.web.app import create_app

    app = create_app(routers, title=title)
    app.state.parts = parts
    return app
