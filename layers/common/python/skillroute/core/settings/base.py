"""How settings are read from the environment, and what is said of those that are wrong."""

from __future__ import annotations

from typing import Self

from pydantic import ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from skillroute.core.errors.model import ConfigurationError


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
