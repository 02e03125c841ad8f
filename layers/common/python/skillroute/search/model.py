"""Search requests and answers, with the limits and defaults of search-contract and decisions 1 to 12."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)

from skillroute.catalogue.model import DEFAULT_TOOL_THRESHOLD, ItemType, JsonObject
from skillroute.core.documents.index.port import IndexKind
from skillroute.core.input.known_fields import NullIsAbsent, OneNameEach
from skillroute.core.input.text_fields import without_nul
from skillroute.core.search_run import Degradation, SearchMode
from skillroute.search.candidates.server_names import ServerNames

Strategy = Literal["hierarchical", "direct", "hybrid"]
Mode = Literal["semantic", "lexical", "hybrid", "hybrid_rerank"]
Format = Literal["mcp"]
Fit = Literal["likely", "unsure", "unlikely"]
FallbackReason = Literal["no_skill_matched", "no_skills", "skill_search_failed", "skill_search_timeout"]
Query = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000), AfterValidator(without_nul)
]
Threshold = Annotated[float, Field(ge=0.0, le=1.0)]

DEFAULT_SKILL_LIMIT = 3
DEFAULT_SKILL_THRESHOLD = 0.4
MAX_SKILLS = 10
"""That one search may match."""
MAX_NEEDS = 10
_MAX_UNASKED = 10
"""Items of an answer to several needs that names no limit."""

Needs = Annotated[list[Query], Field(min_length=1, max_length=MAX_NEEDS)]


def query_or_needs(query: str | None, info: ValidationInfo) -> str | None:
    """Return the query of a search, whose needs were read before. Raises `ValueError` where neither is."""
    if query is None and info.data.get("needs", ...) is None:
        raise ValueError("is missing: say what is needed in query, or one by one in needs")
    return query


def most_items(limit: int, needs: Sequence[str] | None, *, is_asked_for: bool) -> int:
    """Return how many items an answer has at most: two for each need where no number was asked for."""
    return limit if needs is None or is_asked_for else max(limit, min(_MAX_UNASKED, 2 * len(needs)))


class SearchRequest(NullIsAbsent, OneNameEach):
    """A search for tools, as `POST /api/v1/search` takes it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    needs: Needs | None = Field(
        None,
        description="What a task needs, one tool or so each, as verb, object and kind of app; each as `query`. One "
        "answer serves all of them: the best of each in turn, what serves several first, each item once.",
    )
    query: Query | None = Field(
        None,
        validate_default=True,
        description="What is needed, in plain words; 1 to 1000 characters after trimming. Required but with `needs`, "
        "beside which it is the task that they are of: what only it finds serves no need.",
    )
    item_type: ItemType | None = Field(
        None,
        validation_alias=AliasChoices("item_type", "type"),
        description="Only items of this type; null searches all types.",
    )
    limit: int = Field(
        5,
        ge=1,
        le=50,
        description="How many items to return at most; with `needs` in all. Without it two for each need, 5 to 10.",
    )
    skill_limit: int | None = Field(
        None,
        ge=1,
        le=MAX_SKILLS,
        description=f"How many skills to match at most. Null: {DEFAULT_SKILL_LIMIT}; in the hybrid modes as many as "
        f"`limit`, from {DEFAULT_SKILL_LIMIT} to {MAX_SKILLS}.",
    )
    skill_threshold: Threshold | None = Field(
        None,
        description=f"Minimum cosine similarity of a skill. Null: {DEFAULT_SKILL_THRESHOLD}; in the hybrid modes none.",
    )
    tool_threshold: Threshold | None = Field(
        None,
        description=f"Minimum cosine similarity of a tool. Null: {DEFAULT_TOOL_THRESHOLD}; in the hybrid modes none.",
    )
    include_schemas: bool = Field(True, description="Load input_schema, output_schema and annotations.")
    strategy: Strategy = Field(
        "hierarchical",
        description="hierarchical: skills first, then their tools. direct: all tools. hybrid: both, merged.",
    )
    explain: bool = Field(False, description="Say of each result what its score is made of.")
    collapse_duplicates: bool = Field(
        False,
        description="Of near-duplicates of one tool from several servers return the best, with the others in its "
        "`duplicates`; what follows takes their places. With `needs` that is done anyway, and this names the others.",
    )
    used_with: bool = Field(False, description="Name with each result the tools that tasks called together with it.")
    server: ServerNames | None = Field(
        None, description="Only items of this MCP server, or of these; named as hits name theirs, or by its path."
    )
    format: Format | None = Field(
        None,
        description="mcp: tools only, each as MCP lists it (`name`, `description`, `inputSchema`), ready to be handed "
        "to a model. Null answers with all fields.",
    )
    no_match_below: Threshold | None = Field(
        None,
        description="`no_match` where `confidence_first_five` is below this; `skillroute eval` shows what a bound "
        "loses and refuses. Null takes the deployment's.",
    )
    mode: Mode | None = Field(
        None,
        description="How to rank: by meaning (semantic), by words (lexical, BM25), or by both (hybrid), where score is "
        "an estimate of how likely the item serves the request, or one of its needs. hybrid_rerank: hybrid, whose "
        "first 20 a reranker looks at once more. Null takes the deployment's default.",
    )

    _query_or_needs = field_validator("query")(query_or_needs)

    @model_validator(mode="after")
    def _the_format_has_room_for_it(self) -> Self:
        if self.format != "mcp":
            return self
        if self.item_type not in (None, "tool"):
            raise ValueError(f"format mcp returns tools only: leave item_type {self.item_type} or the format out")
        if not self.include_schemas:
            raise ValueError("format mcp always has schemas: leave include_schemas or the format out")
        if self.explain:
            raise ValueError("format mcp cannot explain: leave explain or the format out")
        if self.used_with:
            raise ValueError("format mcp has no place for used_with: leave used_with or the format out")
        return self

    @property
    def searched_type(self) -> ItemType | None:
        """The one type that is searched; None where all are."""
        return "tool" if self.format == "mcp" else self.item_type

    @property
    def text(self) -> str:
        """The query, where there is one."""
        return self.query or ""

    @property
    def texts(self) -> list[str]:
        """All that is searched for: the needs, then the query."""
        return [*(self.needs or ()), *([] if self.query is None else [self.query])]

    @property
    def most(self) -> int:
        """How many items are returned at most."""
        return most_items(self.limit, self.needs, is_asked_for="limit" in self.model_fields_set)


