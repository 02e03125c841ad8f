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

from skillroute.core.embedding.packaged import default_model, models_dir, packaged_models
from skillroute.core.errors import ConfigurationError
from skillroute.core.http.cors import origins_of


class _Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="SKILLROUTE_",
        frozen=True,
        # Each function builds the model of its own settings alone: 30 ms of a start.
        defer_build=True,
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
    """How to reach PostgreSQL: by a URL, by a secret that is read on connecting, or with tokens of RDS."""

    database_url: SecretStr | None = Field(
        None, description="postgresql://user:password@host:port/database?sslmode=require"
    )
    database_secret_arn: str | None = Field(
        None, description="Secrets Manager secret: JSON with url, or with username, password and host, port, dbname."
    )
    database_user: str | None = Field(
        None, description="Logs in with tokens of RDS (IAM authentication) instead of a secret; needs _HOST and _NAME."
    )
    database_host: str | None = Field(None, description="Goes before the secret's: a proxy stands before its host.")
    database_port: int | None = Field(None, ge=1, le=65535)
    database_name: str | None = None
    database_sslmode: Literal["disable", "require", "verify-full"] | None = None
    database_connect_timeout_s: float = Field(2.0, gt=0, le=30)
    database_statement_timeout_s: float = Field(20.0, gt=0, le=300)
    database_pool_size: int = Field(8, ge=1, le=100, description="Connections kept open by one process.")

    @model_validator(mode="after")
    def _the_database_is_named_once(self) -> Self:
        if sum(source is not None for source in (self.database_url, self.database_secret_arn, self.database_user)) != 1:
            raise ValueError(
                "set one of SKILLROUTE_DATABASE_URL and SKILLROUTE_DATABASE_SECRET_ARN, or SKILLROUTE_DATABASE_USER"
            )
        if self.database_user is not None and not (self.database_host and self.database_name):
            raise ValueError("SKILLROUTE_DATABASE_USER needs SKILLROUTE_DATABASE_HOST and SKILLROUTE_DATABASE_NAME")
        return self


class MigrationSettings(DatabaseSettings):
    """Who migrates, and which logins are made then (docs/adr/0031)."""

    database_owner_secret_arn: str | None = Field(
        None, description="Secret of the login that owns the schema; the process's own login when not set."
    )
    database_reader_secret_arn: str | None = Field(None, description="Secret of the search function's login.")
    database_writer_secret_arn: str | None = Field(None, description="Secret of the other functions' login.")
    database_iam_logins: bool = Field(
        False, description="Make logins for tokens of RDS: the database's name with _reader_iam and _writer_iam."
    )


class EmbeddingSettings(_Settings):
    """Which model embeds. The search and the catalogue must use the same."""

    embedding_provider: Literal["onnx", "openai", "bedrock", "hashing"] = "onnx"
    model_dir: Path | None = Field(None, description="Folder of a model of one's own for onnx, not a packaged one.")
    embedding_model: str | None = Field(None, description="Model id for openai and bedrock, a packaged name for onnx.")
    embedding_dimension: int | None = Field(None, ge=1, le=8192)
    openai_base_url: str = "https://api.openai.com/v1"
    openai_api_key: SecretStr | None = None
    openai_api_key_secret_arn: str | None = Field(None, description="Secrets Manager secret with the key instead.")
    openai_send_dimensions: bool = Field(
        False, description="Ask the endpoint for embedding_dimension dimensions; only some models can shorten."
    )
    bedrock_region: str | None = None
    query_timeout_s: float = Field(10.0, gt=0, le=10, description="The most a query waits for its embedding (EC-009).")
    query_cache_size: int = Field(2048, ge=0, le=1_000_000, description="Query embeddings remembered by one process.")
    embedding_retry_after_s: float = Field(30.0, ge=0, description="How long a failure is remembered (decision 9).")
    batch_timeout_s: float = Field(60.0, gt=0, le=600, description="The most a batch of documents waits.")

    @model_validator(mode="after")
    def _remote_models_are_named(self) -> Self:
        if self.embedding_provider in {"openai", "bedrock"} and not (self.embedding_model and self.embedding_dimension):
            raise ValueError(
                f"SKILLROUTE_EMBEDDING_PROVIDER={self.embedding_provider} needs SKILLROUTE_EMBEDDING_MODEL and "
                "SKILLROUTE_EMBEDDING_DIMENSION"
            )
        return self

    @model_validator(mode="after")
    def _packaged_model_is_here(self) -> Self:
        # Functions that do not embed have no inference layer, and the same variables.
        if self.embedding_provider != "onnx" or self.model_dir or not self.embedding_model:
            return self
        names = packaged_models()
        if names and self.embedding_model not in names:
            raise ValueError(
                f"SKILLROUTE_EMBEDDING_MODEL={self.embedding_model} is no packaged model: give one of "
                f"{', '.join(names)}, or the folder of another in SKILLROUTE_MODEL_DIR"
            )
        return self

    @property
    def onnx_dir(self) -> Path:
        """The folder of the model that onnx runs: where no name is given, that of the first that is packaged."""
        return self.model_dir or models_dir() / (self.embedding_model or default_model())


