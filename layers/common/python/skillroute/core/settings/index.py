"""Settings of the vector index: which one searches use, and where it is."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from skillroute.core.settings.base import Settings


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
        description="For auto, the most documents of which a process builds a replica of its own during searches.",
    )
    lambda_function: str | None = Field(
        None, validation_alias="AWS_LAMBDA_FUNCTION_NAME", description="Set by Lambda: the function's name."
    )
    qdrant_url: str | None = Field(None, description="URL of a Qdrant server.")
    qdrant_api_key: SecretStr | None = Field(None, description="The Qdrant server's key.")
    qdrant_api_key_secret_arn: str | None = Field(None, description="Secrets Manager secret with the key instead.")
    qdrant_prefix: str = Field("", description="Put before collection names, where several deployments share a server.")
    vector_search_ef_search: int = Field(
        100,
        ge=1,
        le=10_000,
        description="Candidates that a dense search of a Qdrant server keeps: more find more, take longer "
        "(docs/adr/0018).",
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
