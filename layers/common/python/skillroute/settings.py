"""Every setting, read from the environment in one place, once, when a function starts.

Each variable is the field's name in capitals behind ``SKILLROUTE_``. A wrong value stops the process at its start with
the name of the variable.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from skillroute.errors import ConfigurationError

_ON_LAMBDA = Path("/opt/models/all-minilm-l6-v2")
_IN_REPOSITORY = Path(__file__).parents[3] / "inference" / "models" / "all-minilm-l6-v2"


def _default_model_dir() -> Path:
    """Where the inference layer puts the model on Lambda, else where the repository keeps it."""
    return _ON_LAMBDA if _ON_LAMBDA.exists() else _IN_REPOSITORY


class _Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="SKILLROUTE_",
        frozen=True,
        extra="ignore",
        # A template can leave a variable out only by setting it to nothing.
        env_ignore_empty=True,
    )

    @classmethod
    def load(cls) -> Self:
        """Read the environment.

        Raises
        ------
        ConfigurationError
            A variable is missing or wrong; the message names each one.
        """
        try:
            return cls()
        except ValidationError as error:
            problems = "; ".join(
                f"{'SKILLROUTE_' + str(e['loc'][0]).upper() if e['loc'] else 'settings'}: {e['msg']}"
                for e in error.errors(include_input=False, include_url=False)
            )
            raise ConfigurationError(problems) from None


class DatabaseSettings(_Settings):
    """How to reach PostgreSQL."""

    database_url: SecretStr = Field(description="postgresql://user:password@host:port/database?sslmode=require")
    database_connect_timeout_s: float = Field(2.0, gt=0, le=30)
    database_statement_timeout_s: float = Field(20.0, gt=0, le=300)
    database_pool_size: int = Field(8, ge=1, le=100, description="Connections kept open by one process.")


class EmbeddingSettings(_Settings):
    """Which model embeds. The search and the catalogue must use the same."""

    embedding_provider: Literal["onnx", "openai", "bedrock", "hashing"] = "onnx"
    model_dir: Path = Field(default_factory=_default_model_dir)
    embedding_model: str | None = Field(None, description="Model id for openai and bedrock.")
    embedding_dimension: int | None = Field(None, ge=1, le=8192)
    openai_base_url: str = "https://api.openai.com/v1"
    openai_api_key: SecretStr | None = None
    openai_send_dimensions: bool = Field(
        False, description="Ask the endpoint for embedding_dimension dimensions; only some models can shorten."
    )
    bedrock_region: str | None = None
    query_timeout_s: float = Field(10.0, gt=0, le=10, description="The most a query waits for its embedding (EC-009).")
    query_cache_size: int = Field(2048, ge=0, le=1_000_000, description="Query embeddings remembered by one process.")
    embedding_retry_after_s: float = Field(30.0, ge=0, description="How long a failure is remembered (decisions 9).")
    batch_timeout_s: float = Field(60.0, gt=0, le=600, description="The most a batch of documents waits.")

    @model_validator(mode="after")
    def _remote_models_are_named(self) -> Self:
        if self.embedding_provider in {"openai", "bedrock"} and not (self.embedding_model and self.embedding_dimension):
            raise ValueError(
                f"SKILLROUTE_EMBEDDING_PROVIDER={self.embedding_provider} needs SKILLROUTE_EMBEDDING_MODEL and "
                "SKILLROUTE_EMBEDDING_DIMENSION"
            )
        return self


class IndexSettings(_Settings):
    """Which vector index: embedded when no URL is given, else a Qdrant server."""

    qdrant_url: str | None = None
    qdrant_api_key: SecretStr | None = None
    qdrant_timeout_s: float = Field(2.0, gt=0, le=30)
    qdrant_prefix: str = Field("", description="Put before collection names, where several deployments share a server.")
    index_dir: Path | None = Field(None, description="Where replicas live; a temporary folder when not set.")
    index_optimize_above: int = Field(
        0, ge=0, description="From this many items on, an index graph is built in a child process; 0 never does."
    )


class WebSettings(_Settings):
    """What every HTTP function needs."""

    auth: Literal["jwt", "iam", "none"] = Field("none", description="Who vouches for callers; none: the laptop only.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @model_validator(mode="after")
    def _nothing_is_open_to_the_world(self) -> Self:
        if self.auth == "none" and "AWS_LAMBDA_FUNCTION_NAME" in os.environ:
            raise ValueError("SKILLROUTE_AUTH must be jwt or iam on Lambda")
        return self


class QueueSettings(_Settings):
    """Where work is sent and people are told. Without queues skills are aggregated at once, and tools wait."""

    classify_queue_url: str | None = None
    aggregate_queue_url: str | None = None
    classify_dlq_url: str | None = None
    aggregate_dlq_url: str | None = None
    sqs_endpoint_url: str | None = Field(None, description="Of a local SQS; none on AWS.")
    queue_max_receives: int = Field(5, ge=1, le=1000, description="The redrive policy's maxReceiveCount.")
    aggregate_delay_s: int = Field(2, ge=0, le=900, description="How long changes to one skill are collected.")
    notification_topic_arn: str | None = Field(None, description="SNS topic for suggestions and dead letters.")
    auto_approve_after: int = Field(3, ge=0, le=1000, description="Tools that make a suggestion a skill; 0: never.")
    skill_description_share: float = Field(
        0.0, ge=0, le=1, description="How much of a skill's vector is its description's; 0.3 is the 70/30 mix."
    )


class ClassifierSettings(_Settings):
    """Who classifies, and which language model answers."""

    classifier: Literal["similarity", "llm"] = Field("similarity", description="llm asks the chat model.")
    chat_provider: Literal["none", "openai", "bedrock"] = "none"
    chat_model: str | None = Field(None, description="Model id at the chat provider.")
    chat_base_url: str = "https://api.openai.com/v1"
    chat_api_key: SecretStr | None = None
    chat_region: str | None = Field(None, description="Of Bedrock; the function's own when not set.")
    chat_timeout_s: float = Field(10.0, gt=0, le=60, description="The most that one attempt may take.")
    classify_prompt_tokens: int = Field(6000, ge=500, le=200_000, description="Budget for the skills in a prompt.")
    classify_concurrency: int = Field(5, ge=1, le=50, description="Tools that the chat model is asked about at once.")

    @model_validator(mode="after")
    def _a_language_model_is_named(self) -> Self:
        if self.chat_provider != "none" and not self.chat_model:
            raise ValueError(f"SKILLROUTE_CHAT_PROVIDER={self.chat_provider} needs SKILLROUTE_CHAT_MODEL")
        if self.classifier == "llm" and self.chat_provider == "none":
            raise ValueError("SKILLROUTE_CLASSIFIER=llm needs SKILLROUTE_CHAT_PROVIDER and SKILLROUTE_CHAT_MODEL")
        return self


class CoreSettings(DatabaseSettings, EmbeddingSettings, IndexSettings, QueueSettings):
    """What every function needs that writes."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"


