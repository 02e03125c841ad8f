"""The rows of mcp.skill_categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from skillroute.core.documents.checks import Finding
from skillroute.core.documents.repository import DocumentRepository, DocumentText
from skillroute.core.documents.texts import IndexedText
from skillroute.core.embedding.model import EmbeddingModel, Vector, from_bytes
from skillroute.core.embedding.views import Refusal
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import Rights
from skillroute.skills.collection import SKILL_DOCUMENTS
from skillroute.skills.model import NewSkill, Skill, SkillFilter, SkillKey, SkillSize

# 500 vectors of 384 dimensions are under 1 MB, so a skill of any size aggregates in bounded memory.
_MEMBER_PAGE = 500


class SkillRepository:
    """Skills. A deleted one is not there, except for `is_deleted`."""

    def __init__(self, session: Session) -> None:
        self._run = session.run
        self._documents = DocumentRepository(session, SKILL_DOCUMENTS)

    def lock_skills_of(self, org_id: str | None) -> None:
        """Make others that create or delete a skill of this organisation, or a global one, wait until the end.

        Organisations do not wait for each other.
        """
        if org_id is None:
            self._run("lock_global_skills")
        else:
            self._run("lock_global_skills_shared")
            self._run("lock_skills_of", org_id=org_id)

    def count_of(self, org_id: str | None) -> int:
        """Return how many skills belong to exactly this organisation."""
        count: int = self._run("count_skills_of", org_id=org_id)[0][0]
        return count

    def create(
        self,
        skill: NewSkill,
        text: IndexedText,
        model: EmbeddingModel | None,
        embedding: Vector | Refusal | None,
        *,
        is_active: bool = True,
    ) -> bool:
        """Store a skill; False when its organisation has one of that id.

        `model` is that of the embedding or the refusal; None when there is neither.
        """
        created = self._run("insert_skill", id=skill.id, org_id=skill.org_id, is_active=is_active, **_columns(skill))
        if created:
            self._documents.put([DocumentText(skill.key, text, embedding)], model)
        return bool(created)

    def change(
        self,
        skill: NewSkill,
        text: IndexedText,
        model: EmbeddingModel | None,
        embedding: Vector | Refusal | None,
        *,
        is_active: bool,
        seen: datetime,
    ) -> bool:
        """Write a skill over; False when it is gone or has changed since `seen`, its `updated_at` as it was read.

        With a new text and no vector for it, the skill keeps what it is found by until it is embedded.
        """
        changed = self._run("change_skill", key=skill.key, is_active=is_active, seen=seen, **_columns(skill))
        if changed:
            self._documents.put([DocumentText(skill.key, text, embedding)], model, keep_derived=True)
        return bool(changed)

    def delete(self, skill_key: SkillKey) -> bool:
        """Delete a skill; False when there is none."""
        return bool(self._run("delete_skill", key=skill_key))

    def is_deleted(self, skill_id: str, org_id: str | None) -> bool:
        """Return whether the organisation, or everybody, had a skill of this id that is deleted."""
        return bool(self._run("is_deleted_skill", id=skill_id, org_id=org_id)[0][0])

    def get(
        self,
        skill_id: str,
        org_id: str | None,
        *,
        rights: Rights,
    ) -> Skill | None:
        """Return the organisation's own skill of this id, else the global one, with the tools that it sees counted."""
        rows = self._run("get_skill", id=skill_id, org_id=org_id, rights=rights.as_json())
        return _to_skill(rows[0]) if rows else None

    def some(self, skill_ids: Sequence[str], org_id: str | None) -> dict[str, Skill]:
        """Return the skills that the organisation sees by these ids; unknown ids are left out."""
        rows = self._run("get_skills", ids=list(skill_ids), org_id=org_id, rights=None)
        return {row[0]: _to_skill(row) for row in rows}

    def page(
        self, where: SkillFilter, org_id: str | None, *, limit: int, offset: int, rights: Rights
    ) -> tuple[list[Skill], int]:
        """Return a page by name, and how many skills there are in all."""
        listed = self.listed(where, org_id, Order("name"), limit=limit, offset=offset, rights=rights)
        return list(listed.rows), listed.total

    def listed(
        self,
        where: SkillFilter,
        org_id: str | None,
        order: Order,
        *,
        limit: int,
        offset: int,
        rights: Rights,
    ) -> Listed[Skill]:
        """Return a page in an order (`name`, `id` or `updated_at`), and how many skills there are."""
        conditions = {
            "org_id": org_id,
            "rights": rights.as_json(),
            "is_active": where.is_active,
            "parent_domain": where.parent_domain,
            **order.params(),
        }
        [[total, behind]] = self._run("count_listed_skills", **conditions)
        if offset >= behind:
            return Listed([], total, 0)
        rows = self._run("list_skills", **conditions, limit=limit, offset=offset)
        return Listed([_to_skill(row) for row in rows], total, behind - offset)

    def largest(self, org_id: str | None, *, limit: int, offset: int, rights: Rights) -> tuple[list[SkillSize], int]:
        """Return a page of the active skills, those with the most tools first, and how many there are in all."""
        total: int = self._run(
            "count_listed_skills",
            org_id=org_id,
            rights=rights.as_json(),
            is_active=True,
            parent_domain=None,
            **Order("name").params(),
        )[0][0]
        rows = (
            self._run("largest_skills", org_id=org_id, rights=rights.as_json(), limit=limit, offset=offset)
            if offset < total
            else []
        )
        return [SkillSize(*row) for row in rows], total

    def keys(self) -> list[SkillKey]:
        """Return the keys of all skills."""
        return [SkillKey(row[0]) for row in self._run("skill_keys")]

    def aggregated(self, skill_key: SkillKey, model: EmbeddingModel) -> Vector | None:
        """Return what a skill is found by; None while its aggregation waits."""
        rows = self._run("stored_skill_embedding", key=skill_key, model=model.name, dimension=model.dimension)
        return from_bytes(rows[0][0]) if rows else None

    def broken_rules(self, limit: int) -> list[Finding]:
        """Return rows that break a rule, all seen in one snapshot."""
        return [Finding(*row) for row in self._run("broken_skill_rules", limit=limit)]

    def lock(self, skill_key: SkillKey) -> bool:
        """Lock a skill to the end of the transaction; False when there is none."""
        return bool(self._run("lock_skill", key=skill_key))

    def members(
        self, skill_key: SkillKey, model: EmbeddingModel, *, by_people: bool = False, without: int | None = None
    ) -> Iterator[tuple[Vector, float]]:
        """Yield the vectors of a skill's active items with their confidence, a page at a time.

        Those that everyone sees who sees the skill. With `by_people`, only those that people assigned; `without` names
        an item that does not count.
        """
        after = "0"
        while page := self._run(
            "member_embeddings",
            key=skill_key,
            model=model.name,
            dimension=model.dimension,
            by_people=by_people,
            without=without,
            after=after,
            limit=_MEMBER_PAGE,
        ):
            for _, embedding, confidence in page:
                yield model.direction(from_bytes(embedding)), confidence
            after = page[-1][0]


def _columns(skill: NewSkill) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "keywords": list(skill.keywords),
        "examples": list(skill.examples),
        "parent_domain": skill.parent_domain,
    }


def _to_skill(row: list[Any]) -> Skill:
    (id_, owner, name, description, keywords, examples, parent_domain, is_active, tool_count, is_embedded, is_refused,
     created_at, updated_at) = row  # fmt: skip
    return Skill(
        id=id_,
        name=name,
        description=description,
        keywords=tuple(keywords),
        examples=tuple(examples),
        parent_domain=parent_domain,
        org_id=owner,
        is_active=is_active,
        tool_count=tool_count,
        is_embedded=is_embedded,
        is_refused=is_refused,
        created_at=created_at,
        updated_at=updated_at,
    )
