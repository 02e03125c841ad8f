"""Agent Skills: folders with a `SKILL.md`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from skillroute_client.calls import Body, Call, conditional, given, nothing, one, path_of, plain_list
from skillroute_client.engines import M
from skillroute_client.models.agent_skills import StoredAgentSkill
from skillroute_client.models.written import Written
from skillroute_client.operations import Resource, operation, paged
from skillroute_client.pages import Listing
from skillroute_client.resources.options import ListAgentSkills

_PATH = "agent-skills"


class AgentSkills(Resource[M]):
    """Agent Skills."""

    @operation
    def put(self, agent_skills: Iterable[Body], *, dry_run: bool | None = None) -> Call[Written]:
        """Create or change up to 100 Agent Skills with all their files, each judged on its own."""
        body, params = {"agent_skills": plain_list(agent_skills)}, given({"dry_run": dry_run})
        return Call(method="PUT", path=path_of(_PATH), params=params, body=body, read=one(Written))

    @paged
    def list(self, **where: Unpack[ListAgentSkills]) -> Listing[StoredAgentSkill]:
        """List Agent Skills; all conditions must hold."""
        return Listing(path_of(_PATH), StoredAgentSkill, where)

    @operation
    def get(self, agent_skill_id: int) -> Call[StoredAgentSkill]:
        """Return an Agent Skill with the list of its files."""
        return Call(method="GET", path=path_of(_PATH, agent_skill_id), read=one(StoredAgentSkill))

    @operation
    def file(self, agent_skill_id: int, digest: str) -> Call[bytes]:
        """Return the bytes of a file, by its digest as the list of files has it."""
        path = path_of(_PATH, agent_skill_id, "files", digest)
        return Call(method="GET", path=path, read=lambda response: response.content)

    @operation
    def patch(
        self, agent_skill_id: int, *, is_active: bool | None = None, if_match: str | None = None
    ) -> Call[StoredAgentSkill]:
        """Switch an Agent Skill off or on: one that is off is listed, and no search finds it."""
        path, body = path_of(_PATH, agent_skill_id), given({"is_active": is_active})
        return Call(method="PATCH", path=path, body=body, read=one(StoredAgentSkill), **conditional(if_match))

    @operation
    def delete(self, agent_skill_id: int, *, if_match: str | None = None) -> Call[None]:
        """Delete an Agent Skill with its files."""
        return Call(method="DELETE", path=path_of(_PATH, agent_skill_id), read=nothing, **conditional(if_match))
