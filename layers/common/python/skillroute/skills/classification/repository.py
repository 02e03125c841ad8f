"""The rows that classifiers read, and the rows of mcp.tool_classifications."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from skillroute.catalogue.item_rows import to_requests
from skillroute.catalogue.model import ToolRequest, are_peoples
from skillroute.core.embedding.model import EmbeddingModel, from_bytes, weighted_mean
from skillroute.core.postgres.database import Session
from skillroute.skills.classification.model import SkillProfile, ToolProfile
from skillroute.skills.model import (
    SkillKey,
)
from skillroute.skills.repository import SkillRepository


@dataclass(frozen=True, slots=True)
class ToClassify:
    """A tool as it stands when it is to be classified.

    Attributes
    ----------
    decided_by : str or None
        The classifier that decided last, ``human`` for a person; None when it is undecided.
    decided_hash : str or None
        `ToolProfile.input_hash` as it was then.
    decided_at : datetime or None
        When that was.
    version : int or None
        That of the work that waits in the outbox; None when none does.
    has_requests : bool
        Whether requests that it serves are stored.
    """

    tool: ToolProfile
    decided_by: str | None
    decided_hash: str | None
    decided_at: datetime | None
    version: int | None
    has_requests: bool = False


class ClassificationRepository:
    """The data that classifiers need, and who decided."""

    def __init__(self, connection: Session) -> None:
        self._connection = connection
        self._run = connection.run

    def tools(self, item_ids: Sequence[int], model: EmbeddingModel | None) -> dict[int, ToClassify]:
        """Return the tools that exist; vectors of another model than `model` count as missing."""
        found = {}
        for row in self._run("tools_to_classify", ids=list(item_ids), **_of(model)):
            (id_, org_id, name, description, server, schema, texts, embedding, decided_hash, decided_by, decided_at,
             version, type_, requests) = row  # fmt: skip
            profile = ToolProfile(
                id=id_,
                org_id=org_id,
                name=name,
                description=description,
                server=server,
                input_schema=schema,
                embedding_texts=tuple(texts),
                embedding=None if embedding is None or model is None else model.direction(from_bytes(embedding)),
            )
            wants = type_ == "tool" and _wants_requests(
                None if requests is None else to_requests(requests), decided_hash, profile.input_hash
            )
            profile = replace(profile, wants_requests=wants)
            found[id_] = ToClassify(profile, decided_by, decided_hash, decided_at, version, bool(requests))
        return found

    def without_requests(self, org_id: str | None, server: str | None, *, again: bool, limit: int | None) -> list[int]:
        """Return an organisation's own active tools that no requests are stored of, by id.

        With `again` those are among them that a language model alone wrote requests for.
        """
        rows = self._run("tools_to_write_requests_for", org_id=org_id, server=server, again=again, limit=limit)
        return [row[0] for row in rows]

    def with_requests(self, item_ids: Sequence[int]) -> set[int]:
        """Return those of these items that requests are stored of."""
        return {row[0] for row in self._run("tools_with_requests", ids=list(item_ids))}

    def lock(self, item_ids: Sequence[int]) -> None:
        """Lock items of any organisation to the end of the transaction."""
        self._run("lock_tools", ids=list(item_ids))

    def fingerprints(self, org_id: str | None, model: EmbeddingModel | None) -> list[tuple[SkillKey, str]]:
        """Return key and `SkillProfile.fingerprint` of the active skills that items of the organisation may have."""
        rows = self._run("skill_fingerprints", org_id=org_id, **_of(model))
        return [(SkillKey(key), fingerprint) for key, fingerprint in rows]

    def profiles(self, fingerprints: Mapping[SkillKey, str], model: EmbeddingModel | None) -> list[SkillProfile]:
        """Return the profiles of skills, with the fingerprints given."""
        rows = self._run("skills_to_offer", keys=list(fingerprints), **_of(model))
        skills = SkillRepository(self._connection)
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
        """Store who decided on items, by their input hash."""
        rows = [{"tool_id": tool_id, "input_hash": input_hash} for tool_id, input_hash in decided.items()]
        self._run("record_classifications", rows=json.dumps(rows), classifier=classifier)

    def queue_lost(self, *, older_than_s: float, limit: int) -> int:
        """Queue tools without a decision and that wait in no queue; return how many."""
        count: int = self._run("queue_unclassified", older_than_s=older_than_s, limit=limit)[0][1]
        return count

    def forget(self, item_ids: Sequence[int]) -> None:
        """Forget what was decided on items, so that they are classified as if they were new."""
        self._run("forget_classifications", ids=list(item_ids))

    def forget_unassigned(self, org_id: str | None) -> list[int]:
        """Forget what was decided on the organisation's items that fit no skill; return them."""
        return [row[0] for row in self._run("forget_unassigned", org_id=org_id)]


def _wants_requests(stored: Sequence[ToolRequest] | None, decided_hash: str | None, input_hash: str) -> bool:
    """Return whether a language model is to write requests: there are none, or others than people's of a former text.

    An empty list says that none are wanted.

    Where nobody decided on the tool yet, requests that it has are taken for those of its text.
    """
    return stored is None or (bool(stored) and decided_hash not in (None, input_hash) and not are_peoples(stored))


def _of(model: EmbeddingModel | None) -> dict[str, object]:
    return {"model": model.name if model else None, "dimension": model.dimension if model else None}
