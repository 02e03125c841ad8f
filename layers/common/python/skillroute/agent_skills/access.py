"""Which Agent Skills a caller sees and which it may change: the same errors everywhere (decision 26)."""

from __future__ import annotations

from skillroute.agent_skills.model import AgentSkill
from skillroute.agent_skills.repository import AgentSkillRepository
from skillroute.core.access import own, visible
from skillroute.core.bulk.versions import Expected, check_version
from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Session


def visible_agent_skill(session: Session, agent_skill_id: int, caller: Caller) -> AgentSkill:
    """Return an Agent Skill. Raises `NotFound`, also when it is another organisation's."""
    return visible(AgentSkillRepository(session).get(agent_skill_id, caller.org_id), "agent skill", agent_skill_id)


def locked_agent_skill(session: Session, agent_skill_id: int, caller: Caller, expected: Expected | None) -> AgentSkill:
    """Return an Agent Skill that the caller may change, locked to the end of the transaction.

    Raises `NotFound` and `Forbidden`, and `VersionConflict` where it is not the version that is expected.
    """
    AgentSkillRepository(session).lock(agent_skill_id, caller.org_id)
    skill = own(visible_agent_skill(session, agent_skill_id, caller), caller, "agent skill", agent_skill_id)
    check_version(expected, skill.version, f"agent skill {agent_skill_id}")
    return skill
