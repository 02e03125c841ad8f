"""Settings of PostgreSQL: where it is, who logs in, and who migrates."""

from __future__ import annotations

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
    database_port: int | None = Field(None, ge=1, le=65535, description="Goes before the secret's.")
    database_name: str | None = Field(None, description="Goes before the secret's.")
    database_sslmode: Literal["disable", "require", "verify-full"] | None = Field(
        None, description="Whether the connection is encrypted, and the server's certificate checked."
    )
    database_connect_timeout_s: float = Field(
        2.0, gt=0, le=30, description="The limit of a login, TLS and all; more for a database that a login starts."
    )
    database_statement_timeout_s: float = Field(
        20.0, gt=0, le=300, description="The limit of a statement; 5 in searches."
    )
    database_idle_timeout_s: float = Field(
        60.0,
        ge=0,
        le=86_400,
        description="PostgreSQL ends a connection that was not used for so long, those of frozen environments, too; 0: "
        "never.",
    )

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
