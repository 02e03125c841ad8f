"""Registry search: requests, answers and the numbers of registry-search-design and decisions 23 to 25."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from skillroute.catalogue.model import JsonObject
from skillroute.core.documents.index.port import IndexKind
from skillroute.core.input.known_fields import NullIsAbsent
from skillroute.core.input.text_fields import without_nul
from skillroute.registry.model import EntityKind
from skillroute.registry.text import Place

EntityType = Literal["mcp_server", "tool", "a2a_agent"]
Fusion = Literal["boost", "rrf", "coverage"]
RegistryMode = Literal["hybrid", "hybrid_rerank"]
RegistrySearchMode = Literal["hybrid", "hybrid_rerank", "lexical-only"]
RegistryDegradation = Literal[
    "embedding_unavailable", "index_unavailable", "index_stale", "tool_search_failed", "reranker_unavailable"
]

ENTITY_TYPES: tuple[EntityType, ...] = ("mcp_server", "tool", "a2a_agent")
TYPE_OF_KIND: dict[EntityKind, EntityType] = {"server": "mcp_server", "agent": "a2a_agent"}

BOOSTS: dict[Place, float] = {
    Place.PATH: 5.0,
    Place.NAME: 3.0,
    Place.DESCRIPTION: 2.0,
    Place.TAGS: 1.5,
    Place.TOOL: 1.0,
}
"""The boosts of a keyword by where it is found, once a place; of tools each is a place (Score Combination)."""

BOOST_SHARE = 0.1
"""How much of the boost enters the relevance (Score Combination)."""

COVERAGE_SHARE = 0.4
"""How much of the coverage enters the relevance where that is what is fused (docs/adr/0017)."""

SERVER_COVERAGE_SHARE = 0.2
"""The same of servers: the words of their tools are known by their best tool as well (docs/adr/0057)."""

BEST_TOOL_SHARE = 0.5
"""How much of what a server's best tool is nearer than the server itself is added to its cosine (docs/adr/0057)."""

HALF_COVERED = 4.0
"""The boost of a keyword that counts as half covered: between a hit in the name and one in the path."""

MAX_LEXICAL_BOOST = 12.5
"""The boost that is a relevance of 1 without the embedding model (Scoring in Lexical-Only Mode)."""

MIN_CANDIDATES = 50
"""The least number of nearest neighbours that the vector search returns (HNSW Tuning)."""

MAX_TAGS = 20
"""Tags of a request."""

MAX_TAG = 64
"""Characters of a tag."""

MAX_EXPLAINED = 1000
"""Candidates of each type that `explain` shows, so that an answer stays within what Lambda can send, 6 MB."""

MAX_QUERY = 10_000
"""Characters of a query: room for a thousand words."""

RegistryQuery = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_QUERY), AfterValidator(without_nul)
]
TagText = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TAG), AfterValidator(without_nul)
]


