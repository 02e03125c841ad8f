"""Reading, switching and deleting Agent Skills."""

from __future__ import annotations

from skillroute.agent_skills.access import locked_agent_skill, visible_agent_skill
from skillroute.agent_skills.model import AgentSkill, AgentSkillFilter, SkillFile
from skillroute.agent_skills.repository import AgentSkillRepository
from skillroute.core.access import not_found
from skillroute.core.bulk.versions import Expected
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import NotFound
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Database, Session


class AgentSkills:
    """`/api/v1/agent-skills`, but for writing them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(
        self, where: AgentSkillFilter, caller: Caller, order: Order, *, limit: int, offset: int
    ) -> Listed[AgentSkill]:
        """Return a page of the Agent Skills that the caller sees, in an order, and how many there are."""
        return self._database.read(
            lambda session: AgentSkillRepository(session).listed(
                where, caller.org_id, order, limit=limit, offset=offset
            )
        )

    def get(self, agent_skill_id: int, caller: Caller) -> AgentSkill:
        """Return an Agent Skill. Raises `NotFound`, also when it is another organisation's."""
        return self._database.read(lambda session: visible_agent_skill(session, agent_skill_id, caller))

    def file(
        self, agent_skill_id: int, caller: Caller, *, path: str | None = None, digest: str | None = None
    ) -> tuple[SkillFile, bytes]:
        """Return a file of an Agent Skill, and its bytes as they came, by its path or by its digest.

        Raises `NotFound` where the caller sees no such skill, or it has no such file.
        """

        def read(session: Session) -> tuple[SkillFile, bytes]:
            found = AgentSkillRepository(session).file(agent_skill_id, caller.org_id, path=path, digest=digest)
            if found is None:
                visible_agent_skill(session, agent_skill_id, caller)
                raise NotFound(
                    f"agent skill {agent_skill_id} has no file {path or digest}", ErrorCode.AGENT_SKILL_FILE_NOT_FOUND
                )
            return found

        return self._database.read(read)

    def switch(
        self, agent_skill_id: int, caller: Caller, *, is_active: bool | None, expected: Expected | None = None
    ) -> AgentSkill:
        """Let searches find an Agent Skill of the caller's organisation, or not, and return it.

        Parameters
        ----------
        is_active : bool or None
            None changes nothing.

        Raises
        ------
        NotFound, Forbidden
            There is no such skill, or it is not the caller's.
        VersionConflict
            It is not the version that is expected.
        """

        def change(session: Session) -> AgentSkill:
            skill = locked_agent_skill(session, agent_skill_id, caller, expected)
            if is_active is None or skill.is_active is is_active:
                return skill
            AgentSkillRepository(session).switch(agent_skill_id, caller.org_id, is_active=is_active)
            session.note_news()
            return visible_agent_skill(session, agent_skill_id, caller)

        return self._database.transact(change)

    def delete(self, agent_skill_id: int, caller: Caller, expected: Expected | None = None) -> None:
        """Delete an Agent Skill of the caller's organisation, with its files. Raises as `switch` does."""

        def delete(session: Session) -> None:
            locked_agent_skill(session, agent_skill_id, caller, expected)
            if not AgentSkillRepository(session).delete(agent_skill_id, caller.org_id):
                raise not_found("agent skill", agent_skill_id)  # another request was faster
            session.note_news()

        self._database.transact(delete)
