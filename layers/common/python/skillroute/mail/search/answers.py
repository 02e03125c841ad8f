"""The answers of message search (message-search, sections 5 and 6)."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field

from skillroute.core.documents.lexical_engines import WireName
from skillroute.mail.model import DocKind, Importance, moment_of
from skillroute.mail.search.cursor import WireEngine

# In the order of tool search: `typing` takes one for the other in unions, whichever was made first.
from skillroute.mail.search.model import MAX_PROJECTS, DowngradeReason, Method, Mode, ScopePolicy


class _Out(BaseModel):
    model_config = ConfigDict(frozen=True, populate_by_name=True)


class MessageResult(_Out):
    """A message, an agent or a project that was found."""

    doc_kind: DocKind
    id: int
    score: float = Field(description="0 to 1, higher is better.")
    raw_score: float | None = Field(None, description="The engine's own score; with explain.")
    redacted: Literal[True] | None = None
    created_ts: int = Field(description="Microseconds since the epoch.")
    key: str | None = Field(None, description="The writer's own id, of messages and projects.")
    name: str | None = Field(None, description="Of agents and projects.")
    description: str | None = Field(None, description="Of agents and projects.")
    contact: str | None = Field(None, description="Of agents.")
    project_ids: list[int] | None = Field(
        None, description=f"Of agents: those that the caller may see, the first {MAX_PROJECTS}."
    )
    project_id: int | None = None
    thread_id: str | None = None
    subject: str | None = None
    snippet: str | None = Field(None, description="The beginning of the body.")
    importance: Importance | None = None
    ack_required: bool | None = None
    sender: str | None = Field(None, alias="from", serialization_alias="from")
    to: list[str] | None = None
    cc: list[str] | None = None
    bcc: list[str] | None = None
    reason_codes: list[str] | None = Field(None, description="Why it was found; with explain.")
    score_factors: dict[str, float] | None = Field(None, description="What its score is made of; with explain.")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def created_at(self) -> datetime:
        """`created_ts` as RFC 3339, in UTC."""
        return moment_of(self.created_ts)


class Timing(_Out):
    """Microseconds of wall clock, in all and by stage; a stage that did not run is left out."""

    total_us: int
    lexical_us: int | None = None
    vector_us: int | None = None
    fusion_us: int | None = None
    rerank_us: int | None = None
    scope_us: int | None = None


class ShadowComparison(_Out):
    """How the answers of the two lexical engines differ, over the first results."""

    serving_engine: WireName
    shadow_engine: WireName
    overlap_jaccard: float
    ndcg_at_10: float = Field(description="Of the shadow's list against the serving top 10, binary gain.")
    mrr_delta: float = Field(description="Reciprocal rank of the serving list's first in the shadow's, minus 1.")
    serving_only: list[int]
    shadow_only: list[int]


class Explain(_Out):
    """The stages that ran, and why (message-search, section 5)."""

    method: Method
    normalized_query: str
    used_like_fallback: bool
    facet_count: int
    facets_applied: list[str]
    sql: str = Field(description="Placeholders only; empty for callers who are no operators.")
    scope_policy: ScopePolicy
    denied_count: int
    redacted_count: int
    mode_downgraded: bool
    cursor_invalidated: bool
    requested_mode: Mode | None = None
    actual_mode: Mode | None = None
    engine: WireEngine | None = None
    downgrade_reason: DowngradeReason | None = None
    timing: Timing | None = None
    shadow: ShadowComparison | None = None


class MessageSearchResponse(_Out):
    """A page of results; `next_cursor` is there exactly when the page is full: of `limit` results, or of bytes."""

    results: list[MessageResult]
    next_cursor: str | None = None
    mode: Mode = Field(description="What was served, which may be less than what was asked for.")
    engine: WireEngine | None = Field(None, description="Who ordered; none when nothing was searched.")
    explain: Explain | None = None

    def to_json(self) -> bytes:
        """Return the answer as JSON; what has no value is left out."""
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_none=True)
