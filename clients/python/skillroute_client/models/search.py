"""What searches answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

import httpx
from pydantic import Field

from skillroute_client.models.base import Answer

T = TypeVar("T")


class SkillMatch(Answer):
    """A skill that a query matches."""

    id: str
    name: str
    description: str = ""
    score: float
    tool_count: int = 0


class ToolMatch(Answer):
    """A tool, prompt or resource that a query matches. `id` is the importer's, `db_id` what paths have."""

    id: str
    db_id: int
    type: str = "tool"
    name: str
    description: str = ""
    server: str | None = None
    score: float
    similarity: float | None = None
    skill_ids: list[str] = []
    primary_skill_id: str | None = None


class Duplicate(Answer):
    """The same tool of another server."""

    id: str
    db_id: int
    name: str
    server: str | None = None
    score: float


class FoundTool(ToolMatch):
    """A tool with its schemas; `explain` and `duplicates` where they were asked for."""

    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    explain: dict[str, Any] | None = None
    duplicates: list[Duplicate] | None = None


class SearchMetadata(Answer):
    """How a search went. Times are in milliseconds."""

    strategy_used: str | None = None
    search_mode: str | None = None
    skill_ids_used: list[str] | None = None
    fallback_reason: str | None = None
    degraded: list[str] = []
    confidence: float | None = None
    confidence_first_five: float | None = None
    no_match: bool = False
    schemas_omitted: list[str] = []
    descriptions_cut: bool = False
    stage1_skill_count: int = 0
    stage2_candidate_count: int = 0
    final_count: int = 0
    total_time_ms: float = 0.0


class SearchAnswer(Answer):
    """The tools that fit a request, the best first."""

    query: str
    tools: list[FoundTool]
    matched_skills: list[SkillMatch] = []
    metadata: SearchMetadata = Field(default_factory=SearchMetadata)
    explain: dict[str, Any] | None = None


class Matches(list[T]):
    """What a search without a document around it found, the best first, and what its headers say.

    Attributes
    ----------
    search_mode : str or None
        How it was ranked.
    degraded : list of str
        What failed on the way.
    confidence : float or None
        The probability that the first one fits, of tools.
    no_match : bool
        Whether nothing seems to fit, of tools.
    """

    def __init__(self, found: Iterable[T], headers: httpx.Headers) -> None:
        super().__init__(found)
        self.search_mode: str | None = headers.get("x-search-mode")
        self.degraded = [name.strip() for name in headers.get("x-degraded", "").split(",") if name.strip()]
        self.confidence = float(headers["x-confidence"]) if headers.get("x-confidence") else None
        self.no_match = headers.get("x-no-match", "false").lower() == "true"


class MatchingTool(Answer):
    """A tool of a server that a query matches."""

    tool_name: str
    description: str = ""
    relevance_score: float


class ServerMatch(Answer):
    """An MCP server that a query matches."""

    id: int
    path: str
    server_name: str
    description: str = ""
    tags: list[str] = []
    is_enabled: bool = True
    num_tools: int = 0
    relevance_score: float
    matching_tools: list[MatchingTool] = []


class RegistryToolMatch(Answer):
    """A server's tool that a query matches."""

    db_id: int
    server_path: str
    server_name: str
    tool_name: str
    description: str = ""
    input_schema: dict[str, Any] | None = Field(default=None, alias="inputSchema")
    relevance_score: float


class AgentMatch(Answer):
    """An A2A agent that a query matches."""

    id: int
    path: str
    agent_name: str
    description: str = ""
    tags: list[str] = []
    skills: list[str] = []
    is_enabled: bool = True
    relevance_score: float
    agent_card: dict[str, Any] | None = None


class RegistryMetadata(Answer):
    """How a search of the registry went. Times are in milliseconds."""

    keywords: list[str] = []
    tags: list[str] = []
    fusion: str | None = None
    degraded: list[str] = []
    candidate_count: int = 0
    total_time_ms: float = 0.0


class RegistryAnswer(Answer):
    """The servers, their tools, and the agents that fit a request."""

    query: str
    search_mode: str | None = None
    servers: list[ServerMatch] = []
    tools: list[RegistryToolMatch] = []
    agents: list[AgentMatch] = []
    metadata: RegistryMetadata = Field(default_factory=RegistryMetadata)
    explain: list[dict[str, Any]] | None = None
