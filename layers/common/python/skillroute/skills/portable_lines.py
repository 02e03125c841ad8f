"""Reads the skills and suggestions of lines, checked by the rules of stored rows.

An unknown field is left out, with a warning: a newer Skillroute may say more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, model_validator

from skillroute.catalogue.model import ItemKey, ItemType
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.known_fields import KnownFields
from skillroute.core.input.text_fields import SnakeCase
from skillroute.skills.classification.model import MAX_CLASSIFIED_SKILLS
from skillroute.skills.model import MAX_SKILLS_PER_TOOL, AssignmentSource
from skillroute.skills.suggestions.model import SuggestionKind, SuggestionStatus

_Short = Annotated[str, StringConstraints(min_length=1, max_length=255)]


class Assigned(BaseModel):
    """One skill of an item, as a line has it."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    skill_id: Annotated[SnakeCase, StringConstraints(max_length=64)]
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    is_primary: bool
    source: AssignmentSource
    reasoning: Annotated[str, StringConstraints(max_length=20_000)] | None = None
    assigned_at: AwareDatetime | None = None


class Decided(BaseModel):
    """The field `skills` of an item's line.

    Attributes
    ----------
    decided_by : str or None
        The classifier, ``human`` for a person; None where it is undecided.
    input_hash : str or None
        `ToolProfile.input_hash` as it was then.
    waits : bool
        Whether the item is to be classified.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    decided_by: _Short | None = None
    decided_at: AwareDatetime | None = None
    input_hash: Annotated[str, StringConstraints(max_length=128)] | None = None
    waits: bool = False
    assigned: Annotated[tuple[Assigned, ...], Field(max_length=MAX_SKILLS_PER_TOOL)] = ()

    @model_validator(mode="after")
    def _keep_the_rules(self) -> Decided:
        if (self.decided_by is None) != (self.input_hash is None):
            raise ValueError("decided_by and input_hash go together")
        if len({skill.skill_id for skill in self.assigned}) < len(self.assigned):
            raise ValueError("assigned: a skill is named twice")
        primary = [skill for skill in self.assigned if skill.is_primary]
        if len(primary) != min(1, len(self.assigned)):
            raise ValueError(f"assigned: {len(primary)} skills are primary; exactly one must be")
        if any(skill.confidence > primary[0].confidence for skill in self.assigned):
            raise ValueError("assigned: the primary skill must have the highest confidence")
        if sum(not skill.source.is_human for skill in self.assigned) > MAX_CLASSIFIED_SKILLS:
            raise ValueError(f"assigned: a classifier gives {MAX_CLASSIFIED_SKILLS} skills at most")
        return self

    def same_as(self, stored: Decided) -> bool:
        """Return whether this is what is stored; what it does not say of times is whatever is stored."""
        times = {skill.skill_id: skill.assigned_at for skill in stored.assigned}
        assigned = tuple(
            skill.model_copy(update={"assigned_at": skill.assigned_at or times.get(skill.skill_id)})
            for skill in self.assigned
        )
        given = self.model_copy(update={"assigned": assigned, "decided_at": self.decided_at or stored.decided_at})
        # An item is classified again by itself, and never by an import.
        return given.model_copy(update={"waits": stored.waits and given.waits}) == stored


_Text = Annotated[str, StringConstraints(max_length=20_000)]
_Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]


class NamedTool(BaseModel):
    """The item that a suggestion was made for."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    server: Annotated[str, StringConstraints(max_length=256)] | None = None
    type: ItemType = "tool"
    name: Annotated[str, StringConstraints(max_length=256)]

    @property
    def key(self) -> ItemKey:
        """The key within the organisation."""
        return ItemKey(self.server or "", self.type, self.name)


class SuggestionLine(BaseModel):
    """A suggestion as a line has it; `tool` is null once its tool is gone, and `tool_name` stays.

    Attributes
    ----------
    occurrence : int
        Of several that are alike in kind, name, tool, skill and moment, which one it is, from 1: where tools of one
        name on two servers are deleted, nothing else tells their suggestions apart.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    suggestion: SuggestionKind
    name: _Name
    description: _Text = ""
    tool: NamedTool | None = None
    tool_name: Annotated[str, StringConstraints(max_length=256)] | None = None
    skill_id: Annotated[str, StringConstraints(max_length=64)] | None = None
    reasoning: _Text | None = None
    source: AssignmentSource
    status: SuggestionStatus
    resolved_skill_id: Annotated[str, StringConstraints(max_length=64)] | None = None
    reviewed_by: Annotated[str, StringConstraints(max_length=255)] | None = None
    review_reason: _Text | None = None
    created_at: AwareDatetime
    occurrence: Annotated[int, Field(ge=1, le=2**31 - 1, strict=True)] = 1
    reviewed_at: AwareDatetime | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> SuggestionLine:
        if (self.suggestion is SuggestionKind.DESCRIPTION) != (self.skill_id is not None):
            raise ValueError("skill_id is required for a suggestion that is a description and not allowed otherwise")
        if (self.status is SuggestionStatus.PENDING) != (self.reviewed_at is None):
            raise ValueError("reviewed_at is required for a suggestion that was decided and not allowed otherwise")
        return self


_ASSIGNED, _DECIDED, _TOOL, _SUGGESTION = (
    KnownFields.of(model, (), keeps_others=False) for model in (Assigned, Decided, NamedTool, SuggestionLine)
)


def decided_warnings(raw: object) -> Iterator[FieldProblem]:
    """Yield the fields that are unknown of what a line says of skills."""
    yield from _DECIDED.warnings(raw)
    assigned = raw.get("assigned") if isinstance(raw, Mapping) else None
    for place, skill in enumerate(assigned if isinstance(assigned, list) else ()):
        yield from _ASSIGNED.warnings(skill, f"assigned.{place}.")


def suggestion_warnings(raw: object) -> Iterator[FieldProblem]:
    """Yield the fields of a suggestion's line that are unknown."""
    yield from _SUGGESTION.warnings(raw)
    if isinstance(raw, Mapping):
        yield from _TOOL.warnings(raw.get("tool"), "tool.")