class RegistrySearchRequest(NullIsAbsent):
    """A search for servers, their tools and agents, as `POST /api/v1/search/registry` takes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    query: RegistryQuery = Field(
        description=f"What is needed, in plain words or by name; 1 to {MAX_QUERY} characters after trimming. "
        "`#tag` in it keeps only what has the tag."
    )
    entity_types: list[EntityType] = Field(
        default_factory=lambda: list(ENTITY_TYPES), min_length=1, max_length=3, description="What to look for."
    )
    max_results: int = Field(3, ge=1, le=50, description="How many of each type to return at most.")
    tags: list[TagText] = Field(
        default_factory=list, max_length=MAX_TAGS, description="Keep only what has all of these, in any case."
    )
    include_disabled: bool = Field(False, description="Find disabled servers and agents too.")
    fusion: Fusion | None = Field(
        None,
        description="boost: similarity plus a tenth of the keyword boosts. rrf: reciprocal ranks of the two searches. "
        "coverage: similarity, of a server that of its best tool as well, plus how much of the query the keywords "
        "cover. Null takes the deployment's default, which is coverage unless it was changed.",
    )
    mode: RegistryMode | None = Field(
        None,
        description="hybrid, which null means too. hybrid_rerank: hybrid, of which a reranker looks at the first of "
        "each type once more.",
    )
    explain: bool = Field(False, description="Show how every candidate was scored.")


ANNOTATIONS = "MCP's hints on what the tool does; null where it has none, or more of them than there is room for."


class ScoreBreakdown(BaseModel):
    """How a candidate was scored: the parts of its `Score for` line in the log."""

    model_config = ConfigDict(frozen=True)

    type: EntityType
    name: str
    path: str = Field(description="Of a tool: its server's.")
    vector: float | None = Field(
        description="Cosine similarity, 0 for what has no vector yet; null without the embedding model."
    )
    normalized_vector: float | None = Field(description="(vector + 1) / 2.")
    text_boost: float = Field(description="The sum over keywords and places.")
    boost_contrib: float = Field(
        description="What the keywords add: text_boost * 0.1; without the embedding model text_boost / 12.5; fused by "
        "coverage, the coverage * 0.4, of a server * 0.2."
    )
    tool_contrib: float = Field(
        0.0,
        description="What a server's nearest tool adds, fused by coverage: a quarter of what it is nearer than the "
        "server itself.",
    )
    vector_rank: int | None = Field(None, description="Its place by vector, from 1, when fused by rank; else null.")
    keyword_rank: int | None = Field(None, description="Its place by boost, from 1, when fused by rank; else null.")
    reranker_logit: float | None = Field(None, description="What the reranker says; null for what it did not look at.")
    unclamped: float = Field(description="What the results are sorted by.")
    final: float = Field(description="The relevance: `unclamped`, within 0..1.")


class MatchingTool(BaseModel):
    """A tool of a server that matched, without its schema."""

    model_config = ConfigDict(frozen=True)

    tool_name: str
    description: str
    relevance_score: float
    tool_id: int = Field(description="By which `/api/v1/tools/{item_id}` knows it.")
    annotations: JsonObject | None = Field(description=ANNOTATIONS)


class ServerMatch(BaseModel):
    """A server that was found."""

    model_config = ConfigDict(frozen=True)

    id: int
    path: str
    server_name: str
    description: str
    tags: list[str]
    is_enabled: bool
    num_tools: int
    relevance_score: float
    matching_tools: list[MatchingTool] = Field(description="The best of its tools that match, ten at most.")


class RegistryToolMatch(BaseModel):
    """A tool of a matching server, graded on its own (decision 25)."""

    model_config = ConfigDict(frozen=True)

    db_id: int
    server_path: str
    server_name: str
    tool_name: str
    description: str
    inputSchema: JsonObject | None  # noqa: N815 (MCP's name for it)
    relevance_score: float
    tool_id: int = Field(description="The same as `db_id`, as every search calls it.")
    server_is_enabled: bool
    annotations: JsonObject | None = Field(description=ANNOTATIONS)


class AgentMatch(BaseModel):
    """An agent that was found, with its card."""

    model_config = ConfigDict(frozen=True)

    id: int
    path: str
    agent_name: str
    description: str
    tags: list[str]
    skills: list[str]
    is_enabled: bool
    relevance_score: float
    agent_card: JsonObject | None = Field(
        description="Null where the answer had no room for it, with no `skills` then."
    )


class RegistrySearchMetadata(BaseModel):
    """How the answer came about. Times are milliseconds of wall clock."""

    model_config = ConfigDict(frozen=True)

    keywords: list[str] = Field(description="What was looked for as words.")
    tags: list[str] = Field(description="What everything in the answer is tagged with.")
    fusion: Fusion
    index: IndexKind | None = Field(
        None,
        description="Which index was searched: embedded (a replica in the process), server (Qdrant) or postgres; null "
        "where none could be.",
    )
    degraded: list[RegistryDegradation] = Field(description="What failed on the way; empty when nothing did.")
    schemas_omitted: list[int] = Field(
        description="`db_id` of tools whose schemas the answer had no room for, in rank order. `GET "
        "/api/v1/tools/{item_id}` has them."
    )
    cards_omitted: list[int] = Field(
        description="`id` of agents whose cards the answer had no room for, in rank order. `GET "
        "/api/v1/agents/{agent_id}` has them."
    )
    descriptions_cut: bool = Field(description="Whether the longest descriptions were cut for room; they end in `…`.")
    explain_omitted: int = Field(description="How many candidates `explain` had no room for.")
    candidate_count: int = Field(description="Servers and agents that either search found.")
    query_embedding_time_ms: float
    vector_search_time_ms: float
    keyword_search_time_ms: float
    tool_search_time_ms: float
    rerank_time_ms: float = Field(0.0, description="Of the reranker; 0 where none was asked.")
    load_time_ms: float
    index_sync_time_ms: float = Field(description="Bringing the index up to date before the search.")
    total_time_ms: float


class RegistrySearchResponse(BaseModel):
    """The answer of `POST /api/v1/search/registry`."""

    model_config = ConfigDict(frozen=True)

    query: str
    search_mode: RegistrySearchMode
    servers: list[ServerMatch]
    tools: list[RegistryToolMatch]
    agents: list[AgentMatch]
    metadata: RegistrySearchMetadata
    explain: list[ScoreBreakdown] | None = Field(
        description="How candidates were scored, the best 1,000 of each type, when asked for; else null."
    )
