"""The skills that a tool may be given, as classifiers see them, read again only when they changed."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

from skillroute.domain.classification import SkillProfile
from skillroute.domain.embedding import EmbeddingModel, Vector, weighted_mean
from skillroute.domain.skills import SkillKey
from skillroute.ports import Database, Session

_ORGANISATIONS = 8


class SkillProfiles:
    """Active skills by organisation. Each call sees what is committed: fingerprints are read, vectors only if need be.

    The lists of the organisations that came last are kept: with 1,000 skills that all have tools, some 25 MB each.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str | None, EmbeddingModel | None], Sequence[SkillProfile]] = OrderedDict()

    def __call__(self, org_id: str | None, model: EmbeddingModel | None) -> Sequence[SkillProfile]:
        """Return the skills that items of an organisation may have, by id; the same object while nothing changed."""
        key = (org_id, model)
        with self._lock:
            known = self._known.get(key, ())
        profiles = self._database.read(lambda session: self._read(session, org_id, model, known))
        with self._lock:
            self._known[key] = profiles
            self._known.move_to_end(key)
            while len(self._known) > _ORGANISATIONS:
                self._known.popitem(last=False)
        return profiles

    def without(
        self, tool_id: int, skills: Sequence[SkillProfile], org_id: str | None, model: EmbeddingModel | None
    ) -> Sequence[SkillProfile]:
        """Return the skills as they would be had no person assigned this tool: it is no evidence for itself."""
        if model is None:
            return skills

        def read(session: Session) -> dict[SkillKey, Vector | None]:
            assigned = session.assignments.of_item(tool_id, org_id)
            return {
                each.skill_key: weighted_mean(
                    session.skills.members(each.skill_key, model, by_people=True, without=tool_id)
                )
                for each in assigned
                if each.source.is_human
            }

        others = self._database.read(read)
        return tuple(
            replace(each, centroid=others[each.key], fingerprint=f"{each.fingerprint}:without {tool_id}")
            if each.key in others
            else each
            for each in skills
        )

    @staticmethod
    def _read(
        session: Session, org_id: str | None, model: EmbeddingModel | None, known: Sequence[SkillProfile]
    ) -> Sequence[SkillProfile]:
        fingerprints = dict(session.classifications.fingerprints(org_id, model))
        same = {each.key: each for each in known if fingerprints.get(each.key) == each.fingerprint}
        if len(same) == len(fingerprints) == len(known):
            return known
        changed = {key: fingerprint for key, fingerprint in fingerprints.items() if key not in same}
        read = {each.key: each for each in session.classifications.profiles(changed, model)} if changed else {}
        both = same | read
        return tuple(both[key] for key in sorted(both))
