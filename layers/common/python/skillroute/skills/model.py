"""Skills and the assignment of items to them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, NewType

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, field_validator

from skillroute.core.bulk.versions import version_of
from skillroute.core.errors.sentences import spelt
from skillroute.core.hashing import text_hash
from skillroute.core.input.hidden_text import seen_name, visible
from skillroute.core.input.text_fields import SnakeCase

MAX_SKILLS_PER_TOOL = 5
"""skill-contract, Resource Limits."""

MAX_SKILLS = 1000
"""Skills of one organisation, or global ones (skill-contract, Resource Limits)."""

MAX_TOOLS_PER_SKILL = 10_000
"""skill-contract, Resource Limits."""

SkillKey = NewType("SkillKey", str)
"""The name of a skill among those of all organisations: rows, messages and indexes name a skill by its key, callers by
its id, which is unique within their organisation (decision 29, docs/adr/0024)."""

RESERVED_IDS = frozenset({"classify", "suggestions"})
"""Path segments of the API, so no skill can have them as its id (decision 14)."""


def skill_key(skill_id: str, org_id: str | None) -> SkillKey:
    """Return the key of a skill: its id, and of an organisation's own the organisation too.

    No id has a slash, so no two skills share a key, and keys sort as their ids do.

    Examples
    --------
    >>> skill_key("email", None), skill_key("email", "acme")
    ('email', 'email/acme')
    """
    return SkillKey(skill_id if org_id is None else f"{skill_id}/{org_id}")


def id_in_key(key: str) -> str:
    """Return the id in a skill's key.

    Examples
    --------
    >>> id_in_key("email"), id_in_key("email/acme/europe")
    ('email', 'email')
    """
    return key.partition("/")[0]


def possible_keys(skill_ids: Iterable[str], org_id: str | None) -> set[SkillKey]:
    """Return the keys of all skills that an organisation may mean by these ids: its own, and global ones.

    What is no id, so that it could pass for another organisation's key, has none.
    """
    owners = {None, org_id}
    return {skill_key(id_, owner) for id_ in skill_ids if "/" not in id_ for owner in owners}


class AssignmentSource(StrEnum):
    """Who assigned a tool to a skill. What people decide outranks every classifier (skill-contract BR-006)."""

    LLM_AUTO = "llm_auto"
    SIMILARITY = "similarity"
    HUMAN_MANUAL = "human_manual"
    HUMAN_OVERRIDE = "human_override"

    @property
    def is_human(self) -> bool:
        """Whether a person decided."""
        return self in {AssignmentSource.HUMAN_MANUAL, AssignmentSource.HUMAN_OVERRIDE}


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill category as it is stored (skill-contract BR-001).

    Attributes
    ----------
    tool_count : int
        Its active tools that the caller sees.
    is_embedded : bool
        It has a vector of what it says now.
    is_refused : bool
        It has none because the embedding model refuses its texts.
    """

    id: str
    name: str
    description: str
    keywords: tuple[str, ...]
    examples: tuple[str, ...]
    parent_domain: str | None
    org_id: str | None
    is_active: bool
    tool_count: int
    is_embedded: bool
    is_refused: bool
    created_at: datetime
    updated_at: datetime

    @property
    def key(self) -> SkillKey:
        """The key that names it wherever skills of several organisations are."""
        return skill_key(self.id, self.org_id)

    @property
    def version(self) -> str:
        """The version of what people write of it; its tools do not count."""
        return version_of(self.updated_at)


def _lower_case(keyword: str) -> str:
    # The pattern is for readers of the API's document; in any script lower case is what has no other.
    if keyword != keyword.lower():
        raise ValueError("must be lower case")
    return keyword


Keyword = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64),
    spelt(r"^[^A-Z]*$", "must be lower case"),
    AfterValidator(_lower_case),
]
Example = Annotated[str, StringConstraints(min_length=1, max_length=256)]


class SkillFields(BaseModel):
    """The fields of a skill as people write them, with the limits of skill-contract BR-001."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255), AfterValidator(seen_name)
    ]
    description: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=10, max_length=1000), AfterValidator(visible)
    ]
    keywords: tuple[Keyword, ...] = Field((), max_length=20, strict=False, description="Lower case.")
    examples: tuple[Example, ...] = Field((), max_length=10, strict=False, description="Names of tools.")
    parent_domain: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None


class IdentifiedSkill(SkillFields):
    """The fields with the id that the skill is to have."""

    id: Annotated[SnakeCase, StringConstraints(max_length=64)]

    @field_validator("id")
    @classmethod
    def _not_reserved(cls, value: str) -> str:
        if value in RESERVED_IDS:
            raise ValueError(f"{value!r} is reserved")
        return value


class NewSkill(IdentifiedSkill):
    """A skill to be created, with the organisation that it belongs to."""

    org_id: str | None = None

    @property
    def key(self) -> SkillKey:
        """The key that will name it wherever skills of several organisations are."""
        return skill_key(self.id, self.org_id)


@dataclass(frozen=True, slots=True)
class SkillFilter:
    """Which skills a listing shows. None means no condition."""

    is_active: bool | None = True
    parent_domain: str | None = None


@dataclass(frozen=True, slots=True)
class SkillSize:
    """A skill with the number of active tools that the caller sees in it."""

    id: str
    name: str
    description: str
    tool_count: int


@dataclass(frozen=True, slots=True)
class AssignedSkill:
    """One of an item's skills, as it is stored."""

    skill_key: SkillKey
    skill_name: str
    is_active: bool
    confidence: float
    is_primary: bool
    source: AssignmentSource
    reasoning: str | None
    assigned_at: datetime

    @property
    def skill_id(self) -> str:
        """The id of the skill, for callers that see the item."""
        return id_in_key(self.skill_key)


@dataclass(frozen=True, slots=True)
class SkillsOfItem:
    """All skills of an item, the most confident first.

    Attributes
    ----------
    skills : tuple of AssignedSkill
    """

    skills: tuple[AssignedSkill, ...]

    @property
    def version(self) -> str:
        """Changes with every assignment; what a skill says of itself has a version of its own."""
        parts = [
            (skill.skill_id, str(skill.confidence), skill.source, skill.reasoning or "", skill.assigned_at.isoformat())
            for skill in self.skills
        ]
        return text_hash(*(text for part in parts for text in part))[:16]

    def are(self, given: Sequence[Assignment], sources: Sequence[object]) -> bool:
        """Return whether assignments, each with what is taken for its source, are these."""
        present = {(skill.skill_id, skill.confidence, skill.reasoning, skill.source) for skill in self.skills}
        return len(given) == len(self.skills) and present == {
            (one.skill_id, one.confidence, one.reasoning, source) for one, source in zip(given, sources, strict=True)
        }


@dataclass(frozen=True, slots=True)
class SkillMember:
    """One of a skill's items, as it is stored."""

    tool_id: int
    tool_name: str
    server: str
    type: str
    confidence: float
    is_primary: bool
    source: AssignmentSource
    assigned_at: datetime


@dataclass(frozen=True, slots=True)
class Assignment:
    """One item's membership in one skill, with the confidence of the assignment (0..1), and why.

    The skill is the one that the item's organisation sees by this id.
    """

    skill_id: str
    confidence: float
    reasoning: str | None = None


def in_rank_order(assignments: list[Assignment]) -> list[Assignment]:
    """Sort by confidence descending, then by skill id: the first is the primary skill (skill-contract BR-003)."""
    return sorted(assignments, key=lambda a: (-a.confidence, a.skill_id))
