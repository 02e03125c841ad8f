"""The search for Agent Skills: request and answer."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from skillroute.core.documents.index.port import IndexKind
from skillroute.core.input.known_fields import NullIsAbsent
from skillroute.core.input.text_fields import without_nul

Part = Literal["description", "body"]
"""The part of a skill that a piece is of: name and description, or the body of `SKILL.md`."""

AgentSkillSearchMode = Literal["hybrid", "lexical-only"]
AgentSkillDegradation = Literal["embedding_unavailable", "vectors_missing", "index_unavailable", "index_stale"]

MAX_QUERY = 1000
"""Characters of a query."""


class AgentSkillSearchRequest(NullIsAbsent):
    """A search for Agent Skills, as `POST /api/v1/search/agent-skills` takes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    query: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY), AfterValidator(without_nul)
    ] = Field(description=f"The task in plain words; 1 to {MAX_QUERY} characters after trimming.")
    limit: int = Field(5, ge=1, le=50, description="The maximum number of skills in the answer.")


class MatchedPiece(BaseModel):
    """The piece of an Agent Skill that fits the query best."""

    model_config = ConfigDict(frozen=True)

    part: Part = Field(description="description: name and description. body: a piece of the body of `SKILL.md`.")
    heading: str | None = Field(description="The headings above it, `Refunds > Partial refunds`; null without any.")
    snippet: str = Field(description="The beginning of the piece; it ends in `…` where it was cut.")


class AgentSkillMatch(BaseModel):
    """An Agent Skill that was found."""

    model_config = ConfigDict(frozen=True)

    id: int
    org_id: str | None
    path: str
    name: str
    description: str
    score: float = Field(description="0 to 1; comparable within one answer.")
    similarity: float | None = Field(
        description="The cosine of its nearest piece; null where it was found by words alone."
    )
    matched: MatchedPiece = Field(description="The piece that fits the query best.")


class AgentSkillSearchMetadata(BaseModel):
    """How the answer came about. Times are milliseconds of wall clock."""

    model_config = ConfigDict(frozen=True)

    index: IndexKind | None = Field(description="Which index was searched; null where none could be.")
    degraded: list[AgentSkillDegradation] = Field(description="What failed on the way; empty when nothing did.")
    query_embedding_time_ms: float
    search_time_ms: float = Field(description="Asking the index.")
    load_time_ms: float
    index_sync_time_ms: float = Field(description="Bringing the index up to date before the search.")
    total_time_ms: float


class AgentSkillSearchResponse(BaseModel):
    """The answer of `POST /api/v1/search/agent-skills`."""

    model_config = ConfigDict(frozen=True)

    query: str
    search_mode: AgentSkillSearchMode
    agent_skills: list[AgentSkillMatch] = Field(description="The best first, each skill once.")
    metadata: AgentSkillSearchMetadata
