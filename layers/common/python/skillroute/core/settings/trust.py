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
    see_servers_every_h: float = Field(
        24.0, ge=0, le=8760, description="Hours after which a registered server is asked for its tools again; 0: never."
    )
