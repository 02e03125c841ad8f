"""A skill's embedding: the confidence-weighted mean of its tools (skill-contract BR-004, decision 22)."""

from __future__ import annotations

from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.embedding.model import EmbeddingModel, Vector, weighted_mean
from skillroute.core.observability import Metric, count
from skillroute.core.postgres.database import Database, Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import SkillKey
from skillroute.skills.queues import AGGREGATE
from skillroute.skills.repository import SkillRepository


class AggregateSkill:
    """Recomputes what a skill is found by.

    Parameters
    ----------
    description_share : float
        How much of a skill's vector is that of its description, 0..1, once it has tools; 0.3 is the contract's optional
        70/30 mix.
    """

    def __init__(self, database: Database, *, description_share: float = 0.0) -> None:
        self._database = database
        self._description_share = description_share

    def __call__(self, skill_key: SkillKey) -> bool:
        """Bring a skill's embedding up to date; return whether it changed.

        The mean of its active tools' vectors weighted by confidence, L2 norm 1. Tools without a vector are skipped;
        with none left the description's embedding serves. A skill that is gone is no error: nothing happens. The work
        that waits for it in the outbox is done in the same transaction; what changes meanwhile waits again.
        """
        changed = self._database.transact(lambda session: self._aggregate(session, skill_key))
        count(Metric.SKILLS_AGGREGATED, changed)
        return changed

    def derive_all(self, model: EmbeddingModel) -> None:
        """Compute the vectors of all skills of a model that is about to be searched."""
        for key in self._database.read(lambda session: SkillRepository(session).keys()):
            self._database.transact(lambda session, key=key: self._derive(session, key, model))  # type: ignore[misc]

    def _aggregate(self, session: Session, skill_key: SkillKey) -> bool:
        # Locked to the end, so that of two aggregations the later one has seen what the earlier one saw, and more.
        exists = SkillRepository(session).lock(skill_key)
        # Looked at before the members are read: who changes them later leaves a newer version, which stays.
        versions = OutboxRepository(session).versions(AGGREGATE, [skill_key])
        models = IndexStateRepository(session).locked_models().searched if exists else ()
        changed = [self._derive(session, skill_key, model) for model in models]
        OutboxRepository(session).done(AGGREGATE, versions)
        return any(changed)

    def _derive(self, session: Session, skill_key: SkillKey, model: EmbeddingModel) -> bool:
        vector = self.vector(session, skill_key, model)
        documents = DocumentRepository(session, SKILL_DOCUMENTS)
        return vector is not None and documents.derive(skill_key, model, vector)

    def vector(self, session: Session, skill_key: SkillKey, model: EmbeddingModel) -> Vector | None:
        """Return what a skill should be found by, as its members are now; None when there is nothing to go by."""
        tools = weighted_mean(SkillRepository(session).members(skill_key, model))
        if tools is not None and self._description_share == 0.0:
            return tools
        description = DocumentRepository(session, SKILL_DOCUMENTS).vector(skill_key, model)
        if tools is None or description is None:
            return tools or description
        share = self._description_share
        return weighted_mean([(tools, 1.0 - share), (description, share)])
