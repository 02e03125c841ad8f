"""Every setting, read from the environment in one place, once, when a function starts.

Each variable is the field's name in capitals behind ``SKILLROUTE_``. A wrong value stops the process at its start with
the name of the variable. Here is what each function reads; what its parts read stands beside.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillroute.core.settings.models import ClassifierSettings, EmbeddingSettings, RerankSettings
from skillroute.core.settings.stores import DatabaseSettings, IndexSettings, MigrationSettings, QueueSettings
from skillroute.core.settings.web import WebSettings

__all__ = [
    "AggregateSettings",
    "CatalogSettings",
    "ClassifierSettings",
    "ClassifySettings",
    "CoreSettings",
    "DatabaseSettings",
    "EmbeddingSettings",
    "IndexSettings",
    "LocalSettings",
    "McpSettings",
    "MigrationSettings",
    "QueueSettings",
    "RelaySettings",
    "RerankSettings",
    "SearchSettings",
    "SkillsSettings",
    "WebSettings",
]


class CoreSettings(DatabaseSettings, EmbeddingSettings, IndexSettings, QueueSettings):
    """The settings of every function that writes."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    initialization_type: str | None = Field(
        None,
        validation_alias="AWS_LAMBDA_INITIALIZATION_TYPE",
        description="Set by Lambda: how this environment came to be.",
    )

    @property
    def starts_ahead(self) -> bool:
        """Whether this environment starts before its first request, which then does not wait for what was loaded."""
        return self.initialization_type in {"snap-start", "provisioned-concurrency"}


class AggregateSettings(CoreSettings):
    """Everything that the aggregate function reads."""


class RelaySettings(CoreSettings, MigrationSettings):
    """Everything that the relay function reads."""

    requeue_after_s: float = Field(4 * 3600.0, gt=0, description="When work whose message got lost is published again.")
    prune_after_s: float = Field(7 * 86_400.0, gt=0, description="How long changes of deleted items are kept.")


class ClassifySettings(CoreSettings, ClassifierSettings):
    """Everything that the classify function reads."""


class CatalogSettings(CoreSettings, WebSettings):
    """Everything that the catalog function reads."""


class SkillsSettings(CatalogSettings, ClassifierSettings):
    """Everything that the skills function reads."""


class SearchSettings(CatalogSettings, RerankSettings):
    """Everything that the search function reads."""

    database_statement_timeout_s: float = Field(5.0, gt=0, le=300)
    default_mode: Literal["semantic", "lexical", "hybrid", "hybrid_rerank"] = "hybrid"
    registry_fusion: Literal["boost", "rrf", "coverage"] = Field(
        "coverage", description="How registry searches that do not say so fuse their two halves (docs/adr/0040)."
    )
    hybrid_skill_weight: float = Field(
        0.1,
        ge=0,
        le=1,
        description="How far a matched skill lifts its tools in the hybrid strategy (decision 7). Chosen by "
        "docs/benchmarks.md: on the judged sets lifting does not pay, and 0.1 costs a point at most.",
    )
    no_match_below: float | None = Field(
        None,
        ge=0,
        le=1,
        description="The confidence in the first five results below which a search in mode hybrid says that nothing "
        "fits; by the embedding model when not set, and never with 0 (docs/adr/0041).",
    )
    schema_cache_size: int = Field(4096, ge=0, description="Schemas remembered by one process, by content hash.")
    search_engine: str | None = Field(
        None,
        description="Message search: fts5, tantivy, shadow or hybrid; by what is there when not set, or anything else.",
    )
    search_shadow_timeout_s: float = Field(
        0.1, gt=0, le=5, description="The most that an answer waits for the shadow's, which it is compared with."
    )
    search_index_wait_s: float = Field(
        5.0, ge=0, le=30, description="The most that a search of mail waits for a process's first index to be built."
    )


class McpSettings(SearchSettings):
    """Everything that the mcp function reads."""


class LocalSettings(SearchSettings, SkillsSettings, RelaySettings):
    """Everything that a laptop's one process reads."""
