"""The request and answer models of the routes over Agent Skills."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from skillroute.agent_skills.model import AgentSkill
from skillroute.agent_skills.schemas import AgentSkillInput
from skillroute.agent_skills.sync import MAX_AGENT_SKILLS, AgentSkillOutcome
from skillroute.core.http.bulk_answers import Result, UpsertCounts, bare_list_of
from skillroute.core.input.shown_as import ShownAs

# Each is checked on its own later, so that one that is wrong does not refuse the rest.
_AnyAgentSkill = Annotated[Any, ShownAs(AgentSkillInput, "SkillFolder")]


class UpsertAgentSkillsRequest(BaseModel):
    """Agent Skills to write: ``{"agent_skills": [...]}`` or a bare list."""

    model_config = ConfigDict(extra="forbid")

    agent_skills: list[_AnyAgentSkill] = Field(
        max_length=MAX_AGENT_SKILLS, description="The skills, each with all its files."
    )


UpsertAgentSkillsBody = Annotated[UpsertAgentSkillsRequest, bare_list_of("agent_skills")]


class AgentSkillPatch(BaseModel):
    """The fields of an Agent Skill that are to change. Its content is written with `PUT`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    is_active: bool | None = Field(None, description="Whether searches find it; null or left out, nothing changes.")


class AgentSkillResult(Result):
    """The result of one Agent Skill."""

    path: str | None

    @classmethod
    def of(cls, outcome: AgentSkillOutcome) -> AgentSkillResult:
        """Return what the API says of an outcome."""
        return cls(**cls.shared(outcome, "agent skill"), path=outcome.path)


class UpsertAgentSkillsResponse(UpsertCounts):
    """The results of all Agent Skills, in the order of the request."""

    results: list[AgentSkillResult]
    result_type: ClassVar = AgentSkillResult


class AgentSkillFile(BaseModel):
    """A file of an Agent Skill, without its content."""

    path: str = Field(description="Within the folder.")
    size: int = Field(description="Bytes.")
    digest: str = Field(description="`sha256:` and the hexadecimal SHA-256 of the bytes; the file is read by it.")
    mime_type: str = Field(description="The media type, as it was given or as the ending of the path has it.")


class StoredAgentSkill(BaseModel):
    """An Agent Skill with the list of its files."""

    id: int
    org_id: str | None
    path: str
    name: str
    description: str = Field(description="That of the front matter, without invisible characters.")
    frontmatter: dict[str, Any] = Field(description="Of `SKILL.md`, as it was written.")
    files: list[AgentSkillFile] = Field(description="All files by path, `SKILL.md` among them.")
    is_active: bool = Field(description="False while it is switched off: no search finds it. `PATCH` switches it.")
    is_embedded: bool = Field(
        description="False while some of it has no vector, because it waits or the model refuses its text; words find "
        "it."
    )
    content_hash: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, skill: AgentSkill) -> StoredAgentSkill:
        """Return what the API says of an Agent Skill."""
        return cls(
            id=skill.id,
            org_id=skill.org_id,
            path=skill.path,
            name=skill.name,
            description=skill.description,
            frontmatter=dict(skill.frontmatter),
            files=[AgentSkillFile(**file._asdict()) for file in skill.files],
            is_active=skill.is_active,
            is_embedded=skill.is_embedded,
            content_hash=skill.content_hash,
            created_at=skill.created_at,
            updated_at=skill.updated_at,
        )
