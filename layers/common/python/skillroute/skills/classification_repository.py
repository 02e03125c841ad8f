"""What classifiers read, and the rows of mcp.tool_classifications."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from skillroute.core.embedding.model import EmbeddingModel, from_bytes, weighted_mean
from skillroute.core.ports import ToClassify
from skillroute.core.postgres.connection import Connection
from skillroute.skills.classification import SkillProfile, ToolProfile
from skillroute.skills.model import SkillKey
from skillroute.skills.repository import PostgresSkills


class PostgresClassifications:
    """`ports.ClassificationRepository` over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._run = connection.run

    def tools(self, item_ids: Sequence[int], model: EmbeddingModel | None) -> dict[int, ToClassify]:
        found = {}
        for row in self._run("tools_to_classify", ids=list(item_ids), **_of(model)):
            (id_, org_id, name, description, server, schema, texts, embedding, decided_hash, decided_by, decided_at,
             version) = row  # fmt: skip
            profile = ToolProfile(
                id=id_,
                org_id=org_id,
                name=name,
                description=description,
                server=server,
                input_schema=schema,
                embedding_texts=tuple(texts),
                embedding=None if embedding is None else from_bytes(embedding),
            )
            found[id_] = ToClassify(profile, decided_by, decided_hash, decided_at, version)
        return found

    def hold(self, item_ids: Sequence[int]) -> None:
        self._run("hold_tools", ids=list(item_ids))

    def fingerprints(self, org_id: str | None, model: EmbeddingModel | None) -> list[tuple[SkillKey, str]]:
        rows = self._run("skill_fingerprints", org_id=org_id, **_of(model))
        return [(SkillKey(key), fingerprint) for key, fingerprint in rows]

    def profiles(self, fingerprints: Mapping[SkillKey, str], model: EmbeddingModel | None) -> list[SkillProfile]:
        rows = self._run("skills_to_offer", keys=list(fingerprints), **_of(model))
        skills = PostgresSkills(self._connection)
        return [
            SkillProfile(
                id=id_,
                org_id=org_id,
                name=name,
                description=description,
                keywords=tuple(keywords),
                examples=tuple(examples),
                description_embedding=None if embedding is None else from_bytes(embedding),
                centroid=None if model is None else weighted_mean(skills.members(key, model, by_people=True)),
                fingerprint=fingerprints[key],
            )
            for key, id_, org_id, name, description, keywords, examples, embedding in rows
        ]

    def record(self, decided: Mapping[int, str], classifier: str) -> None:
        rows = [{"tool_id": tool_id, "input_hash": input_hash} for tool_id, input_hash in decided.items()]
        self._run("record_classifications", rows=json.dumps(rows), classifier=classifier)

    def queue_lost(self, *, older_than_s: float, limit: int) -> int:
        count: int = self._run("queue_unclassified", older_than_s=older_than_s, limit=limit)[0][1]
        return count

    def forget(self, item_ids: Sequence[int]) -> None:
        self._run("forget_classifications", ids=list(item_ids))

    def forget_unassigned(self, org_id: str | None) -> list[int]:
        return [row[0] for row in self._run("forget_unassigned", org_id=org_id)]


def _of(model: EmbeddingModel | None) -> dict[str, object]:
    return {"model": model.name if model else None, "dimension": model.dimension if model else None}
