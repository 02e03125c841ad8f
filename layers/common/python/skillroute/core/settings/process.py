"""Settings of the process itself."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillroute.core.settings.base import Settings


class ProcessSettings(Settings):
    """Settings of logging and of the process."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="The least that is logged.")
    initialization_type: str | None = Field(
        None,
        validation_alias="AWS_LAMBDA_INITIALIZATION_TYPE",
        description="Set by Lambda: how this environment came to be.",
    )

    @property
    def starts_ahead(self) -> bool:
        """Whether this environment starts before its first request, which then does not wait for what was loaded."""
        return self.initialization_type in {"snap-start", "provisioned-concurrency"}
