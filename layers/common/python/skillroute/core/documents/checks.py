"""Looking for rows that break a rule, and mending what is a copy."""

from __future__ import annotations

from dataclasses import dataclass

from skillroute.core.documents.model import Collection
from skillroute.core.postgres.database import Session


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

    def active(self, collection: Collection) -> set[str]:
        """Return the keys of everything that an index should hold."""
        return {row[0] for row in self._run("searchable_keys", collection=collection.value)}

    def mend_words(self) -> None:
        """Make the words of every server and agent belong to whom it belongs to, and be found when it is."""
        self._run("mend_words")

    def mend_items(self) -> None:
        """Take the items of every disabled server out of searches."""
        self._run("mend_items")
