"""A skill's embedding: the confidence-weighted mean of its tools (skill-contract BR-004, decisions 22)."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.domain.embedding import EmbeddingModel, weighted_mean
from skillroute.ports import Database, Session


class AggregateSkill:
    """Recomputes what a skill is found by."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(self, skill_id: str) -> bool:
        """Bring a skill's embedding up to date; return whether it changed.

        The mean of its active tools' vectors weighted by confidence, L2 norm 1. Tools without a vector are skipped;
        with none left the description's embedding serves. A skill that is gone is no error: nothing happens.
        """
        return self._database.transact(lambda session: self._aggregate(session, skill_id))

    def skills_of(self, item_ids: Sequence[int]) -> None:
        """Bring the embeddings of all skills that have one of the items up to date."""
        for skill_id in sorted(self._database.read(lambda session: session.skills.of_items(item_ids))):
            self(skill_id)

    @staticmethod
    def _aggregate(session: Session, skill_id: str) -> bool:
        # Held to the end, so that of two aggregations the later one has seen what the earlier one saw, and more.
        if not session.skills.lock(skill_id):
            return False
        model: EmbeddingModel | None = session.index_state.model()
        if model is None:
            return False
        vector = weighted_mean(session.skills.members(skill_id, model))
        if vector is None:
            vector = session.skills.description_embedding(skill_id, model)
        return vector is not None and session.skills.set_embedding(skill_id, model, vector)
