"""Settings of what keeps things: PostgreSQL, the vector index, queues."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from skillroute.core.settings.base import Settings


class DatabaseSettings(Settings):
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


class IndexSettings(Settings):
    """Which index searches use: a replica in each process, a Qdrant server, PostgreSQL itself, or the last until the
    first is there."""

    index: Literal["embedded", "server", "postgres", "auto"] | None = Field(
        None,
        description="Where searches look: embedded in each process, a Qdrant server, PostgreSQL; auto: PostgreSQL "
        "while the process has no replica. Not set: server with a URL of one, else auto on Lambda, else embedded.",
    )
    index_replica_up_to: int = Field(
        20_000,
        ge=0,
        description="For auto, up to how many documents a process builds a replica of its own beside its searches.",
    )
    lambda_function: str | None = Field(
        None, validation_alias="AWS_LAMBDA_FUNCTION_NAME", description="Set by Lambda: the function's name."
    )
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

    @model_validator(mode="after")
    def _the_index_is_one(self) -> Self:
        if self.index == "server" and not self.qdrant_url:
            raise ValueError("SKILLROUTE_INDEX=server needs SKILLROUTE_QDRANT_URL")
        if self.index in {"embedded", "postgres"} and self.qdrant_url:
            raise ValueError(f"SKILLROUTE_INDEX={self.index} and SKILLROUTE_QDRANT_URL contradict each other: set one")
        return self

    @property
    def index_kind(self) -> Literal["embedded", "server", "postgres", "auto"]:
        """Which index it is, however it was said."""
        if self.qdrant_url:
            return "server"
        return self.index or ("auto" if self.lambda_function else "embedded")

    @property
    def writers_fill_index(self) -> bool:
        """Whether writers and the relay bring the index up to date, rather than each search its own."""
        return self.index_kind != "embedded"


class QueueSettings(Settings):
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