class AggregateSettings(CoreSettings):
    """Everything that the aggregate function reads."""


class RelaySettings(CoreSettings):
    """Everything that the relay function reads."""

    requeue_after_s: float = Field(4 * 3600.0, gt=0, description="When work whose message got lost is published again.")
    prune_after_s: float = Field(7 * 86_400.0, gt=0, description="How long changes of deleted items are kept.")


class ClassifySettings(CoreSettings, ClassifierSettings):
    """Everything that the classify function reads."""


class CatalogSettings(CoreSettings, WebSettings):
    """Everything that the catalog function reads."""


class SkillsSettings(CatalogSettings, ClassifierSettings):
    """Everything that the skills function reads."""


class SearchSettings(CatalogSettings):
    """Everything that the search function reads."""

    database_statement_timeout_s: float = Field(5.0, gt=0, le=300)
    default_mode: Literal["semantic", "lexical"] = "semantic"
    hybrid_skill_weight: float = Field(
        0.1,
        ge=0,
        le=1,
        description="How far a matched skill lifts its tools in the hybrid strategy (decisions 7). Chosen by "
        "benchmarks/tune_hybrid.py: on the judged sets lifting does not pay, and 0.1 costs a point at most.",
    )
    schema_cache_size: int = Field(4096, ge=0, description="Schemas remembered by one process, by content hash.")


class LocalSettings(SearchSettings, SkillsSettings, RelaySettings):
    """Everything that a laptop's one process reads."""
