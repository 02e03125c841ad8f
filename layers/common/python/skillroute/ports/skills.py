"""Skills, who belongs to them, how they were classified, and what is suggested, as the use cases see them.

`org_id` is the caller's everywhere: it sees global rows and its own, and writes its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from skillroute.domain.classification import SkillDraft, SkillProfile, ToolProfile
from skillroute.domain.embedding import EmbeddingModel, Vector
from skillroute.domain.skills import (
    AssignedSkill,
    Assignment,
    AssignmentSource,
    NewSkill,
    Skill,
    SkillFilter,
    SkillMember,
)
from skillroute.domain.suggestions import Suggestion, SuggestionStatus
from skillroute.ports.embedded_rows import EmbeddedRows, IndexedText


class SkillRepository(EmbeddedRows, Protocol):
    """Skills. A deleted one is not there, except for `is_deleted`."""

    def hold_limit(self) -> None:
        """Make others that create or delete a skill wait until the transaction ends."""
        ...

    def count_of(self, org_id: str | None) -> int:
        """Return how many skills belong to exactly this organisation."""
        ...

    def create(
        self, skill: NewSkill, text: IndexedText, model: EmbeddingModel | None, embedding: Vector | None
    ) -> bool:
        """Store a skill; False when the id is taken. `model` is that of the embedding; None when there is none."""
        ...

    def change(
        self,
        skill: NewSkill,
        text: IndexedText,
        model: EmbeddingModel | None,
        embedding: Vector | None,
        *,
        is_active: bool,
        seen: datetime,
    ) -> bool:
        """Write a skill over; False when it is gone or has changed since `seen`, its `updated_at` as it was read."""
        ...

    def delete(self, skill_id: str, org_id: str | None) -> bool:
        """Delete a skill of exactly this organisation; False when there is none."""
        ...

    def is_deleted(self, skill_id: str, org_id: str | None) -> bool: ...

    def get(self, skill_id: str, org_id: str | None) -> Skill | None: ...

    def page(self, where: SkillFilter, org_id: str | None, *, limit: int, offset: int) -> tuple[list[Skill], int]:
        """Return a page by name, and how many skills there are in all."""
        ...

    def count(self) -> int:
        """Return how many skills are active."""
        ...

    def ids(self) -> list[str]:
        """Return the ids of all skills."""
        ...

    def lock(self, skill_id: str) -> bool:
        """Hold a skill to the end of the transaction; False when there is none."""
        ...

    def members(
        self, skill_id: str, model: EmbeddingModel, *, by_people: bool = False, without: int | None = None
    ) -> Iterator[tuple[Vector, float]]:
        """Yield the vectors of a skill's active items with their confidence, a page at a time.

        With `by_people`, only those that people assigned; `without` names an item that does not count.
        """
        ...

    def description_embedding(self, skill_id: str, model: EmbeddingModel) -> Vector | None: ...

    def set_embedding(self, skill_id: str, model: EmbeddingModel, vector: Vector) -> bool:
        """Store what a skill is found by; False when it is that already, or the skill is gone."""
        ...


class AssignmentRepository(Protocol):
    """Who belongs to which skill."""

    def hold_items(self, item_ids: Sequence[int], org_id: str | None) -> set[int]:
        """Hold items of exactly this organisation to the end of the transaction; return those that exist."""
        ...

    def hold_memberships(self, skill_ids: Sequence[str]) -> None:
        """Make others that change who belongs to these skills wait until the transaction ends."""
        ...

    def existing_skills(self, skill_ids: Sequence[str], org_id: str | None, *, only_active: bool = False) -> set[str]:
        """Return those of the ids that are skills, global or of the organisation."""
        ...

    def room(self, skill_ids: Sequence[str], item_ids: Sequence[int]) -> dict[str, int]:
        """Return how many of the items each skill can have beside its other items."""
        ...

    def replace(self, assignments: Mapping[int, Sequence[Assignment]], source: AssignmentSource) -> set[str]:
        """Make these the only assignments of each item, the first one primary; return the skills that changed."""
        ...

    def of_items(self, item_ids: Sequence[int]) -> set[str]:
        """Return the skills that have one of the items."""
        ...

    def of_item(self, item_id: int, org_id: str | None) -> list[AssignedSkill]:
        """Return an item's skills, the surest first, inactive ones too."""
        ...

    def of_skill(self, skill_id: str, org_id: str | None, *, limit: int, offset: int) -> tuple[list[SkillMember], int]:
        """Return a page of a skill's items, the surest first, and how many there are in all."""
        ...

    def remove_members(self, skill_id: str) -> list[int]:
        """Take a skill from all its items; return those that are left without any, no longer classified."""
        ...


