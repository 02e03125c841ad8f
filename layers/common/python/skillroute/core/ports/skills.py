"""Skills, who belongs to them, and how they were classified, as the use cases see them.

`org_id` is the caller's everywhere: it sees global rows and its own, and writes its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.ports.embedded_rows import EmbeddedRows, IndexedText
from skillroute.skills.classification import SkillProfile, ToolProfile
from skillroute.skills.model import (
    AssignedSkill,
    Assignment,
    AssignmentSource,
    NewSkill,
    Skill,
    SkillFilter,
    SkillKey,
    SkillMember,
)


class SkillRepository(EmbeddedRows, Protocol):
    """Skills. A deleted one is not there, except for `is_deleted`."""

    def hold_skills_of(self, org_id: str | None) -> None:
        """Make others that create or delete a skill of this organisation, or a global one, wait until the end.

        Organisations do not wait for each other.
        """
        ...

    def count_of(self, org_id: str | None) -> int:
        """Return how many skills belong to exactly this organisation."""
        ...

    def create(
        self, skill: NewSkill, text: IndexedText, model: EmbeddingModel | None, embedding: Vector | None
    ) -> bool:
        """Store a skill; False when its organisation has one of that id.

        `model` is that of the embedding; None when there is none.
        """
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

    def delete(self, skill_key: SkillKey) -> bool:
        """Delete a skill; False when there is none."""
        ...

    def is_deleted(self, skill_id: str, org_id: str | None) -> bool:
        """Tell whether the organisation has, or there was globally, a skill of this id that is deleted."""
        ...

    def get(self, skill_id: str, org_id: str | None) -> Skill | None:
        """Return the organisation's own skill of this id, else the global one, with the tools that it sees counted."""
        ...

    def page(self, where: SkillFilter, org_id: str | None, *, limit: int, offset: int) -> tuple[list[Skill], int]:
        """Return a page by name, and how many skills there are in all."""
        ...

    def count(self) -> int:
        """Return how many skills are active."""
        ...

    def keys(self) -> list[SkillKey]:
        """Return the keys of all skills."""
        ...

    def lock(self, skill_key: SkillKey) -> bool:
        """Hold a skill to the end of the transaction; False when there is none."""
        ...

    def members(
        self, skill_key: SkillKey, model: EmbeddingModel, *, by_people: bool = False, without: int | None = None
    ) -> Iterator[tuple[Vector, float]]:
        """Yield the vectors of a skill's active items with their confidence, a page at a time.

        Those that everyone sees who sees the skill. With `by_people`, only those that people assigned; `without` names
        an item that does not count.
        """
        ...

    def description_embedding(self, skill_key: SkillKey, model: EmbeddingModel) -> Vector | None: ...

    def set_embedding(self, skill_key: SkillKey, model: EmbeddingModel, vector: Vector) -> bool:
        """Store what a skill is found by; False when it is that already, or the skill is gone."""
        ...


class AssignmentRepository(Protocol):
    """Who belongs to which skill."""

    def hold_items(self, item_ids: Sequence[int], org_id: str | None) -> set[int]:
        """Hold items of exactly this organisation to the end of the transaction; return those that exist."""
        ...

    def hold_memberships(self, skill_keys: Collection[SkillKey], org_id: str | None) -> None:
        """Make others wait that change which items of this organisation belong to these skills, or delete them.

        Until the transaction ends. Organisations do not wait for each other.
        """
        ...

    def hold_all_memberships(self, skill_key: SkillKey) -> None:
        """Make everyone wait that changes who belongs to this skill, until the transaction ends."""
        ...

    def keys_of_skills(
        self, skill_ids: Collection[str], org_id: str | None, *, only_active: bool = False
    ) -> dict[str, SkillKey]:
        """Return the keys of the skills that the organisation sees by these ids; unknown ids are left out."""
        ...

    def room(
        self, skill_keys: Collection[SkillKey], item_ids: Sequence[int], org_id: str | None
    ) -> dict[SkillKey, int]:
        """Return how many of the items each skill can have beside the other items that the organisation sees in it."""
        ...

    def replace(
        self,
        assignments: Mapping[int, Sequence[Assignment]],
        keys: Mapping[str, SkillKey],
        source: AssignmentSource,
    ) -> set[SkillKey]:
        """Make these the only assignments of each item, the first one primary; return the skills that changed.

        `keys` are those of the skills named (`keys_of_skills`).
        """
        ...

    def of_items(self, item_ids: Sequence[int]) -> set[SkillKey]:
        """Return the skills that have one of the items."""
        ...

    def of_item(self, item_id: int, org_id: str | None) -> list[AssignedSkill]:
        """Return an item's skills, the surest first, inactive ones too."""
        ...

    def of_skill(
        self, skill_key: SkillKey, org_id: str | None, *, limit: int, offset: int
    ) -> tuple[list[SkillMember], int]:
        """Return a page of a skill's items, the surest first, and how many there are in all."""
        ...

    def remove_members(self, skill_key: SkillKey) -> list[int]:
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

    def fingerprints(self, org_id: str | None, model: EmbeddingModel | None) -> list[tuple[SkillKey, str]]:
        """Return key and `SkillProfile.fingerprint` of the active skills that items of the organisation may have."""
        ...

    def profiles(self, fingerprints: Mapping[SkillKey, str], model: EmbeddingModel | None) -> list[SkillProfile]:
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
