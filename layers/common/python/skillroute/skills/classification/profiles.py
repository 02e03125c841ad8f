"""The skills that a tool may be given, as classifiers see them, read again only when they changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skillroute.core.bounded_cache import BoundedCache
from skillroute.core.embedding.model import EmbeddingModel, Vector, weighted_mean
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.model import SkillProfile
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.model import SkillKey
from skillroute.skills.repository import SkillRepository

_ORGANISATIONS = 8
_BYTES = 96 * 1024 * 1024
_BYTES_A_FLOAT = 32


class SkillProfiles:
    """Active skills by organisation. Each call sees what is committed: fingerprints are read, vectors only if need be.

    The lists of the organisations that came last are kept, eight or 96 MB of them: with 1,000 skills that all have
    tools, one is 25 MB.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: BoundedCache[tuple[str | None, EmbeddingModel | None], Sequence[SkillProfile]] = BoundedCache(
            max_entries=_ORGANISATIONS, max_bytes=_BYTES, size_of=lambda skills: sum(map(_memory_of, skills))
        )

    def __call__(self, org_id: str | None, model: EmbeddingModel | None) -> Sequence[SkillProfile]:
        """Return the skills that items of an organisation may have, by id; the same object while nothing changed."""
        key = (org_id, model)
        known = self._known.get(key) or ()
        profiles = self._database.read(lambda session: self._read(session, org_id, model, known))
        self._known.put(key, profiles)
        return profiles

    def without(
        self, tool_id: int, skills: Sequence[SkillProfile], org_id: str | None, model: EmbeddingModel | None
    ) -> Sequence[SkillProfile]:
        """Return the skills as they would be had no person assigned this tool: it is no evidence for itself."""
        if model is None:
            return skills

        def read(session: Session) -> dict[SkillKey, Vector | None]:
            assigned = AssignmentRepository(session).of_item(tool_id, org_id, rights=EVERYTHING)
            return {
                assignment.skill_key: weighted_mean(
                    SkillRepository(session).members(assignment.skill_key, model, by_people=True, without=tool_id)
                )
                for assignment in assigned
                if assignment.source.is_human
            }

        others = self._database.read(read)
        return tuple(
            replace(skill, centroid=others[skill.key], fingerprint=f"{skill.fingerprint}:without {tool_id}")
            if skill.key in others
            else skill
            for skill in skills
        )

    @staticmethod
    def _read(
        session: Session, org_id: str | None, model: EmbeddingModel | None, known: Sequence[SkillProfile]
    ) -> Sequence[SkillProfile]:
        fingerprints = dict(ClassificationRepository(session).fingerprints(org_id, model))
        same = {profile.key: profile for profile in known if fingerprints.get(profile.key) == profile.fingerprint}
        if len(same) == len(fingerprints) == len(known):
            return known
        changed = {key: fingerprint for key, fingerprint in fingerprints.items() if key not in same}
        read = (
            {profile.key: profile for profile in ClassificationRepository(session).profiles(changed, model)}
            if changed
            else {}
        )
        both = same | read
        return tuple(both[key] for key in sorted(both))


def _memory_of(skill: SkillProfile) -> int:
    """Estimate what a skill takes of memory, in bytes: nearly all of it is vectors."""
    vectors = len(skill.description_embedding or ()) + len(skill.centroid or ())
    words = len(skill.name) + len(skill.description) + sum(map(len, (*skill.keywords, *skill.examples)))
    return _BYTES_A_FLOAT * vectors + 4 * words + 1_000