@dataclass(frozen=True, slots=True)
class ToClassify:
    """A tool as it stands when it is to be classified.

    Attributes
    ----------
    decided_by : str or None
        The classifier that decided last, ``human`` for a person; None when nobody has.
    decided_hash : str or None
        `ToolProfile.input_hash` as it was then.
    decided_at : datetime or None
        When that was.
    version : int or None
        That of the work that waits in the outbox; None when none does.
    """

    tool: ToolProfile
    decided_by: str | None
    decided_hash: str | None
    decided_at: datetime | None
    version: int | None


class ClassificationRepository(Protocol):
    """What classifiers need to know, and who decided."""

    def tools(self, item_ids: Sequence[int], model: EmbeddingModel | None) -> dict[int, ToClassify]:
        """Return the tools that exist; vectors of another model than `model` count as missing."""
        ...

    def hold(self, item_ids: Sequence[int]) -> None:
        """Hold items of any organisation to the end of the transaction."""
        ...

    def fingerprints(self, org_id: str | None, model: EmbeddingModel | None) -> list[tuple[str, str]]:
        """Return id and `SkillProfile.fingerprint` of the active skills that items of the organisation may have."""
        ...

    def profiles(self, fingerprints: Mapping[str, str], model: EmbeddingModel | None) -> list[SkillProfile]:
        """Return the profiles of skills, with the fingerprints given."""
        ...

    def record(self, decided: Mapping[int, str], classifier: str) -> None:
        """Store who decided on items, by their input hash."""
        ...

    def queue_lost(self, *, older_than_s: float, limit: int) -> int:
        """Queue tools that nobody decided on and that wait in no queue; return how many."""
        ...

    def forget(self, item_ids: Sequence[int]) -> None:
        """Forget what was decided on items, so that they are classified as if they were new."""
        ...

    def forget_unassigned(self, org_id: str | None) -> list[int]:
        """Forget what was decided on the organisation's items that fit no skill; return them."""
        ...


class SuggestionRepository(Protocol):
    """Suggestions of classifiers."""

    def add(self, draft: SkillDraft, tool: ToolProfile, source: AssignmentSource) -> tuple[int, bool]:
        """Suggest a skill for a tool, in place of its open one.

        Returns the suggestion's id, and whether its name is new: no other of it is open, nor was this one before.
        """
        ...

    def add_description(self, skill: Skill, description: str, reasoning: str | None) -> int: ...

    def drop_of(self, item_ids: Sequence[int]) -> None:
        """Remove open suggestions that were made for these tools."""
        ...

    def drop_description_of(self, skill_id: str) -> None:
        """Remove the open suggestion of a description for a skill."""
        ...

    def same_name(
        self, name: str, org_id: str | None, *, hold: bool = False
    ) -> list[tuple[int, int | None, AssignmentSource]]:
        """Return id, tool and source of the open suggestions of a name, oldest first; `hold` holds them meanwhile."""
        ...

    def was_refused(self, name: str, org_id: str | None) -> bool:
        """Tell whether a suggestion of this name was rejected, or approved into a skill that is deleted."""
        ...

    def often(self, least: int) -> list[tuple[str, str | None]]:
        """Return names, with the organisation, that language models suggested for at least so many tools."""
        ...

    def get(self, suggestion_id: int, org_id: str | None) -> Suggestion | None: ...

    def hold(self, suggestion_id: int) -> SuggestionStatus | None:
        """Hold a suggestion and the open ones of its name to the end of the transaction.

        Returns its status; None when it is gone.
        """
        ...

    def page(
        self, status: SuggestionStatus | None, org_id: str | None, *, limit: int, offset: int
    ) -> tuple[list[Suggestion], int]:
        """Return a page by id, and how many there are in all."""
        ...

    def review(
        self,
        suggestion_ids: Sequence[int],
        status: SuggestionStatus,
        *,
        skill_id: str | None,
        reviewer: str | None,
        reason: str | None,
    ) -> None: ...
