"""Skills, what is assigned to them, and suggestions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from skillroute_client.models.base import Answer


class Skill(Answer):
    """A skill."""

    id: str
    name: str
    description: str = ""
    keywords: list[str] = []
    examples: list[str] = []
    parent_domain: str | None = None
    org_id: str | None = None
    tool_count: int = 0
    is_active: bool = True
    is_embedded: bool = False
    refusal: str | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class SkillTool(Answer):
    """A tool in a skill."""

    tool_id: int
    tool_name: str
    server: str | None = None
    type: str = "tool"
    confidence: float
    is_primary: bool = False
    source: str
    assigned_at: datetime | None = None


class ToolSkill(Answer):
    """A skill of a tool."""

    skill_id: str
    skill_name: str
    is_active: bool = True
    confidence: float
    is_primary: bool = False
    source: str
    reasoning: str | None = None
    assigned_at: datetime | None = None


class Suggestion(Answer):
    """A skill, or a description of one, that waits for a person or was decided by one."""

    id: int
    kind: str
    suggested_name: str
    suggested_description: str
    source_tool_id: int | None = None
    source_tool_name: str | None = None
    target_skill_id: str | None = None
    reasoning: str | None = None
    source: str
    status: str
    resolved_skill_id: str | None = None
    reviewed_by: str | None = None
    review_reason: str | None = None
    created_at: datetime | None = None
    reviewed_at: datetime | None = None


class Review(Answer):
    """What came of a suggestion that was approved or merged."""

    suggestion: Suggestion
    skill: Skill
    assignment: ToolSkill | None = None
    also_resolved: int = 0
    message: str = ""


class ClassifiedSkill(Answer):
    """A skill that a classifier assigned."""

    skill_id: str
    confidence: float
    reasoning: str | None = None


class Classification(Answer):
    """What came of the classification of a tool."""

    tool_id: int
    tool_name: str
    decision: str
    assignments: list[ClassifiedSkill] = []
    primary_skill_id: str | None = None
    suggested_new_skill: dict[str, Any] | None = None
    classification_timestamp: datetime | None = None


class NewSkill(BaseModel):
    """A skill to be written; a mapping does as well."""

    name: str
    description: str
    keywords: list[str] = []
    examples: list[str] = []
    parent_domain: str | None = None
    is_active: bool = True


class Assignment(BaseModel):
    """A skill that a person assigns to a tool; a mapping does as well."""

    skill_id: str
    confidence: float = Field(default=1.0, ge=0, le=1)
    reasoning: str | None = None
