"""Made-up skills of given sizes with made-up tools, for benchmarks of the skill service.

Texts and schemas of tools are those of corpus.py; vectors are drawn at random, so nothing is embedded. Good for time
and memory, meaningless for quality. Each tool belongs to one skill. Rows go through the repositories.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from skillroute.catalogue.repository import ItemRepository, ItemRow
from skillroute.catalogue.rows import indexed_text
from skillroute.catalogue.schemas import read_item
from skillroute.core.documents.stored_model import claim_model
from skillroute.core.embedding.model import Vector
from skillroute.core.hashing import content_hash
from skillroute.core.postgres.database import Session
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.create import indexed_text as skill_text
from skillroute.skills.model import Assignment, AssignmentSource, NewSkill, skill_key
from skillroute.skills.repository import SkillRepository
from skillroute.wiring import Parts

from benchmarks.corpora.corpus import Corpus
from benchmarks.harness import progress

_BATCH = 500
_CONFIDENCE = 0.9


def made_up_skill(id_: str, number: int, *, changed: int = 0) -> NewSkill:
    """Return a skill with a description, five keywords and two examples; another description for each `changed`."""
    return NewSkill(
        id=id_,
        name=f"Made-up skill {number}",
        description=f"Create, find, change and remove the records of department {number}, and report on them {changed}",
        keywords=("create", "find", "change", "remove", f"department {number}"),
        examples=(f"create_record_{number}", f"find_record_{number}"),
    )


class SkillCorpus:
    """Writes skills and their tools into a database; more of them later, if asked to."""

    def __init__(self, parts: Parts, seed: int) -> None:
        self._parts = parts
        self._corpus = Corpus(seed)
        self._rng = np.random.default_rng(seed)
        self._tools = 0
        self._skills = 0

    def add(self, sizes: Sequence[int]) -> list[str]:
        """Write a skill for each size, with so many tools; return the skills' ids."""
        ids = [f"bench_{self._skills + number}" for number in range(len(sizes))]
        model = self._parts.embedder.model

        def create(session: Session) -> None:
            claim_model(session, model)
            for number, id_ in enumerate(ids, self._skills):
                skill = made_up_skill(id_, number)
                SkillRepository(session).create(skill, skill_text(skill), model, self._vectors(1)[0])

        self._parts.database.transact(create)
        self._skills += len(ids)
        skill_of = [id_ for id_, size in zip(ids, sizes, strict=True) for _ in range(size)]
        with progress() as bar:
            starts = range(0, len(skill_of), _BATCH)
            for start in bar.track(starts, description=f"writing {len(skill_of)} tools of {len(ids)} skills"):
                self._write(skill_of[start : start + _BATCH])
        # What waits for queues is no part of what is measured.
        self._parts.pool.transact(lambda connection: connection.script("DELETE FROM mcp.outbox; ANALYZE"))
        return ids

    def _write(self, skill_of: Sequence[str]) -> None:
        contents = [read_item(self._corpus.item(self._tools + number)) for number in range(len(skill_of))]
        self._tools += len(contents)
        rows = [
            ItemRow(content, content_hash(content), indexed_text(content), vector)
            for content, vector in zip(contents, self._vectors(len(contents)), strict=True)
        ]
        skill_by_key = {content.key: skill_id for content, skill_id in zip(contents, skill_of, strict=True)}

        def write(session: Session) -> None:
            written = ItemRepository(session).upsert(None, self._parts.embedder.model, rows)
            given = {row.id: [Assignment(skill_by_key[key], _CONFIDENCE)] for key, row in written.items()}
            keys = {skill_id: skill_key(skill_id, None) for skill_id in skill_of}
            AssignmentRepository(session).replace(given, keys, AssignmentSource.SIMILARITY)

        self._parts.database.transact(write)

    def _vectors(self, count: int) -> list[Vector]:
        vectors = self._rng.normal(size=(count, self._parts.embedder.model.dimension))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        result: list[Vector] = vectors.tolist()
        return result