class SkillMatch(BaseModel):
    """A skill that a query matched (search-contract BR-002)."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    description: str
    score: float = Field(
        description="Cosine similarity, or the share of the best BM25 score, or in the hybrid modes that of its best "
        "tool; 0..1."
    )
    tool_count: int = Field(description="Its active tools that the caller sees.")


class ToolMatch(BaseModel):
    """An item that a query matched, without its schemas."""

    model_config = ConfigDict(frozen=True)

    id: str
    db_id: int
    tool_id: int = Field(description="The item's id as a number, by which `/api/v1/tools/{item_id}` knows it.")
    type: ItemType
    name: str
    description: str
    server: str | None = Field(description="The MCP server that offers the item; null when it has none.")
    server_path: str | None = Field(
        description="The server's path in the registry; null where the registry does not have the server."
    )
    server_is_enabled: bool | None = Field(
        description="Whether the server is enabled; null where the registry does not have it. Items of disabled "
        "servers are in no search."
    )
    score: float = Field(description="What the results are sorted by, behind those that the request names; 0..1.")
    similarity: float | None = Field(
        description="The plain cosine similarity, 0..1; null when ranked lexically, or without a vector."
    )
    skill_ids: list[str]
    primary_skill_id: str | None
    annotations: JsonObject | None = Field(
        None, description="MCP's hints on what the tool does; null where it has none."
    )


class EnrichedTool(ToolMatch):
    """An item with its schemas; these and annotations are null when they were not asked for or could not be loaded."""

    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None


class SearchMetadata(BaseModel):
    """How the answer came about (search-contract BR-007). Times are milliseconds of wall clock."""

    model_config = ConfigDict(frozen=True)

    search_id: str | None = Field(
        None, description="By which the results of calls are reported; null where no receipts of searches are kept."
    )
    strategy_used: Strategy
    search_mode: SearchMode
    index: IndexKind | None = Field(
        None,
        description="Which index was searched: embedded (a replica in the process), server (Qdrant) or postgres; null "
        "where none could be.",
    )
    skill_ids_used: list[str] | None
    fallback_reason: FallbackReason | None = Field(description="Why no skill narrowed the search; else null.")
    degraded: list[Degradation] = Field(description="What failed on the way; empty when nothing did.")
    confidence: float | None = Field(
        None,
        description="In the hybrid modes how likely the first result serves the request, 0..1, calibrated for requests "
        "of which one in five has no tool. Null in other modes, without results, for a request in a language other "
        "than English, and with an embedding model of which this is not known.",
    )
    confidence_first_five: float | None = Field(
        None,
        description="How likely one of the first five results serves the request, or one of its needs; null where "
        "`confidence` is.",
    )
    no_match: bool = Field(
        False,
        description="Nothing seems to fit: `confidence_first_five` is below the deployment's threshold, and `tools` "
        "are the nearest alternatives; or nothing was found at all, though nothing failed; or, in the hybrid modes for "
        "a request in another language than English, no result has a word of it.",
    )
    fit: Fit | None = Field(
        None,
        description="The same in a word. likely: the request names the first, or `confidence_first_five` is 0.7 or "
        "more. unlikely: it is below a third, or `no_match`. Else unsure; null where the confidence is, and something "
        "was found.",
    )
    language: str | None = Field(
        None, description="Of the request (ISO 639-1), or its first need that has one; null: English, or not known."
    )
    language_unknown_to_model: bool = Field(False, description="It has one, and the packaged models know English only.")
    schemas_omitted: list[str] = Field(
        description="Ids of tools whose schemas are null because the answer had no room for them: from the first that "
        "did not fit on, in rank order. `GET /api/v1/tools/{item_id}` has them."
    )
    descriptions_cut: bool = Field(description="Whether the longest descriptions were cut for room; they end in `…`.")
    stage1_skill_count: int
    stage2_candidate_count: int = Field(
        description="Items that passed filter and threshold before the cut to limit, counted within a candidate pool "
        "of at least 100; in the hybrid modes one by meaning and one by words."
    )
    final_count: int
    query_embedding_time_ms: float
    skill_search_time_ms: float
    tool_search_time_ms: float
    rerank_time_ms: float = Field(0.0, description="Of the reranker, as part of the tool search or the skill search.")
    schema_load_time_ms: float
    index_sync_time_ms: float = Field(description="Bringing the index up to date before the search.")
    total_time_ms: float


class SearchResponse(BaseModel):
    """The answer of `POST /api/v1/search`."""

    model_config = ConfigDict(frozen=True)

    query: str | None = Field(description="As it was asked; null where needs alone were.")
    tools: Sequence[EnrichedTool]
    matched_skills: list[SkillMatch]
    metadata: SearchMetadata
