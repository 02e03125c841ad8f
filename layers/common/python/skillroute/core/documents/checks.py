"""Looking for rows that break a rule, and mending what is a copy."""

from __future__ import annotations

from skillroute.core.documents.model import Collection
from skillroute.core.embedding.model import EmbeddingModel, Vector, from_bytes
from skillroute.core.ports import Finding
from skillroute.core.postgres.connection import Connection
from skillroute.skills.model import SkillKey

_ACTIVE = {
    Collection.TOOLS: "active_tool_ids",
    Collection.SKILLS: "active_skill_keys",
    Collection.REGISTRY: "all_entity_ids",
    Collection.MAIL: "all_mail_ids",
}


class PostgresChecks:
    """`ports.CheckRepository` over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._run = connection.run

    def broken_rules(self, limit: int) -> list[Finding]:
        return [Finding(*row) for row in self._run("broken_rules", limit=limit)]

    def skill_embedding(self, skill_key: SkillKey, model: EmbeddingModel) -> Vector | None:
        rows = self._run("stored_skill_embedding", key=skill_key, model=model.name, dimension=model.dimension)
        return from_bytes(rows[0][0]) if rows else None

    def active(self, collection: Collection) -> set[str]:
        return {row[0] for row in self._run(_ACTIVE[collection])}

    def mend_words(self) -> None:
        self._run("mend_words")

    def mend_items(self) -> None:
        self._run("mend_items")
