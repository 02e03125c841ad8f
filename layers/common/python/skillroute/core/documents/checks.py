"""Findings of checks, and what an index should hold."""

from __future__ import annotations

from dataclasses import dataclass

from skillroute.core.documents.collection import Collection
from skillroute.core.postgres.database import Session

MAX_FINDINGS = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that should not be: the rule, the id of what breaks it, and how."""

    rule: str
    subject: str
    detail: str


class CheckRepository:
    """The expected content of an index."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def active(self, collection: Collection) -> set[str]:
        """Return the keys of everything that an index should hold."""
        return {row[0] for row in self._run("searchable_keys", collection=collection.value)}
