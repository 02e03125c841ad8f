"""Which skills a caller sees and which it may change: one look, the same errors everywhere (decision 26)."""

from __future__ import annotations

from skillroute.core.access import own, visible
from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Session
from skillroute.skills.model import Skill
from skillroute.skills.repository import SkillRepository


def visible_skill(session: Session, skill_id: str, caller: Caller) -> Skill:
    """Return a skill. Raises `NotFound`, also when it is deleted or another organisation's."""
    return visible(SkillRepository(session).get(skill_id, caller.org_id, rights=caller.rights), "skill", skill_id)


def own_skill(session: Session, skill_id: str, caller: Caller) -> Skill:
    """Return a skill that the caller may change. Raises `NotFound`, and `Forbidden` when it is global."""
    return own(visible_skill(session, skill_id, caller), caller, "skill", skill_id)
