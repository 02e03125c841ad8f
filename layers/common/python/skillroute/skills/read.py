"""Reading skills and their tools (skill-contract BR-007, BR-008)."""

from __future__ import annotations

from skillroute.core.caller import Caller
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Database, Session
from skillroute.skills.access import visible_skill
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.model import Skill, SkillFilter, SkillMember, SkillSize
from skillroute.skills.repository import SkillRepository


class ReadSkills:
    """`GET /api/v1/skills` and what lies under it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, where: SkillFilter, caller: Caller, *, limit: int, offset: int) -> tuple[list[Skill], int]:
        """Return a page of the skills that the caller sees, by name, and how many there are in all."""
        return self._database.read(
            lambda session: SkillRepository(session).page(
                where, caller.org_id, limit=limit, offset=offset, rights=caller.rights
            )
        )

    def listed(self, where: SkillFilter, caller: Caller, order: Order, *, limit: int, offset: int) -> Listed[Skill]:
        """Return a page of the skills that the caller sees, in an order, and how many there are."""
        return self._database.read(
            lambda session: SkillRepository(session).listed(
                where, caller.org_id, order, limit=limit, offset=offset, rights=caller.rights
            )
        )

    def largest(self, caller: Caller, *, limit: int, offset: int = 0) -> tuple[list[SkillSize], int]:
        """Return a page of the caller's active skills, those with the most tools first, and how many there are."""
        return self._database.read(
            lambda session: SkillRepository(session).largest(
                caller.org_id, limit=limit, offset=offset, rights=caller.rights
            )
        )

    def get(self, skill_id: str, caller: Caller) -> Skill:
        """Return a skill. Raises `NotFound`, also when it is deleted or another organisation's."""
        return self._database.read(lambda session: visible_skill(session, skill_id, caller))

    def tools(self, skill_id: str, caller: Caller, *, limit: int, offset: int) -> tuple[list[SkillMember], int]:
        """Return a page of a skill's tools, the most confident first, and how many there are. Raises `NotFound`."""

        def read(session: Session) -> tuple[list[SkillMember], int]:
            skill = visible_skill(session, skill_id, caller)
            return AssignmentRepository(session).of_skill(
                skill.key, caller.org_id, limit=limit, offset=offset, rights=caller.rights
            )

        return self._database.read(read)
