"""Agent Skills of a world, written as the routes write them, and what is stored of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.agent_skills.model import AgentSkill, AgentSkillFilter
from skillroute.agent_skills.search.model import AgentSkillSearchRequest, AgentSkillSearchResponse, Part
from skillroute.agent_skills.sync import AgentSkillOutcome, AgentSkillReport
from skillroute.core.caller import LAPTOP, Caller
from skillroute.core.listing import Order

from tests.worlds.core import Core

REFUNDS = """# Refunds

Pay a customer back.

## Partial refunds

Round the amount down to whole cents.
"""


def agent_skill(
    path: str = "acme/billing/refunds",
    body: str = REFUNDS,
    *,
    description: str = "Processes refund requests.",
    files: Mapping[str, str] | None = None,
    **frontmatter: Any,
) -> dict[str, Any]:
    """Return a skill as `PUT /api/v1/agent-skills` takes it."""
    written = {"name": path.rpartition("/")[2], "description": description, **frontmatter}
    lines = "".join(f"{name}: {json.dumps(value)}\n" for name, value in written.items())
    all_files = {"SKILL.md": f"---\n{lines}---\n{body}", **(files or {})}
    return {
        "path": path,
        "frontmatter": written,
        "files": [{"path": name, "text": text} for name, text in all_files.items()],
    }


class AgentSkillWorld(Core):
    """Writes Agent Skills, and returns what is stored of them."""

    def put_agent_skills(self, *skills: Any, caller: Caller = LAPTOP, dry_run: bool = False) -> AgentSkillReport:
        """Write Agent Skills as one call."""
        return self.parts.agent_skills.sync(list(skills), caller, dry_run=dry_run)

    def put_agent_skill(self, *args: Any, caller: Caller = LAPTOP, **said: Any) -> AgentSkillOutcome:
        """Write one Agent Skill, as `agent_skill` makes it, and return what became of it."""
        [outcome] = self.put_agent_skills(agent_skill(*args, **said), caller=caller).outcomes
        assert outcome.status != "failed", outcome
        return outcome

    def stored_agent_skill(self, agent_skill_id: int | None, caller: Caller = LAPTOP) -> AgentSkill:
        assert agent_skill_id is not None
        return self.parts.agent_skills.read.get(agent_skill_id, caller)

    def agent_skill_paths(self, caller: Caller = LAPTOP, **where: Any) -> list[str]:
        found = self.parts.agent_skills.read.listed(
            AgentSkillFilter(**where), caller, Order("path"), limit=100, offset=0
        )
        assert found.total == len(found.rows)
        return [skill.path for skill in found.rows]

    def piece_rows(self, agent_skill_id: int | None) -> list[tuple[int, str, bool]]:
        """Return the pieces of an Agent Skill in their order: id, heading, and whether it has a vector."""
        rows = self.rows(
            "SELECT p.id, p.heading, v.has_vector FROM mcp.agent_skill_pieces p "
            "CROSS JOIN LATERAL mcp.vector_state('mcp_agent_skills', p.id::text) v "
            "WHERE p.agent_skill_id = :id ORDER BY p.nth",
            id=agent_skill_id,
        )
        return [(id_, heading, has_vector) for id_, heading, has_vector in rows]

    def find_agent_skills(
        self, query: str, caller: Caller = LAPTOP, *, limit: int = 5, parts: Sequence[Part] | None = None
    ) -> AgentSkillSearchResponse:
        """Search as the route does."""
        request = AgentSkillSearchRequest(query=query, limit=limit)
        return self.parts.agent_skill_search(request, caller, parts=parts)
