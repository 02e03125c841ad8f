"""What a check of everything asks of PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from skillroute.core.documents.model import Collection
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.skills.model import SkillKey


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that should not be: the rule, the id of what breaks it, and how."""

    rule: str
    subject: str
    detail: str


class CheckRepository(Protocol):
    """Rows that break a rule, and what an index should hold."""

    def broken_rules(self, limit: int) -> list[Finding]: ...

    def skill_embedding(self, skill_key: SkillKey, model: EmbeddingModel) -> Vector | None:
        """Return what a skill is found by; None while its aggregation waits."""
        ...

    def active(self, collection: Collection) -> set[str]:
        """Return the keys of everything that an index should hold."""
        ...

    def mend_words(self) -> None:
        """Make the words of every server and agent belong to whom it belongs to, and be found when it is."""
        ...

    def mend_items(self) -> None:
        """Take the items of every disabled server out of searches."""
        ...
