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
