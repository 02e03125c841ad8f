"""Looking for rows that break a rule, and mending what is a copy."""

from __future__ import annotations

from dataclasses import dataclass

from skillroute.core.documents.model import Collection
from skillroute.core.embedding.model import EmbeddingModel, Vector, from_bytes
from skillroute.core.postgres.database import Session
from skillroute.skills.model import SkillKey


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that should not be: the rule, the id of what breaks it, and how."""

    rule: str
    subject: str
    detail: str


class CheckRepository:
    """Rows that break a rule, and what an index should hold."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def broken_rules(self, limit: int) -> list[Finding]:
        return [Finding(*row) for row in self._run("broken_rules", limit=limit)]

    def skill_embedding(self, skill_key: SkillKey, model: EmbeddingModel) -> Vector | None:
        """Return what a skill is found by; None while its aggregation waits."""
        rows = self._run("stored_skill_embedding", key=skill_key, model=model.name, dimension=model.dimension)
        return from_bytes(rows[0][0]) if rows else None

    def active(self, collection: Collection) -> set[str]:
        """Return the keys of everything that an index should hold."""
        return {row[0] for row in self._run("searchable_keys", collection=collection.value)}

    def mend_words(self) -> None:
        """Make the words of every server and agent belong to whom it belongs to, and be found when it is."""
        self._run("mend_words")

    def mend_items(self) -> None:
        """Take the items of every disabled server out of searches."""
        self._run("mend_items")
