"""The rows of Agent Skills, of their files and of the pieces that are searched."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from skillroute.agent_skills.collection import AGENT_SKILL_DOCUMENTS
from skillroute.agent_skills.model import AgentSkill, AgentSkillContent, AgentSkillFilter, SkillFile
from skillroute.agent_skills.skill_md import Piece
from skillroute.agent_skills.text import indexed_text
from skillroute.core.answer_size import PAGE_BYTES
from skillroute.core.documents.repository import DocumentRepository, DocumentText
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.views import Refusal
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Session


class AgentSkillState(NamedTuple):
    """The stored state of an Agent Skill: the hash of its content, and those of its searched texts."""

    content_hash: str
    text_hashes: Sequence[str]


@dataclass(frozen=True, slots=True)
class AgentSkillRow:
    """An Agent Skill to be written.

    Attributes
    ----------
    pieces : sequence of Piece
        First name and description, then the body.
    """

    content: AgentSkillContent
    description: str
    content_hash: str
    pieces: Sequence[Piece]


class StoredPiece(NamedTuple):
    """A piece that is stored, and its place in its skill."""

    id: int
    agent_skill_id: int
    nth: int
    piece: Piece


class AgentSkillRepository:
    """Agent Skills. `org_id` is the caller's: it sees global ones and its own, and writes its own."""

    def __init__(self, session: Session) -> None:
        self._run = session.run
        self._documents = DocumentRepository(session, AGENT_SKILL_DOCUMENTS)

    def states(self, org_id: str | None, paths: Sequence[str]) -> dict[str, AgentSkillState]:
        """Return what is stored under the organisation's own paths; unknown paths are left out."""
        rows = self._run("agent_skill_states", org_id=org_id, paths=list(paths))
        return {path: AgentSkillState(content_hash, hashes) for path, content_hash, hashes in rows}

    def upsert(self, org_id: str | None, rows: Sequence[AgentSkillRow]) -> tuple[dict[str, int], dict[str, bool]]:
        """Create or change Agent Skills and lock all of them to the end of the transaction; their pieces stay.

        Returns
        -------
        mapping of str to int
            The ids of all, by path.
        mapping of str to bool
            Of those that differ from what was stored, by path: whether it was created.
        """
        as_json = json.dumps([_to_row(row) for row in rows], ensure_ascii=False)
        written = dict(self._run("upsert_agent_skills", org_id=org_id, rows=as_json))
        ids = dict(self._run("agent_skill_ids", org_id=org_id, paths=[row.content.path for row in rows]))
        if changed := {ids[row.content.path]: row.content for row in rows if row.content.path in written}:
            self._run("delete_agent_skill_files", ids=list(changed))
            files = [_to_file(id_, content, file) for id_, content in changed.items() for file in content.files]
            self._run("insert_agent_skill_files", rows=json.dumps(files, ensure_ascii=False))
        return ids, written

    def pieces(self, ids: Sequence[int]) -> list[StoredPiece]:
        """Return the pieces of Agent Skills, each skill's in their order."""
        rows = self._run("agent_skill_pieces", ids=list(ids))
        return [StoredPiece(id_, skill_id, nth, Piece(*piece)) for id_, skill_id, nth, *piece in rows]

    def set_pieces(
        self,
        skills: Mapping[int, AgentSkillRow],
        model: EmbeddingModel | None,
        vectors: Mapping[str, Vector | Refusal],
    ) -> None:
        """Replace the pieces of Agent Skills, which are locked; one that stays keeps its vector wherever it moves.

        Parameters
        ----------
        skills : mapping of int to AgentSkillRow
            By their ids.
        vectors : mapping of str
            By the hashes of texts, of the model.
        """
        free: dict[tuple[int, Piece], list[int]] = {}
        for stored in self.pieces(list(skills)):
            free.setdefault((stored.agent_skill_id, stored.piece), []).append(stored.id)
        kept: list[dict[str, int]] = []
        new: list[dict[str, Any]] = []
        for skill_id, row in skills.items():
            for nth, piece in enumerate(row.pieces):
                if same := free.get((skill_id, piece)):
                    kept.append({"id": same.pop(0), "nth": nth})
                else:
                    new.append({"agent_skill_id": skill_id, "nth": nth, **piece._asdict()})
        if gone := [id_ for ids in free.values() for id_ in ids]:
            self._run("delete_agent_skill_pieces", ids=gone)
        if kept:
            self._run("move_agent_skill_pieces", rows=json.dumps(kept))
        inserted = self._run("insert_agent_skill_pieces", rows=json.dumps(new, ensure_ascii=False)) if new else []
        documents = []
        for id_, skill_id, nth in inserted:
            row = skills[skill_id]
            text = indexed_text(row.content.name, row.pieces[nth])
            documents.append(DocumentText(str(id_), text, vectors.get(text.hash)))
        self._documents.put(documents, model if any(document.embedding for document in documents) else None)

    def get(self, agent_skill_id: int, org_id: str | None) -> AgentSkill | None:
        """Return an Agent Skill; None where the caller sees none of the id."""
        rows = self._run("get_agent_skill", id=agent_skill_id, org_id=org_id)
        return _to_agent_skill(rows[0]) if rows else None

    def listed(
        self, where: AgentSkillFilter, org_id: str | None, order: Order, *, limit: int, offset: int
    ) -> Listed[AgentSkill]:
        """Return a page in an order (`path`, `id` or `updated_at`), and how many Agent Skills there are."""
        conditions = {
            "org_id": org_id,
            "path": where.path,
            "name": where.name,
            "is_active": where.is_active,
            **order.params(),
        }
        [[total, behind]] = self._run("count_agent_skills", **conditions)
        if offset >= behind:
            return Listed([], total, 0)
        rows = self._run("list_agent_skills", **conditions, limit=limit, offset=offset, max_bytes=PAGE_BYTES)
        return Listed([_to_agent_skill(row) for row in rows], total, behind - offset)

    def file(
        self, agent_skill_id: int, org_id: str | None, *, path: str | None = None, digest: str | None = None
    ) -> tuple[SkillFile, bytes] | None:
        """Return a file of an Agent Skill by its path or by its digest; None where the caller sees none."""
        rows = self._run("agent_skill_file", id=agent_skill_id, org_id=org_id, path=path, digest=digest)
        return (SkillFile(*rows[0][:4]), bytes(rows[0][4])) if rows else None

    def lock(self, agent_skill_id: int, org_id: str | None) -> None:
        """Lock an Agent Skill of exactly this organisation to the end of the transaction, if there is one."""
        self._run("lock_agent_skill", id=agent_skill_id, org_id=org_id)

    def delete(self, agent_skill_id: int, org_id: str | None) -> bool:
        """Delete an Agent Skill of exactly this organisation; False when there is none."""
        return bool(self._run("delete_agent_skill", id=agent_skill_id, org_id=org_id))

    def switch(self, agent_skill_id: int, org_id: str | None, *, is_active: bool) -> None:
        """Switch an Agent Skill of exactly this organisation off or on."""
        self._run("switch_agent_skill", id=agent_skill_id, org_id=org_id, is_active=is_active)


def _to_row(row: AgentSkillRow) -> dict[str, Any]:
    return {
        "path": row.content.path,
        "name": row.content.name,
        "description": row.description,
        "frontmatter": row.content.frontmatter,
        "content_hash": row.content_hash,
    }


def _to_file(agent_skill_id: int, content: AgentSkillContent, file: SkillFile) -> dict[str, Any]:
    return {
        "agent_skill_id": agent_skill_id,
        "path": file.path,
        "mime_type": file.mime_type,
        "digest": file.digest,
        "content": base64.b64encode(content.contents[file.digest]).decode("ascii"),
    }


def _to_agent_skill(row: Sequence[Any]) -> AgentSkill:
    id_, org_id, path, name, description, frontmatter, files, *rest = row
    manifest = tuple(SkillFile(*file) for file in files or ())
    return AgentSkill(id_, org_id, path, name, description, frontmatter, manifest, *rest)
