"""Skills, what is assigned to them, and suggestions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from skillroute_client.models.base import Answer
from skillroute_client.models.written import Failure


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


class ToolSkills(list[ToolSkill]):
    """The skills of a tool, the primary one first; `etag` is their version, for `if_match`."""

    def __init__(self, skills: Iterable[ToolSkill], etag: str | None) -> None:
        super().__init__(skills)
        self.etag = etag


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


class SuggestionExample(Answer):
    """One of the suggestions of a name."""

    id: int
    suggested_name: str
    source_tool_id: int | None = None
    source_tool_name: str | None = None
    server: str | None = None


class SuggestionGroup(Answer):
    """A name that `count` suggestions have; `examples` are the oldest three.

    `skill_id` is the id that the skill would get, or the skill that would be described.
    """

    kind: str
    org_id: str | None = None
    name: str
    description: str = ""
    count: int
    skill_id: str
    skill_exists: bool = False
    sources: list[str] = []
    examples: list[SuggestionExample] = []
    first_created_at: datetime | None = None
    last_created_at: datetime | None = None


class Review(Answer):
    """The outcome of a suggestion that was approved or merged."""

    suggestion: Suggestion
    skill: Skill
    assignment: ToolSkill | None = None
    also_resolved: int = 0
    message: str = ""


class ReviewedSuggestion(Answer):
    """The outcome of one suggestion of a decision."""

    id: int
    status: str
    source_tool_id: int | None = None
    error: Failure | None = None


class DecisionResult(Answer):
    """The outcome of one decision, which stands at `index` of the request.

    `status` is ``approved``, ``rejected``, ``merged``, or ``failed`` where nothing was decided: `error`, or that of
    each suggestion, says why. Some suggestions may have failed of a decision that was carried out.
    """

    index: int
    action: str | None = None
    name: str | None = None
    status: str
    error: Failure | None = None
    skill: Skill | None = None
    decided: int = 0
    failed: int = 0
    also_resolved: int = 0
    suggestions: list[ReviewedSuggestion] = []


class Reviewed(Answer):
    """The outcome of several decisions: how many suggestions were decided how, and each decision's own result."""

    approved: int = 0
    rejected: int = 0
    merged: int = 0
    failed: int = 0
    results: list[DecisionResult] = []


class ClassifiedSkill(Answer):
    """A skill that a classifier assigned."""

    skill_id: str
    confidence: float
    reasoning: str | None = None


class Classification(Answer):
    """The outcome of the classification of a tool."""

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


class Decision(BaseModel):
    """A decision on all open suggestions of a `name`, or on those of `ids`; a mapping does as well.

    `action` is ``approve``, with other fields of the new skill in `skill`; ``merge``, into `skill_id`; or ``reject``,
    for a `reason`.
    """

    action: str
    name: str | None = None
    ids: list[int] | None = None
    skill: dict[str, Any] | None = None
    skill_id: str | None = None
    reason: str | None = None


class Assignment(BaseModel):
    """A skill that a person assigns to a tool; a mapping does as well."""

    skill_id: str
    confidence: float = Field(default=1.0, ge=0, le=1)
    reasoning: str | None = None
