"""Agent Skills: folders with a `SKILL.md`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from skillroute_client.models.base import Answer


class AgentSkillFile(Answer):
    """A file of an Agent Skill; `digest` is what `agent_skills.file` takes."""

    path: str
    size: int
    digest: str
    mime_type: str


class StoredAgentSkill(Answer):
    """An Agent Skill with the list of its files."""

    id: int
    org_id: str | None = None
    path: str
    name: str
    description: str = ""
    frontmatter: dict[str, Any] = {}
    files: list[AgentSkillFile] = []
    is_active: bool = True
    is_embedded: bool = False
    content_hash: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None


class MatchedPiece(Answer):
    """The piece of an Agent Skill that fits the query best: of its `description` or of its `body`."""

    part: str
    heading: str | None = None
    snippet: str


class AgentSkillMatch(Answer):
    """An Agent Skill that was found."""

    id: int
    org_id: str | None = None
    path: str
    name: str
    description: str = ""
    score: float
    similarity: float | None = None
    matched: MatchedPiece


class AgentSkillSearchMetadata(Answer):
    """How the answer came about."""

    index: str | None = None
    degraded: list[str] = []
    query_embedding_time_ms: float = 0.0
    search_time_ms: float = 0.0
    load_time_ms: float = 0.0
    index_sync_time_ms: float = 0.0
    total_time_ms: float = 0.0


class AgentSkillAnswer(Answer):
    """The Agent Skills that fit a query, the best first."""

    query: str
    search_mode: str | None = None
    agent_skills: list[AgentSkillMatch] = []
    metadata: AgentSkillSearchMetadata = Field(default_factory=AgentSkillSearchMetadata)
