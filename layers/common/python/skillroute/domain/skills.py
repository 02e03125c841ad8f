"""Skills and the assignment of items to them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

MAX_SKILLS_PER_TOOL = 5
"""skill-contract, Resource Limits."""

RESERVED_IDS = frozenset({"classify", "suggestions"})
"""Path segments of the API, so no skill can have them as its id (decisions 14)."""


class AssignmentSource(StrEnum):
    """Who assigned a tool to a skill. What people decide outranks every classifier (skill-contract BR-006)."""

    LLM_AUTO = "llm_auto"
    SIMILARITY = "similarity"
    HUMAN_MANUAL = "human_manual"
    HUMAN_OVERRIDE = "human_override"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill category as it is stored (skill-contract BR-001)."""

    id: str
    name: str
    description: str
    keywords: tuple[str, ...]
    examples: tuple[str, ...]
    parent_domain: str | None
    org_id: str | None
    is_active: bool
    tool_count: int
    created_at: datetime
    updated_at: datetime


class NewSkill(BaseModel):
    """A skill to be created, with the limits of skill-contract BR-001."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    id: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
    description: Annotated[str, StringConstraints(strip_whitespace=True, min_length=10, max_length=1000)]
    keywords: tuple[Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=r"^[^A-Z]*$")], ...] = Field(
        (), max_length=20, strict=False
    )
    examples: tuple[Annotated[str, StringConstraints(min_length=1, max_length=256)], ...] = Field(
        (), max_length=10, strict=False
    )
    parent_domain: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    org_id: str | None = None

    @field_validator("id")
    @classmethod
    def _not_reserved(cls, value: str) -> str:
        if value in RESERVED_IDS:
            raise ValueError(f"{value!r} is reserved")
        return value


@dataclass(frozen=True, slots=True)
class Assignment:
    """One item's membership in one skill, with how sure whoever assigned it was (0..1), and why."""

    skill_id: str
    confidence: float
    reasoning: str | None = None


def in_rank_order(assignments: list[Assignment]) -> list[Assignment]:
    """Sort by confidence descending, then by skill id: the first is the primary skill (skill-contract BR-003)."""
    return sorted(assignments, key=lambda a: (-a.confidence, a.skill_id))
