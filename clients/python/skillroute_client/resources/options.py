"""The options of searches and lists; an option that is left out or None is the server's default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

ItemType = Literal["tool", "prompt", "resource"]
Mode = Literal["semantic", "lexical", "hybrid", "hybrid_rerank"]
Importance = Literal["low", "normal", "high", "urgent"]
Yes = Literal["true", "false", "all"] | bool
Order = Literal["id", "-id", "name", "-name", "updated_at", "-updated_at"]
SuggestionStatus = Literal["pending", "approved", "rejected", "merged"]


class PageOptions(TypedDict, total=False):
    """Where a list begins, and how many rows a page has (1,000 at most)."""

    limit: int | None
    offset: int | None


class SortedOptions(PageOptions, total=False):
    """In which order a list comes, only what was written at a moment or later, and where a former walk ended.

    Rows that come by `cursor`, or by `sort` or `updated_since`, are listed once each, also when others come and go.
    """

    sort: Order | None
    updated_since: datetime | str | None
    cursor: str | None


class ListUse(PageOptions, total=False):
    """Of `learning.unserved` and `learning.judged`: only what was asked or reported in so many days."""

    days: int | None


class ListReceipts(TypedDict, total=False):
    """Of `learning.receipts`: those of a caller, and how many a page has."""

    caller: str | None
    limit: int | None
    cursor: str | None


class TraceOptions(TypedDict, total=False):
    """Of `trace`: which events, and how many at most. `after` is `at` and `id` of an event with a comma between."""

    kind: str | None
    outcome: str | None
    actor: str | None
    since: datetime | str | None
    until: datetime | str | None
    after: str | None
    limit: int | None


class McpSearchOptions(TypedDict, total=False):
    """Of `search_mcp`. Needs are what a task takes, one text each; each result then says which of them it serves."""

    needs: Sequence[str] | None
    item_type: ItemType | None
    limit: int | None
    skill_limit: int | None
    skill_threshold: float | None
    tool_threshold: float | None
    strategy: Literal["hierarchical", "direct", "hybrid"] | None
    no_match_below: float | None
    mode: Mode | None
    collapse_duplicates: bool | None
    server: str | Sequence[str] | None


class SearchOptions(McpSearchOptions, total=False):
    """Of `search`."""

    include_schemas: bool | None
    explain: bool | None
    used_with: bool | None


class SearchRequest(SearchOptions, total=False):
    """One search of `search_batch`: with a query, with needs, or with both."""

    query: str


class SkillSearchOptions(TypedDict, total=False):
    """Of `search_skills`."""

    limit: int | None
    threshold: float | None
    mode: Mode | None


class ToolSearchOptions(SkillSearchOptions, total=False):
    """Of `search_tools`."""

    skill_ids: Sequence[str] | None
    item_type: ItemType | None
    server: str | Sequence[str] | None
    explain: bool | None


class RegistryOptions(TypedDict, total=False):
    """Of `search_registry`."""

    entity_types: Sequence[Literal["mcp_server", "tool", "a2a_agent"]] | None
    max_results: int | None
    tags: Sequence[str] | None
    include_disabled: bool | None
    mode: Literal["hybrid", "hybrid_rerank"] | None
    fusion: Literal["boost", "rrf", "coverage"] | None
    explain: bool | None


class SkillFields(TypedDict, total=False):
    """The fields of a skill that can be changed. None empties `parent_domain`."""

    name: str
    description: str
    keywords: Sequence[str]
    examples: Sequence[str]
    parent_domain: str | None
    is_active: bool


class ListSkills(SortedOptions, total=False):
    """Of `skills.list`."""

    is_active: Yes | None
    parent_domain: str | None


class ListTools(SortedOptions, total=False):
    """Of `tools.list`."""

    type: ItemType | None
    server: str | None
    name: str | None
    tag: str | None
    skill_id: str | None
    is_active: Yes | None


class ListEntities(SortedOptions, total=False):
    """Of `agents.list`."""

    path: str | None
    tag: str | None
    is_enabled: Yes | None


class ListServers(ListEntities, total=False):
    """Of `servers.list`."""

    seen_outcome: Literal["seen", "doubted", "failed", "left_out"] | None


class ListChanged(SortedOptions, total=False):
    """Of `trust.changed`."""

    is_quarantined: Yes | None


class ListAgentSkills(SortedOptions, total=False):
    """Of `agent_skills.list`."""

    path: str | None
    name: str | None
    is_active: Yes | None


class ListSuggestions(SortedOptions, total=False):
    """Of `suggestions.list`."""

    status: SuggestionStatus | None
    name: str | None


class ListGroups(PageOptions, total=False):
    """Of `suggestions.groups`."""

    status: SuggestionStatus | None


class ListKeyed(PageOptions, total=False):
    """Of `projects.list` and `products.list`."""

    key: str | None


class ListMailAgents(PageOptions, total=False):
    """Of `mail_agents.list`."""

    name: str | None
    project_id: int | None


class ListMessages(PageOptions, total=False):
    """Of `messages.list`."""

    key: str | None
    project_id: int | None
    thread_id: str | None
    sender: str | None
    recipient: str | None
    importance: Importance | None
    ack_required: bool | None


class MessageOptions(TypedDict, total=False):
    """Of `messages.search`."""

    doc_kind: Literal["message", "agent", "project"] | None
    mode: Mode | None
    ranking: Literal["relevance", "recency"] | None
    fusion: Literal["coverage", "rrf"] | None
    rrf_k: int | None
    rerank_top_k: int | None
    limit: int | None
    min_score: float | None
    cursor: str | None
    explain: bool | None
    project_id: int | None
    product_id: int | None
    importance: Sequence[Importance] | None
    direction: Literal["inbox", "outbox"] | None
    agent_name: str | None
    sender_name: str | None
    recipient_name: str | None
    thread_id: str | None
    ack_required: bool | None
    time_range: Mapping[str, int] | None
    scope: str | Mapping[str, Any] | None
    redaction: Mapping[str, Any] | None


class ProductMessageOptions(TypedDict, total=False):
    """Of `messages.search_product`."""

    limit: int | None
    project: str | None
    sender: str | None
    importance: str | None
    thread_id: str | None
    since: str | None
    until: str | None
    ranking: Literal["relevance", "recency"] | None
    cursor: str | None


class ProjectMessageOptions(TypedDict, total=False):
    """Of `messages.search_project`."""

    limit: int | None
    offset: int | None
    ranking: Literal["relevance", "recency"] | None
    mode: Mode | None
    sender: str | None
    importance: str | None
    thread_id: str | None
    since: str | None
    until: str | None
    cursor: str | None
    explain: bool | None


class IdentitySettings(TypedDict, total=False):
    """Of `servers.set_identity`: what the kind takes (docs/identity.md)."""

    header: str | None
    prefix: str | None
    secret: str | None
    audiences: list[str] | None
    client_id: str | None
    client_secret: str | None
    scopes: list[str] | None
