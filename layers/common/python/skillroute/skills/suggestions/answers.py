"""The answers about groups of suggestions, and about many decisions in one call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from skillroute.core.errors.model import InvalidInput
from skillroute.core.http.item_errors import ItemError
from skillroute.skills.answers import SkillOut
from skillroute.skills.model import AssignmentSource
from skillroute.skills.suggestions.group_decisions import DecisionOutcome, GroupDecision, ReviewAction
from skillroute.skills.suggestions.model import SuggestionGroup, SuggestionKind

ReviewedStatus = Literal["approved", "rejected", "merged", "failed"]

_STATUS: dict[ReviewAction, ReviewedStatus] = {
    ReviewAction.APPROVE: "approved",
    ReviewAction.REJECT: "rejected",
    ReviewAction.MERGE: "merged",
}


class SuggestionExampleOut(BaseModel):
    """One of a group's suggestions."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    suggested_name: str
    source_tool_id: int | None
    source_tool_name: str | None
    server: str | None


class SuggestionGroupOut(BaseModel):
    """The suggestions of one name, case, spacing and separators aside."""

    kind: SuggestionKind
    org_id: str | None
    name: str = Field(description="The name as the oldest has it; `review` takes it.")
    description: str = Field(description="That of the oldest.")
    count: int
    skill_id: str = Field(description="The id that the skill would get, or the skill that would be described.")
    skill_exists: bool = Field(description="Whether there is a skill of that id already: merge into it, or rename.")
    sources: list[AssignmentSource] = Field(description="Which classifiers made them.")
    examples: list[SuggestionExampleOut] = Field(description="The three oldest.")
    first_created_at: datetime
    last_created_at: datetime

    @classmethod
    def of(cls, group: SuggestionGroup, skill_exists: bool) -> SuggestionGroupOut:
        """Return what the API says of a group."""
        return cls(
            kind=group.kind,
            org_id=group.org_id,
            name=group.suggested_name,
            description=group.suggested_description,
            count=group.count,
            skill_id=group.skill_id,
            skill_exists=skill_exists,
            sources=list(group.sources),
            examples=[SuggestionExampleOut.model_validate(example) for example in group.examples],
            first_created_at=group.first_created_at,
            last_created_at=group.last_created_at,
        )


class ReviewedSuggestion(BaseModel):
    """The result of one suggestion."""

    id: int
    status: ReviewedStatus
    source_tool_id: int | None
    error: ItemError | None


class DecisionResult(BaseModel):
    """The result of one decision."""

    index: int = Field(description="Its place in the request, from 0.")
    action: ReviewAction | None = Field(description="Null where the decision could not be read.")
    name: str | None
    status: ReviewedStatus = Field(description="`failed` where no suggestion was decided on as asked.")
    error: ItemError | None = Field(description="Why nothing was done; where some were done, see `suggestions`.")
    skill: SkillOut | None = Field(description="The skill that was created, changed or merged into.")
    decided: int = Field(description="How many suggestions were decided on as asked.")
    failed: int = Field(description="How many were not; `suggestions` says why.")
    also_resolved: int = Field(description="Other open suggestions of the same names, now merged into the skill.")
    suggestions: list[ReviewedSuggestion]

    @classmethod
    def of(cls, index: int, outcome: DecisionOutcome) -> DecisionResult:
        """Return what the API says of an outcome."""
        status = _STATUS[outcome.decision.action] if outcome.decided else "failed"
        decided = [
            ReviewedSuggestion(id=one.id, status=status, source_tool_id=one.source_tool_id, error=None)
            for one in outcome.decided
        ]
        failed = [
            ReviewedSuggestion(id=id_, status="failed", source_tool_id=None, error=ItemError.of(error))
            for id_, error in outcome.failed.items()
        ]
        return cls(
            index=index,
            action=outcome.decision.action,
            name=outcome.decision.name,
            status=status,
            error=ItemError.of(outcome.error) if outcome.error else None,
            skill=SkillOut.of(outcome.skill) if outcome.skill else None,
            decided=len(decided),
            failed=len(failed),
            also_resolved=outcome.also_resolved,
            suggestions=sorted([*decided, *failed], key=lambda one: one.id),
        )

    @classmethod
    def unread(cls, index: int, error: InvalidInput) -> DecisionResult:
        """Return what the API says of a decision that could not be read."""
        return cls(
            index=index,
            action=None,
            name=None,
            status="failed",
            error=ItemError.of(error),
            skill=None,
            decided=0,
            failed=0,
            also_resolved=0,
            suggestions=[],
        )


class ReviewManyResponse(BaseModel):
    """The results of all decisions, in the order of the request; the numbers are of suggestions."""

    approved: int
    rejected: int
    merged: int
    failed: int = Field(description="Decisions of which nothing was done.")
    results: list[DecisionResult]

    @classmethod
    def of(
        cls, decisions: Sequence[GroupDecision | InvalidInput], outcomes: Sequence[DecisionOutcome]
    ) -> ReviewManyResponse:
        """Return what the API says of all decisions: the outcomes are of those that could be read, in order."""
        left = iter(outcomes)
        results = [
            DecisionResult.unread(index, one) if isinstance(one, InvalidInput) else DecisionResult.of(index, next(left))
            for index, one in enumerate(decisions)
        ]

        def decided(status: ReviewedStatus) -> int:
            return sum(result.decided for result in results if result.status == status)

        return cls(
            approved=decided("approved"),
            rejected=decided("rejected"),
            merged=decided("merged"),
            failed=sum(result.status == "failed" for result in results),
            results=results,
        )
