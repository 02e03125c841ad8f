"""How settings are read from the environment, and what is said of those that are wrong."""

from __future__ import annotations

import os
from typing import Self

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from skillroute.core.errors.model import ConfigurationError

REMOVED = (
    "SKILLROUTE_CLASSIFY_CONCURRENCY",
    "SKILLROUTE_CLASSIFY_PROMPT_TOKENS",
    "SKILLROUTE_DATABASE_POOL_SIZE",
    "SKILLROUTE_PRUNE_AFTER_S",
    "SKILLROUTE_QDRANT_TIMEOUT_S",
    "SKILLROUTE_QUEUE_MAX_RECEIVES",
    "SKILLROUTE_REQUEUE_AFTER_S",
    "SKILLROUTE_SCHEMA_CACHE_SIZE",
)
"""Variables that were settings once: a process that finds one set says that it is no longer read."""


class Settings(BaseSettings):
    """The base of settings, read from the environment."""

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
        """Read the environment; log the names of variables that are set and no longer read.

        Raises
        ------
        ConfigurationError
            A variable is missing or wrong; the message names each one.
        """
        if removed := [name for name in REMOVED if os.environ.get(name)]:
            from skillroute.core.observability import logger  # noqa: PLC0415 (only with something to say)

            logger.warning("no longer read: %s", ", ".join(removed))
        try:
            return cls()
        except ValidationError as error:
            problems = "; ".join(
                f"{'SKILLROUTE_' + str(e['loc'][0]).upper() if e['loc'] else 'settings'}: {e['msg']}"
                for e in error.errors(include_input=False, include_url=False)
            )
            raise ConfigurationError(problems) from None
