"""The rows of mcp.tool_skill_assignments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from skillroute.domain.skills import MAX_TOOLS_PER_SKILL, AssignedSkill, Assignment, AssignmentSource, SkillMember
from skillroute.storage.postgres.connection import Connection


class PostgresAssignments:
    """`ports.AssignmentRepository` over one connection."""

    def __init__(self, connection: Connection) -> None:
        self._run = connection.run

    def hold_items(self, item_ids: Sequence[int], org_id: str | None) -> set[int]:
        return {row[0] for row in self._run("existing_item_ids", ids=list(item_ids), org_id=org_id)}

    def hold_memberships(self, skill_ids: Sequence[str]) -> None:
        self._run("hold_memberships", ids=list(skill_ids))

    def existing_skills(self, skill_ids: Sequence[str], org_id: str | None, *, only_active: bool = False) -> set[str]:
        rows = self._run("existing_skill_ids", ids=list(skill_ids), org_id=org_id, only_active=only_active)
        return {row[0] for row in rows}

    def room(self, skill_ids: Sequence[str], item_ids: Sequence[int]) -> dict[str, int]:
        rows = self._run("room_of_skills", ids=list(skill_ids), tool_ids=list(item_ids), most=MAX_TOOLS_PER_SKILL)
        return {row[0]: row[1] for row in rows}

    def replace(self, assignments: Mapping[int, Sequence[Assignment]], source: AssignmentSource) -> set[str]:
        rows = json.dumps(
            [
                {
                    "tool_id": tool_id,
                    "skill_id": assignment.skill_id,
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
        return {row[0] for row in (*removed, *written)}

    def of_items(self, item_ids: Sequence[int]) -> set[str]:
        return {row[0] for row in self._run("skills_of_items", ids=list(item_ids))}

    def of_item(self, item_id: int, org_id: str | None) -> list[AssignedSkill]:
        return [
            AssignedSkill(
                skill_id, name, is_active, confidence, is_primary, AssignmentSource(source), reasoning, assigned_at
            )
            for skill_id, name, is_active, confidence, is_primary, source, reasoning, assigned_at in self._run(
                "skills_of_item", id=item_id, org_id=org_id
            )
        ]

    def of_skill(self, skill_id: str, org_id: str | None, *, limit: int, offset: int) -> tuple[list[SkillMember], int]:
        total: int = self._run("count_items_of_skill", id=skill_id, org_id=org_id)[0][0]
        rows = self._run("items_of_skill", id=skill_id, org_id=org_id, limit=limit, offset=offset)
        return [
            SkillMember(id_, name, server, type_, confidence, is_primary, AssignmentSource(source), assigned_at)
            for id_, name, server, type_, confidence, is_primary, source, assigned_at in rows
        ], total

    def remove_members(self, skill_id: str) -> list[int]:
        return [row[0] for row in self._run("remove_members", id=skill_id)]
