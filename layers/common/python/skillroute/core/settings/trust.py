"""Settings of trust in what servers say of their tools."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from skillroute.core.settings.base import Settings

ChangedDefinitions = Literal["off", "warn", "block"]


class TrustSettings(Settings):
    """The treatment of tools whose definitions change once they are approved."""

    changed_definitions: ChangedDefinitions = Field(
        "warn",
        description="A tool whose definition is not the approved one: counts as approved (off), is listed to "
        "be approved (warn), or is neither found nor called until then (block).",
    )
