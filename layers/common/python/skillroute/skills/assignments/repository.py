"""The rows of mcp.tool_skill_assignments."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import Rights
from skillroute.skills.model import (
    MAX_TOOLS_PER_SKILL,
    AssignedSkill,
    Assignment,
    AssignmentSource,
    SkillKey,
    SkillMember,
    id_in_key,
)


class AssignmentRepository:
    """Who belongs to which skill."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def lock_items(self, item_ids: Sequence[int], org_id: str | None) -> set[int]:
        """Lock items of exactly this organisation to the end of the transaction; return those that exist."""
        return {row[0] for row in self._run("existing_item_ids", ids=list(item_ids), org_id=org_id)}

    def lock_memberships(self, skill_keys: Collection[SkillKey], org_id: str | None) -> None:
        """Make others wait that change which items of this organisation belong to these skills, or delete them.

        Until the transaction ends. Organisations do not wait for each other.
        """
        self._run("lock_memberships", keys=list(skill_keys), org_id=org_id)

    def lock_all_memberships(self, skill_key: SkillKey) -> None:
        """Make everyone wait that changes who belongs to this skill, until the transaction ends."""
        self._run("lock_all_memberships", key=skill_key)

    def keys_of_skills(
        self, skill_ids: Collection[str], org_id: str | None, *, only_active: bool = False
    ) -> dict[str, SkillKey]:
        """Return the keys of the skills that the organisation sees by these ids; unknown ids are left out."""
        rows = self._run("keys_of_skills", ids=sorted(skill_ids), org_id=org_id, only_active=only_active)
        return {id_: SkillKey(key) for id_, key in rows}

    def room(
        self, skill_keys: Collection[SkillKey], item_ids: Sequence[int], org_id: str | None
    ) -> dict[SkillKey, int]:
        """Return how many of the items each skill can have beside the other items that the organisation sees in it."""
        rows = self._run(
            "room_of_skills", keys=sorted(skill_keys), tool_ids=list(item_ids), org_id=org_id, most=MAX_TOOLS_PER_SKILL
        )
        return {SkillKey(key): room for key, room in rows}

    def replace(
        self,
        assignments: Mapping[int, Sequence[Assignment]],
        keys: Mapping[str, SkillKey],
        source: AssignmentSource,
    ) -> set[SkillKey]:
        """Make these the only assignments of each item, the first one primary; return the skills that changed.

        `keys` are those of the skills named (`keys_of_skills`).
        """
        rows = json.dumps(
            [
                {
                    "tool_id": tool_id,
                    "skill_key": keys[assignment.skill_id],
                    "confidence": assignment.confidence,
                    "is_primary": rank == 0,
                    "reasoning": assignment.reasoning,
                }
                for tool_id, ranked in assignments.items()
                for rank, assignment in enumerate(ranked)
            ]
        )
        removed = self._run("delete_assignments", tool_ids=sorted(assignments), rows=rows)
        self._run("demote_primaries", rows=rows)
        written = self._run("upsert_assignments", rows=rows, source=source.value)
        return {SkillKey(row[0]) for row in (*removed, *written)}

    def of_items(self, item_ids: Sequence[int]) -> set[SkillKey]:
        """Return the skills that have one of the items."""
        return {SkillKey(row[0]) for row in self._run("skills_of_items", ids=list(item_ids))}

    def of_each(self, item_ids: Sequence[int], org_id: str | None) -> dict[int, list[tuple[SkillKey, Assignment]]]:
        """Return the assignments of items, the most confident first; items without any are left out."""
        found: dict[int, list[tuple[SkillKey, Assignment]]] = {}
        for item_id, key, confidence, reasoning in self._run("assignments_of_items", ids=list(item_ids), org_id=org_id):
            assignment = Assignment(id_in_key(key), confidence, reasoning)
            found.setdefault(item_id, []).append((SkillKey(key), assignment))
        return found

    def of_item(
        self,
        item_id: int,
        org_id: str | None,
        *,
        rights: Rights,
    ) -> list[AssignedSkill]:
        """Return an item's skills, the most confident first, inactive ones too."""
        return [
            AssignedSkill(
                SkillKey(key), name, is_active, confidence, is_primary, AssignmentSource(source), reasoning, assigned_at
            )
            for key, name, is_active, confidence, is_primary, source, reasoning, assigned_at in self._run(
                "skills_of_item", id=item_id, org_id=org_id, rights=rights.as_json()
            )
        ]

    def of_skill(
        self, skill_key: SkillKey, org_id: str | None, *, limit: int, offset: int, rights: Rights
    ) -> tuple[list[SkillMember], int]:
        """Return a page of a skill's items, the most confident first, and how many there are in all."""
        total: int = self._run("count_items_of_skill", key=skill_key, org_id=org_id, rights=rights.as_json())[0][0]
        rows = self._run(
            "items_of_skill", key=skill_key, org_id=org_id, rights=rights.as_json(), limit=limit, offset=offset
        )
        return [
            SkillMember(id_, name, server, type_, confidence, is_primary, AssignmentSource(source), assigned_at)
            for id_, name, server, type_, confidence, is_primary, source, assigned_at in rows
        ], total

    def remove_members(self, skill_key: SkillKey) -> list[int]:
        """Take a skill from all its items; return those that are left without any, no longer classified."""
        return [row[0] for row in self._run("remove_members", key=skill_key)]
