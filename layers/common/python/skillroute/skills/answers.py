"""The answers of the skill routes."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from skillroute.core.errors.model import TextRefused
from skillroute.skills.classification.model import Decision, Outcome
from skillroute.skills.model import AssignmentSource
from skillroute.skills.suggestions.model import SuggestionKind, SuggestionStatus
from skillroute.skills.suggestions.review import Reviewed


class _Out(BaseModel):
    """An answer whose fields are those of a value of the domain, by the same names."""

    model_config = ConfigDict(from_attributes=True)

    @classmethod
    def of(cls, value: object) -> Self:
        """Return what the API says of a value."""
        return cls.model_validate(value)


class SkillOut(_Out):
    """A skill."""

    id: str
    name: str
    description: str
    keywords: list[str]
    examples: list[str]
    parent_domain: str | None
    org_id: str | None
    tool_count: int = Field(description="Its active tools that the caller sees, counted at this moment.")
    is_active: bool
    is_embedded: bool = Field(
        description="Whether it is found by meaning as it is now; false: its vector waits, or see `refusal`."
    )
    refusal: Annotated[
        str | None, BeforeValidator(lambda is_refused: TextRefused.public_message if is_refused else None)
    ] = Field(
        validation_alias="is_refused", description="Why it has no vector, when the embedding model refuses its text."
    )
    created_at: datetime
    updated_at: datetime


class SkillToolOut(_Out):
    """One of a skill's tools."""

    tool_id: int
    tool_name: str
    server: Annotated[str | None, BeforeValidator(lambda server: server or None)]
    type: str
    confidence: float
    is_primary: bool
    source: AssignmentSource
    assigned_at: datetime


class ToolSkillOut(_Out):
    """One of a tool's skills."""

    skill_id: str
    skill_name: str
    is_active: bool = Field(description="Whether the skill is; inactive ones are kept, but not searched.")
    confidence: float
    is_primary: bool
    source: AssignmentSource
    reasoning: str | None
    assigned_at: datetime


class ClassifiedSkill(BaseModel):
    """A skill that a tool has now."""

    skill_id: str
    confidence: float
    reasoning: str | None


class SuggestedSkill(BaseModel):
    """A skill that does not exist, which a classifier would like for a tool that fits no other."""

    name: str
    description: str
    reasoning: str | None


class ClassifyResponse(BaseModel):
    """The result of classifying a tool."""

    tool_id: int
    tool_name: str
    decision: Decision = Field(
        description="classified; suggested: no skill fits; unchanged: the same decision as the last time; human: a "
        "person decided."
    )
    assignments: list[ClassifiedSkill] = Field(description="The tool's skills as they are now, the primary one first.")
    primary_skill_id: str | None
    suggested_new_skill: SuggestedSkill | None
    classification_timestamp: datetime

    @classmethod
    def of(cls, outcome: Outcome, at: datetime) -> ClassifyResponse:
        """Return what the API says of an outcome."""
        draft = outcome.suggestion
        return cls(
            tool_id=outcome.tool_id,
            tool_name=outcome.tool_name,
            decision=outcome.decision,
            assignments=[
                ClassifiedSkill(
                    skill_id=assignment.skill_id, confidence=assignment.confidence, reasoning=assignment.reasoning
                )
                for assignment in outcome.assignments
            ],
            primary_skill_id=outcome.assignments[0].skill_id if outcome.assignments else None,
            suggested_new_skill=SuggestedSkill(
                name=draft.name, description=draft.description, reasoning=draft.reasoning
            )
            if draft
            else None,
            classification_timestamp=at,
        )


class SuggestionOut(_Out):
    """A suggestion."""

    id: int
    kind: SuggestionKind
    suggested_name: str
    suggested_description: str
    source_tool_id: int | None
    source_tool_name: str | None
    target_skill_id: str | None = Field(description="The skill whose description it would be.")
    reasoning: str | None
    source: AssignmentSource
    status: SuggestionStatus
    resolved_skill_id: str | None
    reviewed_by: str | None
    review_reason: str | None
    created_at: datetime
    reviewed_at: datetime | None


class ReviewResponse(BaseModel):
    """The result of a decision."""

    suggestion: SuggestionOut
    skill: SkillOut
    assignment: ToolSkillOut | None
    also_resolved: int = Field(description="Other open suggestions of the same name, now merged into the skill.")
    message: str

    @classmethod
    def of(cls, reviewed: Reviewed) -> ReviewResponse:
        """Return what the API says of a decision."""
        return cls(
            suggestion=SuggestionOut.of(reviewed.suggestion),
            skill=SkillOut.of(reviewed.skill),
            assignment=ToolSkillOut.of(reviewed.assignment) if reviewed.assignment else None,
            also_resolved=reviewed.also_resolved,
            message=reviewed.message,
        )
