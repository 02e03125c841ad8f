"""Settings of skills: how they are made of tools."""

from __future__ import annotations

from pydantic import Field

from skillroute.core.settings.base import Settings


class SkillMakingSettings(Settings):
    """When a suggestion becomes a skill, and what a skill's vector is made of."""

    auto_approve_after: int = Field(3, ge=0, le=1000, description="Tools that make a suggestion a skill; 0: never.")
    skill_description_share: float = Field(
        0.0, ge=0, le=1, description="How much of a skill's vector is its description's; 0.3 is the 70/30 mix."
    )
