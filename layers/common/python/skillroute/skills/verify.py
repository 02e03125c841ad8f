"""Checking the rules of skills, and that skills are found by what their tools are."""

from __future__ import annotations

import math

from skillroute.core.documents.checks import MAX_FINDINGS, Finding
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.postgres.database import Database, Session
from skillroute.skills.aggregation.aggregate import AggregateSkill
from skillroute.skills.model import SkillKey
from skillroute.skills.repository import SkillRepository

_TOLERANCE = 1e-4  # float32 and another order of summing; a member more or less moves a mean of 10,000 by as much


class CheckSkills:
    """Checks the rules of skills and assignments, and compares the vectors of skills with what they should be."""

    def __init__(self, aggregate: AggregateSkill) -> None:
        self._aggregate = aggregate

    def __call__(self, database: Database) -> list[Finding]:
        """Return what breaks a rule, and the skills whose vector is another one. Raises `DatabaseUnavailable`."""
        found = database.read(lambda session: SkillRepository(session).broken_rules(MAX_FINDINGS))
        model = database.read(lambda session: IndexStateRepository(session).models().current)
        if model is None:
            return found
        for key in database.read(lambda session: SkillRepository(session).keys()):
            # At one moment, so that no aggregation comes between the two.
            finding = database.snapshot(
                lambda session, key=key: self._difference(session, key, model)  # type: ignore[misc]
            )
            found += [finding] if finding else []
        return found

    def _difference(self, session: Session, skill_key: SkillKey, model: EmbeddingModel) -> Finding | None:
        expected = self._aggregate.vector(session, skill_key, model)
        # Whatever changed the members since the last aggregation has queued the skill, and then it does not count.
        stored = SkillRepository(session).aggregated(skill_key, model)
        if stored is None or expected is None:
            return None
        distance = math.dist(stored, expected)
        if distance <= _TOLERANCE:
            return None
        return Finding("a skill is found by the mean of its tools", skill_key, f"it is {distance:.4f} away from it")
