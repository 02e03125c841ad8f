"""The bodies of requests to the skill routes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ModelWrapValidatorHandler, model_validator

from skillroute.core.errors.model import InvalidInput
from skillroute.core.http.bulk_answers import bare_list_of
from skillroute.core.input.json_input import validated
from skillroute.core.input.known_fields import of_another
from skillroute.core.input.shown_as import ShownAs
from skillroute.core.input.text_fields import SnakeCase, Text
from skillroute.skills.model import Assignment, IdentifiedSkill, SkillFields
from skillroute.skills.suggestions.group_decisions import MAX_SUGGESTIONS, GroupDecision, ReviewAction
from skillroute.skills.suggestions.review_many import MAX_DECISIONS

_SHOWN = frozenset({"tool_count", "is_embedded", "refusal", "created_at", "updated_at"})
"""Fields of a skill that only answers have, other than its id and organisation."""


_SHOWN_OF_ASSIGNMENT = frozenset({"skill_name", "is_active", "is_primary", "source", "assigned_at"})
"""Of one of a tool's skills; who assigned it, callers do not say."""


def _without(names: frozenset[str], raw: object) -> object:
    return {name: value for name, value in raw.items() if name not in names} if isinstance(raw, dict) else raw


class SkillCreate(IdentifiedSkill):
    """A skill to be created."""


class _OfPath(BaseModel):
    """A skill that the path names, as it was read or as it is to be."""

    id: str | None = Field(None, description="That of the path, or left out.")
    org_id: str | None = Field(None, description="That of the token, or left out.")

    @model_validator(mode="before")
    @classmethod
    def _without_shown(cls, raw: object) -> object:
        """Leave aside what only answers have, so that what was read can be written back."""
        return _without(_SHOWN, raw)

    def require(self, skill_id: str, org_id: str | None) -> None:
        """Raise `InvalidInput` where it is another skill than the path's, or another organisation's."""
        if self.id not in {None, skill_id}:
            raise InvalidInput("id", f"must be {skill_id}, as the path says, or be left out")
        if "org_id" in self.model_fields_set and self.org_id != org_id:
            raise InvalidInput.of([of_another(self.org_id)])


class SkillPut(_OfPath, SkillFields):
    """A skill written over whole: what is left out is emptied. Without `is_active` its state stays."""

    is_active: bool | None = None

    def content(self, skill_id: str, org_id: str | None) -> dict[str, Any]:
        """Return the fields that people write; raises as `require` does."""
        self.require(skill_id, org_id)
        return self.model_dump(include=set(SkillFields.model_fields))


class SkillPatch(_OfPath):
    """The fields of a skill that are to change; `is_active` deactivates and reactivates it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str | None = None
    description: str | None = None
    keywords: list[str] | None = None
    examples: list[str] | None = None
    parent_domain: str | None = None
    is_active: bool | None = None

    def changes(self, skill_id: str, org_id: str | None) -> dict[str, Any]:
        """Return the fields given; raises as `require` does."""
        self.require(skill_id, org_id)
        return self.model_dump(exclude_unset=True, exclude=set(_OfPath.model_fields))


class ManualAssignment(BaseModel):
    """A skill that a person gives a tool."""

    model_config = ConfigDict(extra="forbid", strict=True)

    skill_id: Annotated[SnakeCase, Field(max_length=64)]
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0
    reasoning: Annotated[str, Field(max_length=1000)] | None = None

    def assignment(self) -> Assignment:
        """Return it as the use case takes it."""
        return Assignment(self.skill_id, self.confidence, self.reasoning)


class ManualAssignments(BaseModel):
    """All skills that a tool is to have; none at all says that none fits. A bare list is what was read."""

    model_config = ConfigDict(extra="forbid", strict=True)

    skills: list[ManualAssignment] = Field(max_length=100, description="At most five.")
    _sources: list[object] | None = None

    @model_validator(mode="wrap")
    @classmethod
    def _read_back(cls, raw: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(raw, list):
            return handler(raw)
        body = handler({"skills": [_without(_SHOWN_OF_ASSIGNMENT, one) for one in raw]})
        body._sources = [one.get("source") for one in raw]
        return body

    def sources(self) -> Sequence[object] | None:
        """Return what a bare list has as the sources of its skills; None where it is none: a person decides."""
        return self._sources


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


class MergeRequest(BaseModel):
    """The skill that a suggestion is merged into."""

    model_config = ConfigDict(extra="forbid", strict=True)

    skill_id: Annotated[SnakeCase, Field(max_length=64)]


class ReviewDecision(BaseModel):
    """One decision on suggestions: on all open ones of a name, or on some by their ids."""

    model_config = ConfigDict(extra="forbid", strict=True)

    action: Annotated[ReviewAction, Field(strict=False)] = Field(description="What to do with the suggestions.")
    name: Annotated[Text, Field(min_length=1, max_length=255)] | None = Field(
        None, description="Decides on all open suggestions of the name, case, spacing and separators aside."
    )
    ids: list[Annotated[int, Field(ge=1, le=2**63 - 1)]] | None = Field(None, min_length=1, max_length=MAX_SUGGESTIONS)
    skill: SuggestionEdits | None = Field(
        None, description="Approving: fields of the new skill that are to differ from the oldest suggestion."
    )
    skill_id: Annotated[SnakeCase, Field(max_length=64)] | None = Field(
        None, description="Merging: the skill that is to have the tools."
    )
    reason: Annotated[str, Field(max_length=1000)] | None = Field(None, description="Rejecting: why.")

    @model_validator(mode="after")
    def _fits_together(self) -> ReviewDecision:
        if (self.name is None) == (self.ids is None):
            raise ValueError("needs either name, for all open suggestions of that name, or ids")
        if (self.action is ReviewAction.MERGE) != (self.skill_id is not None):
            raise ValueError("skill_id is required for merge and not allowed otherwise")
        for field, action in (("skill", ReviewAction.APPROVE), ("reason", ReviewAction.REJECT)):
            if getattr(self, field) is not None and self.action is not action:
                raise ValueError(f"{field} is allowed for {action.value} only")
        return self

    def decision(self) -> GroupDecision:
        """Return it as the use case takes it."""
        return GroupDecision(
            action=self.action,
            name=self.name,
            ids=self.ids or (),
            edits=self.skill.model_dump(exclude_unset=True) if self.skill else {},
            skill_id=self.skill_id,
            reason=self.reason,
        )


# Each decision is checked on its own later, so that one that is wrong does not refuse the rest.
_AnyDecision = Annotated[Any, ShownAs(ReviewDecision)]


class ReviewRequest(BaseModel):
    """Decisions on suggestions: ``{"decisions": [...]}`` or a bare list."""

    model_config = ConfigDict(extra="forbid")

    decisions: list[_AnyDecision] = Field(min_length=1, max_length=MAX_DECISIONS)

    def read(self) -> list[GroupDecision | InvalidInput]:
        """Return each decision as the use case takes it, or what is wrong with it."""
        return list(map(_read, self.decisions))


def _read(raw: object) -> GroupDecision | InvalidInput:
    try:
        return validated(ReviewDecision, raw, whole="decision").decision()
    except InvalidInput as error:
        return error


ReviewBody = Annotated[ReviewRequest, bare_list_of("decisions")]
