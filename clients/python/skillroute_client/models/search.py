"""The answers of searches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar
from urllib.parse import unquote

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
    """A tool, prompt or resource that a query matches; `explain` where it was asked for.

    `id` is the importer's. `db_id` is what paths have, and `tool_id` the same number under the name that other routes
    use for it.
    """

    id: str
    db_id: int
    tool_id: int | None = None
    type: str = "tool"
    name: str
    description: str = ""
    server: str | None = None
    server_path: str | None = None
    server_is_enabled: bool | None = None
    score: float
    similarity: float | None = None
    skill_ids: list[str] = []
    primary_skill_id: str | None = None
    annotations: dict[str, Any] | None = None
    explain: dict[str, Any] | None = None


class Duplicate(Answer):
    """The same tool of another server."""

    id: str
    db_id: int
    name: str
    server: str | None = None
    score: float


class UsedWith(Answer):
    """A tool that so many tasks called together with another."""

    tool_id: int
    id: str
    name: str
    server: str | None = None
    searches: int


class FoundTool(ToolMatch):
    """A tool with its schemas; `duplicates` and `used_with` where they were asked for.

    `needs` are the places of the needs that it serves, where needs were stated.
    """

    input_schema: dict[str, Any] | None = None
    output_schema: dict[str, Any] | None = None
    duplicates: list[Duplicate] | None = None
    used_with: list[UsedWith] | None = None
    needs: list[int] = []


class NeedAnswered(Answer):
    """How well one need is served; `no_match` where nothing seems to serve it."""

    need: str
    confidence: float | None = None
    confidence_first_five: float | None = None
    no_match: bool = False
    fit: str | None = None
    explain: dict[str, Any] | None = None


class SearchMetadata(Answer):
    """How a search went. Times are in milliseconds; `needs` are those that were stated, in their order."""

    search_id: str | None = None
    strategy_used: str | None = None
    search_mode: str | None = None
    index: str | None = None
    skill_ids_used: list[str] | None = None
    fallback_reason: str | None = None
    degraded: list[str] = []
    confidence: float | None = None
    confidence_first_five: float | None = None
    no_match: bool = False
    fit: str | None = None
    language: str | None = None
    language_unknown_to_model: bool = False
    needs: list[NeedAnswered] = []
    schemas_omitted: list[str] = []
    descriptions_cut: bool = False
    stage1_skill_count: int = 0
    stage2_candidate_count: int = 0
    final_count: int = 0
    query_embedding_time_ms: float = 0.0
    skill_search_time_ms: float = 0.0
    tool_search_time_ms: float = 0.0
    rerank_time_ms: float = 0.0
    schema_load_time_ms: float = 0.0
    index_sync_time_ms: float = 0.0
    total_time_ms: float = 0.0


class SearchAnswer(Answer):
    """The tools that fit a request, the best first.

    `unknown_servers` are those of the filter `server` that have no active tool. `query` is None where needs alone were
    stated.
    """

    query: str | None = None
    tools: list[FoundTool]
    matched_skills: list[SkillMatch] = []
    metadata: SearchMetadata = Field(default_factory=SearchMetadata)
    explain: dict[str, Any] | None = None
    unknown_servers: list[str] = []


class McpTool(Answer):
    """A tool as MCP's `tools/list` has it, with a name that no other one of the answer has.

    `meta` says which one it is: ``skillroute/tool_id``, ``skillroute/server``, ``skillroute/name`` and its score.
    """

    name: str
    description: str = ""
    input_schema: dict[str, Any] = Field(alias="inputSchema")
    output_schema: dict[str, Any] | None = Field(default=None, alias="outputSchema")
    annotations: dict[str, Any] | None = None
    meta: dict[str, Any] = Field(alias="_meta")


class McpAnswer(Answer):
    """The tools that fit a request, ready for a model."""

    query: str | None = None
    tools: list[McpTool]
    matched_skills: list[SkillMatch] = []
    metadata: SearchMetadata = Field(default_factory=SearchMetadata)


class Matches(list[T]):
    """The results of a search that answers a bare list, best first, and its headers.

    Attributes
    ----------
    search_id : str or None
        By which outcomes are reported, of tools; None where no receipts are kept.
    search_mode : str or None
        How it was ranked.
    degraded : list of str
        What failed on the way.
    confidence : float or None
        The probability that the first one fits, of tools.
    no_match : bool
        Whether nothing seems to fit, of tools.
    unknown_servers : list of str
        Those of the filter `server` that have no active tool.
    descriptions_cut : bool
        Whether the longest descriptions were cut for room.
    annotations_omitted : int
        Of how many tools `annotations` had no room.
    """

    def __init__(self, found: Iterable[T], headers: httpx.Headers) -> None:
        super().__init__(found)
        self.search_id: str | None = headers.get("x-search-id")
        self.search_mode: str | None = headers.get("x-search-mode")
        self.degraded = [name.strip() for name in headers.get("x-degraded", "").split(",") if name.strip()]
        self.confidence = float(headers["x-confidence"]) if headers.get("x-confidence") else None
        self.no_match = headers.get("x-no-match", "false").lower() == "true"
        unknown = headers.get("x-unknown-servers", "").split(",")
        self.unknown_servers = [unquote(name.strip()) for name in unknown if name.strip()]
        self.descriptions_cut = headers.get("x-descriptions-cut", "false").lower() == "true"
        self.annotations_omitted = int(headers.get("x-annotations-omitted", "0"))


class MatchingTool(Answer):
    """A tool of a server that a query matches; `tool_id` is what paths have."""

    tool_name: str
    description: str = ""
    relevance_score: float
    tool_id: int | None = None
    annotations: dict[str, Any] | None = None


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
    """A server's tool that a query matches; `tool_id` is the same number as `db_id`."""

    db_id: int
    tool_id: int | None = None
    server_path: str
    server_name: str
    tool_name: str
    description: str = ""
    input_schema: dict[str, Any] | None = Field(default=None, alias="inputSchema")
    annotations: dict[str, Any] | None = None
    server_is_enabled: bool | None = None
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
    index: str | None = None
    degraded: list[str] = []
    schemas_omitted: list[int] = []
    cards_omitted: list[int] = []
    descriptions_cut: bool = False
    explain_omitted: int = 0
    candidate_count: int = 0
    query_embedding_time_ms: float = 0.0
    vector_search_time_ms: float = 0.0
    keyword_search_time_ms: float = 0.0
    tool_search_time_ms: float = 0.0
    rerank_time_ms: float = 0.0
    load_time_ms: float = 0.0
    index_sync_time_ms: float = 0.0
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
