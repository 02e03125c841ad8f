"""Suggestions: what a classifier would like to exist, for people to decide (skill-contract BR-005)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from skillroute.core.hashing import text_hash
from skillroute.skills.model import RESERVED_IDS, AssignmentSource, SkillKey, id_in_key


class SuggestionStatus(StrEnum):
    """The states of a suggestion. Only a pending one can change, and it does so once."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    MERGED = "merged"


class SuggestionKind(StrEnum):
    """The kind of change: a skill that does not exist yet, or the description of one that does."""

    NEW_SKILL = "new_skill"
    DESCRIPTION = "description"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion as it is stored.

    Attributes
    ----------
    name_key : str
        The same for names that are the same, case, spacing and separators aside (decision 21).
    """

    id: int
    org_id: str | None
    kind: SuggestionKind
    suggested_name: str
    suggested_description: str
    source_tool_id: int | None
    source_tool_name: str | None
    target_skill_key: SkillKey | None
    reasoning: str | None
    source: AssignmentSource
    status: SuggestionStatus
    resolved_skill_key: SkillKey | None
    reviewed_by: str | None
    review_reason: str | None
    created_at: datetime
    reviewed_at: datetime | None
    name_key: str

    @property
    def target_skill_id(self) -> str | None:
        """The skill whose description it would be, by the id under which readers of the suggestion see it."""
        return None if self.target_skill_key is None else id_in_key(self.target_skill_key)

    @property
    def resolved_skill_id(self) -> str | None:
        """The skill that it led to."""
        return None if self.resolved_skill_key is None else id_in_key(self.resolved_skill_key)


@dataclass(frozen=True, slots=True)
class SuggestionExample:
    """One of a group's suggestions; `server` is None where the tool is gone or has none."""

    id: int
    suggested_name: str
    source_tool_id: int | None
    source_tool_name: str | None
    server: str | None


@dataclass(frozen=True, slots=True)
class SuggestionGroup:
    """The suggestions of one owner, kind and name.

    Attributes
    ----------
    suggested_name, suggested_description
        Those of the oldest.
    count : int
        How many there are.
    examples : tuple of SuggestionExample
        The three oldest.
    """

    org_id: str | None
    kind: SuggestionKind
    suggested_name: str
    suggested_description: str
    target_skill_key: SkillKey | None
    count: int
    sources: tuple[AssignmentSource, ...]
    first_created_at: datetime
    last_created_at: datetime
    examples: tuple[SuggestionExample, ...]

    @property
    def skill_id(self) -> str:
        """The id that the skill would have, or the skill whose description it would be."""
        return skill_id_of(self.suggested_name) if self.target_skill_key is None else id_in_key(self.target_skill_key)


def skill_id_of(name: str) -> str:
    """Return an id for a skill of that name, as `^[a-z][a-z0-9_]*$` and 64 characters demand.

    Examples
    --------
    >>> skill_id_of("PDF & Documents"), skill_id_of("3D models"), skill_id_of("Классы"), skill_id_of("classify")
    ('pdf_documents', 'skill_3d_models', 'skill_e6d6d3f9', 'classify_skill')
    """
    words = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not words:  # no letter that an id may have: distinguished by their hash
        words = f"skill_{text_hash(name.casefold())[:8]}"
    elif not words[0].isalpha():
        words = f"skill_{words}"
    if words in RESERVED_IDS:
        words = f"{words}_skill"
    return words[:64].rstrip("_")
