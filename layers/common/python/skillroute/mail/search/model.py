"""Message search: requests and answers (message-search, sections 2, 3, 5 and 6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from skillroute.core.answer_size import SEARCH_BYTES
from skillroute.core.documents.lexical_engines import ENGINES, LexicalEngineName
from skillroute.core.input.known_fields import NullIsAbsent
from skillroute.mail.model import DocKind, Importance
from skillroute.mail.text import folded, storable

# In the order of tool search: `typing` takes one for the other in unions, whichever was made first.
Mode = Literal["semantic", "lexical", "hybrid", "hybrid_rerank"]
EngineSetting = Literal[LexicalEngineName, "shadow", "hybrid"]
Fusion = Literal["coverage", "rrf"]
Ranking = Literal["relevance", "recency"]
Direction = Literal["inbox", "outbox"]
Method = Literal["text_match", "like_fallback", "filter_only", "empty"]
DowngradeReason = Literal["feature_unavailable", "kill_switch", "index_not_ready", "engine_error", "invalid_query"]
ScopePolicy = Literal["unrestricted", "caller_scoped", "project_set"]

MAX_TEXT = 10_000
"""Characters of a query after folding."""

MAX_LIMIT = 1000
POOL = 1000
"""How many of the best the scores are normalised over, and how many are fused: neither limit nor cursor change it."""

RRF_K = 60
"""The constant of reciprocal rank fusion, where none is given."""

SNIPPET = 280
"""Characters of a body that a result shows."""

PLACEHOLDER = "[redacted]"

MAX_PROJECTS = 5_000
"""Projects of an agent that a result names."""


def _clamped(least: int, most: int) -> BeforeValidator:
    """Return what brings a whole number into its range, silently; anything else is left to be refused."""
    return BeforeValidator(
        lambda value: min(max(value, least), most) if type(value) is int else value  # a bool is no number here
    )


def engine_setting(value: str | None) -> EngineSetting | None:
    """Return what SEARCH_ENGINE says; an unknown value counts as unset.

    Examples
    --------
    >>> engine_setting("fts5"), engine_setting("elastic")
    ('postgres', None)
    """
    known: dict[str, EngineSetting] = {**ENGINES, "shadow": "shadow", "hybrid": "hybrid"}
    return known.get((value or "").strip().lower())


Id = Annotated[int, Field(ge=1, le=2**63 - 1)]
Storable = AfterValidator(storable)
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=256), Storable]
Timestamp = Annotated[int, Field(ge=-(2**63), le=2**63 - 1)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class TimeRange(_Model):
    """Microseconds since the epoch, both ends included; one that is inverted holds nothing."""

    min_ts: Timestamp | None = None
    max_ts: Timestamp | None = None


class CallerScope(_Model):
    """The caller whose visibility applies."""

    caller_agent: Name = Field(description="The agent whose projects are searched.")


class ProjectSet(_Model):
    """The projects that may be seen."""

    allowed_project_ids: list[Id] = Field(max_length=10_000, description="None at all allow nothing.")


class CallerScoped(_Model):
    """Only what belongs to the projects of an agent."""

    caller_scoped: CallerScope


class ProjectScoped(_Model):
    """Only what belongs to these projects."""

    project_set: ProjectSet


Scope = Literal["unrestricted"] | CallerScoped | ProjectScoped


class Redaction(_Model):
    """The fields of results outside the scope to replace, instead of leaving the results out."""

    redact_body: bool = Field(False, description="Replace subject and body.")
    redact_agent_names: bool = Field(False, description="Replace from, to, cc and bcc.")
    redact_thread_ids: bool = False
    placeholder: Annotated[str, Storable] = Field(PLACEHOLDER, max_length=256)

    @property
    def is_active(self) -> bool:
        """Whether anything is replaced at all; else what is outside the scope is left out."""
        return self.redact_body or self.redact_agent_names or self.redact_thread_ids


class MessageSearchRequest(NullIsAbsent, _Model):
    """A search over agent mail, as `POST /api/v1/search/messages` takes it. All filters must hold."""

    text: Annotated[str, AfterValidator(folded), AfterValidator(lambda text: _at_most(text, MAX_TEXT))] = Field(
        "", description=f"What to find; at most {MAX_TEXT} characters. Without text, filters list what they pass."
    )
    doc_kind: DocKind = "message"
    mode: Mode | None = Field(None, description="How to rank; lexical, unless the deployment says otherwise.")
    ranking: Ranking = Field("relevance", description="recency: newest first, then by id.")
    limit: Annotated[int, _clamped(1, MAX_LIMIT)] = Field(
        50,
        description="1 to 1000; what is beyond is clamped. A page has fewer where they would be over "
        f"{SEARCH_BYTES} bytes; `next_cursor` goes on behind them.",
    )
    rerank_top_k: Annotated[int, _clamped(10, 1000)] = Field(100, description="10 to 1000; clamped.")
    rrf_k: Annotated[int, _clamped(1, 1000)] | None = Field(
        None, description=f"1 to 1000; clamped. Of fusion rrf, which it asks for; null: {RRF_K}."
    )
    fusion: Fusion | None = Field(
        None,
        description="How the hybrid modes fuse their halves. coverage: cosine, and how much of the query's words is "
        "there; then the mean with the best of a message's thread; the default. rrf: reciprocal ranks; the default "
        "where rrf_k is given.",
    )
    min_score: float | None = Field(None, allow_inf_nan=False, description="Results below this score are left out.")
    cursor: str | None = Field(None, description="`next_cursor` of the page before; a malformed one counts as none.")
    explain: bool = False
    project_id: Id | None = None
    product_id: Id | None = Field(None, description="All projects linked to it; ignored with project_id.")
    importance: list[Importance] = Field(default_factory=list, max_length=16)
    direction: Direction | None = Field(None, description="Of agent_name; without one it is ignored.")
    agent_name: Name | None = Field(None, description="Who sent or got the message.")
    sender_name: Name | None = None
    recipient_name: Name | None = Field(None, description="Who is in to, cc or bcc.")
    thread_id: Annotated[str, StringConstraints(min_length=1, max_length=256), Storable] | None = None
    ack_required: bool | None = None
    time_range: TimeRange | None = None
    scope: Scope = "unrestricted"
    redaction: Redaction | None = None

    @property
    def fused_by(self) -> Fusion:
        """How the hybrid modes fuse: who gives `rrf_k` asks for what it is about."""
        return self.fusion or ("coverage" if self.rrf_k is None else "rrf")


def _at_most(text: str, most: int) -> str:
    if len(text) > most:
        raise ValueError(f"has {len(text)} characters, at most {most} are allowed")
    return text


@dataclass(frozen=True, slots=True)
class MailFilter:
    """Conditions of a search, all of which must hold; None is no condition. Both engines take the same.

    Attributes
    ----------
    org_id : str or None
        The caller's: it sees what is global and what is its organisation's.
    project_ids : tuple of int or None
        Every restriction to projects, of rights, scope and filters, in one: what belongs to any of them passes.
    sender, recipient, inbox, party : str or None
        Keys of agents (`mail.agent_key`); a recipient and whose inbox it is both got it, a party is on either side.
    min_ts, max_ts : int or None
        Microseconds, both included.
    """

    kind: DocKind
    org_id: str | None
    project_ids: tuple[int, ...] | None = None
    importance: tuple[Importance, ...] = ()
    sender: str | None = None
    recipient: str | None = None
    inbox: str | None = None
    party: str | None = None
    thread_id: str | None = None
    ack_required: bool | None = None
    min_ts: int | None = None
    max_ts: int | None = None

    @property
    def recipients(self) -> tuple[str, ...]:
        """All who must have got it."""
        return tuple(dict.fromkeys(key for key in (self.recipient, self.inbox) if key is not None))

    @property
    def passes_nothing(self) -> bool:
        """Whether nothing can pass: no project is left, or the time range is inverted."""
        inverted = self.min_ts is not None and self.max_ts is not None and self.min_ts > self.max_ts
        return self.project_ids == () or inverted
