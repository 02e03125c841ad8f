"""The rows of mcp.skill_categories and mcp.tool_skill_assignments."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from skillroute.domain.embedding import EmbeddingModel, Vector, from_bytes, to_bytes
from skillroute.domain.skills import Assignment, AssignmentSource, NewSkill, Skill
from skillroute.ports import EmbeddingTask, IndexedText
from skillroute.storage.postgres.connection import Connection
from skillroute.storage.postgres.items import embeddings_as_json, to_task

# 500 vectors of 384 dimensions are under 1 MB, so a skill of any size aggregates in bounded memory.
_MEMBER_PAGE = 500


class PostgresSkills:
    """`ports.SkillRepository` over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._run = connection.run

    def create(
        self, skill: NewSkill, text: IndexedText, model: EmbeddingModel | None, embedding: Vector | None
    ) -> bool:
        created = self._run(
            "insert_skill",
            id=skill.id,
            org_id=skill.org_id,
            name=skill.name,
            description=skill.description,
            keywords=list(skill.keywords),
            examples=list(skill.examples),
            parent_domain=skill.parent_domain,
            text_hash=text.hash,
            embedding_texts=list(text.embedding_texts),
            lexical_text=text.lexical_text,
            embedding=None if embedding is None else to_bytes(embedding).hex(),
            model=model.name if model else None,
            dimension=model.dimension if model else None,
        )
        return bool(created)

    def get(self, skill_id: str, org_id: str | None) -> Skill | None:
        rows = self._run("get_skill", id=skill_id, org_id=org_id)
        if not rows:
            return None
        (id_, owner, name, description, keywords, examples, parent_domain, is_active, tool_count, created_at,
         updated_at) = rows[0]  # fmt: skip
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
            created_at=created_at,
            updated_at=updated_at,
        )

    def count(self) -> int:
        count: int = self._run("count_skills")[0][0]
        return count

    def ids(self) -> list[str]:
        return [row[0] for row in self._run("skill_ids")]

    def of_items(self, item_ids: Sequence[int]) -> set[str]:
        return {row[0] for row in self._run("skills_of_items", ids=list(item_ids))}

    def lock(self, skill_id: str) -> bool:
        return bool(self._run("lock_skill", id=skill_id))

    def existing(self, skill_ids: Sequence[str], org_id: str | None) -> set[str]:
        return {row[0] for row in self._run("existing_skill_ids", ids=list(skill_ids), org_id=org_id)}

    def existing_items(self, item_ids: Sequence[int], org_id: str | None) -> set[int]:
        return {row[0] for row in self._run("existing_item_ids", ids=list(item_ids), org_id=org_id)}

    def assign(self, assignments: Mapping[int, Sequence[Assignment]], source: AssignmentSource) -> set[str]:
        rows = json.dumps(
            [
                {
                    "tool_id": tool_id,
                    "skill_id": assignment.skill_id,
                    "confidence": assignment.confidence,
                    "is_primary": rank == 0,
                }
                for tool_id, ranked in assignments.items()
                for rank, assignment in enumerate(ranked)
            ]
        )
        removed = self._run("delete_assignments", tool_ids=sorted(assignments), rows=rows)
        self._run("demote_primaries", rows=rows)
        written = self._run("upsert_assignments", rows=rows, source=source.value)
        return {row[0] for row in (*removed, *written)}

    def members(self, skill_id: str, model: EmbeddingModel) -> Iterator[tuple[Vector, float]]:
        after = "0"
        while page := self._run(
            "member_embeddings",
            id=skill_id,
            model=model.name,
            dimension=model.dimension,
            after=after,
            limit=_MEMBER_PAGE,
        ):
            for _, embedding, confidence in page:
                yield from_bytes(embedding), confidence
            after = page[-1][0]

    def description_embedding(self, skill_id: str, model: EmbeddingModel) -> Vector | None:
        rows = self._run("description_embedding", id=skill_id, model=model.name, dimension=model.dimension)
        return from_bytes(rows[0][0]) if rows else None

    def set_embedding(self, skill_id: str, model: EmbeddingModel, vector: Vector) -> bool:
        changed = self._run(
            "set_skill_embedding",
            id=skill_id,
            model=model.name,
            dimension=model.dimension,
            embedding=to_bytes(vector).hex(),
        )
        return bool(changed)

    def to_embed(self, *, after: str, limit: int) -> list[EmbeddingTask]:
        return [to_task(row) for row in self._run("skills_to_embed", after=after, limit=limit)]

    def to_reembed(self, model: EmbeddingModel, *, after: str, limit: int) -> list[EmbeddingTask]:
        rows = self._run("skills_to_reembed", model=model.name, dimension=model.dimension, after=after, limit=limit)
        return [to_task(row) for row in rows]

    def set_embeddings(self, model: EmbeddingModel, vectors: Sequence[tuple[EmbeddingTask, Vector]]) -> None:
        self._run(
            "set_description_embeddings",
            model=model.name,
            dimension=model.dimension,
            rows=embeddings_as_json(vectors),
        )
