"""The bodies of requests to the skill routes."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from skillroute.skills.model import Assignment, IdentifiedSkill, SkillFields


class SkillCreate(IdentifiedSkill):
    """A skill to be created."""


class SkillPut(SkillFields):
    """A skill written over whole: what is left out is emptied. Without `is_active` its state stays."""

    is_active: bool | None = None


class SkillPatch(BaseModel):
    """The fields of a skill that are to change; `is_active` deactivates and reactivates it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str | None = None
    description: str | None = None
    keywords: list[str] | None = None
    examples: list[str] | None = None
    parent_domain: str | None = None
    is_active: bool | None = None


class ManualAssignment(BaseModel):
    """A skill that a person gives a tool."""

    model_config = ConfigDict(extra="forbid", strict=True)

    skill_id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0
    reasoning: Annotated[str, Field(max_length=1000)] | None = None

    def assignment(self) -> Assignment:
        """Return it as the use case takes it."""
        return Assignment(self.skill_id, self.confidence, self.reasoning)


class ManualAssignments(BaseModel):
    """All skills that a tool is to have; none at all says that none fits."""

    model_config = ConfigDict(extra="forbid", strict=True)

    skills: list[ManualAssignment] = Field(max_length=100, description="At most five.")


class ClassifyRequest(BaseModel):
    """Which tool to classify. What it says is read from the catalogue."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tool_id: Annotated[int, Field(ge=1, le=2**63 - 1)]
    tool_name: str | None = Field(None, description="Checked against the catalogue when given.")
    tool_description: str | None = Field(None, description="Accepted, and not used: the catalogue's is classified.")
    force_reclassify: bool = Field(False, description="Also when nothing changed, or a person decided.")


class SuggestionEdits(BaseModel):
    """The fields that are to differ from the suggestion."""

    model_config = ConfigDict(extra="forbid", strict=True)

    id: str | None = None
    name: str | None = None
    description: str | None = None
    keywords: list[str] | None = None
    examples: list[str] | None = None
    parent_domain: str | None = None


class Rejection(BaseModel):
    """Why a suggestion is rejected."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: Annotated[str, Field(max_length=1000)] | None = None


class Merge(BaseModel):
    """The skill that a suggestion is merged into."""

    model_config = ConfigDict(extra="forbid", strict=True)

    skill_id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