class IndexSettings(_Settings):
    """Which vector index: embedded when no URL is given, else a Qdrant server."""

    qdrant_url: str | None = None
    qdrant_api_key: SecretStr | None = None
    qdrant_api_key_secret_arn: str | None = Field(None, description="Secrets Manager secret with the key instead.")
    qdrant_timeout_s: float = Field(2.0, gt=0, le=30)
    qdrant_prefix: str = Field("", description="Put before collection names, where several deployments share a server.")
    vector_search_ef_search: int = Field(
        100,
        ge=1,
        le=10_000,
        description="Candidates that a dense search of a Qdrant server keeps: more find more, and take longer.",
    )
    index_dir: Path | None = Field(None, description="Where replicas live; a temporary folder when not set.")
    index_optimize_above: int = Field(
        0, ge=0, description="From this many items on, an index graph is built in a child process; 0 never does."
    )


class WebSettings(_Settings):
    """The settings of every HTTP function."""

    auth: Literal["jwt", "iam", "none"] = Field("none", description="Who vouches for callers; none: the laptop only.")
    jwt_issuer: str | None = Field(None, description="What the claim iss must be, to the letter.")
    jwt_audience: str | None = Field(None, description="What aud must be, or name one of; several: comma-separated.")
    jwt_org_claim: str = Field("org_id", min_length=1, description="The claim that names the caller's organisation.")
    jwt_agent_claim: str = Field(
        "agent", min_length=1, description="The claim that names the mail agent that the caller speaks for."
    )
    jwt_require_org: bool = Field(
        True, description="Refuse tokens that name no organisation, rather than take them for global ones."
    )
    jwt_scope_prefix: str = Field(
        "", pattern=r"^[!#-\[\]-~]*$", description="What tokens put before scopes, as Cognito's resource servers do."
    )
    jwt_keys: str | None = Field(
        None,
        description="A JSON Web Key Set that tokens are verified with, where no gateway does: the laptop, sam local.",
    )
    cors_allow_origins: str = Field(
        "", description="Origins of pages that may ask from a browser, comma-separated; none when empty."
    )
    iam_admins: str = Field(
        "", description="For iam, ARNs of the roles that may do everything, comma-separated; other callers search."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @model_validator(mode="after")
    def _nothing_is_open_to_the_world(self) -> Self:
        on_lambda = "AWS_LAMBDA_FUNCTION_NAME" in os.environ
        if self.auth == "none" and on_lambda:
            raise ValueError("SKILLROUTE_AUTH must be jwt or iam on Lambda")
        # sam local runs the same containers and says so; there no gateway has checked anything.
        if self.jwt_keys and on_lambda and os.environ.get("AWS_SAM_LOCAL") != "true":
            raise ValueError("SKILLROUTE_JWT_KEYS is for the laptop and sam local: on Lambda the gateway checks tokens")
        return self

    @model_validator(mode="after")
    def _require_issuer_and_audience(self) -> Self:
        if self.auth == "jwt" and not (self.jwt_issuer and self.jwt_audiences):
            raise ValueError("SKILLROUTE_AUTH=jwt needs SKILLROUTE_JWT_ISSUER and SKILLROUTE_JWT_AUDIENCE")
        return self

    @model_validator(mode="after")
    def _origins_are_origins(self) -> Self:
        try:
            origins_of(self.cors_allow_origins)
        except ValueError as error:
            raise ValueError(f"SKILLROUTE_CORS_ALLOW_ORIGINS: {error}") from None
        return self

    @property
    def cors_origins(self) -> tuple[str, ...]:
        """The origins of pages that may ask from a browser."""
        return origins_of(self.cors_allow_origins)

    @property
    def jwt_audiences(self) -> frozenset[str]:
        """The audiences; a token needs one of them."""
        return frozenset(audience.strip() for audience in (self.jwt_audience or "").split(",") if audience.strip())


class QueueSettings(_Settings):
    """Where work is sent and people are notified. Without queues skills are aggregated at once, and tools wait."""

    classify_queue_url: str | None = None
    aggregate_queue_url: str | None = None
    classify_dlq_url: str | None = None
    aggregate_dlq_url: str | None = None
    sqs_endpoint_url: str | None = Field(None, description="Of a local SQS; none on AWS.")
    queue_max_receives: int = Field(5, ge=1, le=1000, description="The redrive policy's maxReceiveCount.")
    aggregate_delay_s: int = Field(2, ge=0, le=900, description="How long changes to one skill are collected.")
    org_in_flight: int = Field(
        200, ge=1, le=100_000, description="Messages that one organisation may have in a queue at once (docs/adr/0028)."
    )
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
    chat_api_key_secret_arn: str | None = Field(None, description="Secrets Manager secret with the key instead.")
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


class RerankSettings(_Settings):
    """Who looks at the best results of a search once more; without a reranker `hybrid_rerank` is served as hybrid."""

    rerank_provider: Literal["none", "onnx", "bedrock"] = "none"
    rerank_model: str | None = Field(None, description="A reranker's id at Bedrock.")
    rerank_model_dir: Path | None = Field(None, description="Folder of the model that onnx runs.")
    rerank_region: str | None = Field(None, description="Of Bedrock; the function's own when not set.")
    rerank_timeout_s: float = Field(2.0, gt=0, le=10, description="The most a search waits for it, retries included.")

    @model_validator(mode="after")
    def _a_reranker_is_named(self) -> Self:
        if self.rerank_provider == "bedrock" and not self.rerank_model:
            raise ValueError(f"SKILLROUTE_RERANK_PROVIDER={self.rerank_provider} needs SKILLROUTE_RERANK_MODEL")
        if self.rerank_provider == "onnx" and not self.rerank_model_dir:
            raise ValueError("SKILLROUTE_RERANK_PROVIDER=onnx needs SKILLROUTE_RERANK_MODEL_DIR")
        return self


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
        "benchmarks/tune_hybrid.py: on the judged sets lifting does not pay, and 0.1 costs a point at most.",
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
