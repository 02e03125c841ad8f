"""The use cases over Agent Skills."""

from __future__ import annotations

from skillroute.agent_skills.read import AgentSkills
from skillroute.agent_skills.sync import SyncAgentSkills
from skillroute.wiring.parts import CoreParts


class AgentSkillUseCases:
    """Writing, reading, switching and deleting Agent Skills."""

    def __init__(self, core: CoreParts) -> None:
        self.sync = SyncAgentSkills(core.writer)
        self.read = AgentSkills(core.database)
