"""Which skills a caller sees and which it may change: one look, the same errors everywhere (decisions 26)."""

from __future__ import annotations

from skillroute.core.caller import Caller
from skillroute.core.errors import Forbidden, NotFound
from skillroute.core.postgres.database import Session
from skillroute.skills.model import Skill
from skillroute.skills.repository import SkillRepository


def visible_skill(session: Session, skill_id: str, caller: Caller) -> Skill:
    """Return a skill. Raises `NotFound`, also when it is deleted or another organisation's."""
    skill = SkillRepository(session).get(skill_id, caller.org_id)
    if skill is None:
        raise NotFound(f"no skill with id {skill_id}")
    return skill


def own_skill(session: Session, skill_id: str, caller: Caller) -> Skill:
    """Return a skill that the caller may change. Raises `NotFound`, and `Forbidden` when it is global."""
    skill = visible_skill(session, skill_id, caller)
    if skill.org_id != caller.org_id:
        raise Forbidden(f"skill {skill_id} is global; organisations change only their own")
    return skill
