"""Settings of searches of mail."""

from __future__ import annotations

from pydantic import Field

from skillroute.core.settings.base import Settings


class MailSearchSettings(Settings):
    """Settings of mail search: models and time limits."""

    search_engine: str | None = Field(
        None,
        description="What searches of mail run on: fts5 (PostgreSQL alone), tantivy, shadow (PostgreSQL, "
        "compared with the index), hybrid (the default of searches that name no mode); "
        "by what is there when not set, or anything else.",
    )
    search_shadow_timeout_s: float = Field(
        0.1, gt=0, le=5, description="The most that an answer waits for the shadow's, which it is compared with."
    )
    search_index_wait_s: float = Field(
        5.0, ge=0, le=30, description="The most that a search of mail waits for a process's first index to be built."
    )
