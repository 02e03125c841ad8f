"""Agent mail."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from skillroute_client.models.base import Answer


class Project(Answer):
    """A project, within which agents write to each other."""

    id: int
    org_id: str | None = None
    key: str
    name: str = ""
    description: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None


class Product(Project):
    """A product: several projects."""

    projects: list[str] = []
    project_ids: list[int] = []
    project_count: int = 0


class MailAgent(Answer):
    """An agent that writes and gets mail."""

    id: int
    org_id: str | None = None
    name: str
    description: str = ""
    contact: str = ""
    projects: list[str] = []
    project_ids: list[int] = []
    project_count: int = 0
    created_at: datetime | None = None
    updated_at: datetime | None = None


class Message(Answer):
    """A message. `created_ts` is in microseconds since 1970, `created_at` the same moment."""

    id: int
    org_id: str | None = None
    key: str
    project: str
    project_id: int | None = None
    thread_id: str | None = None
    sender: str = Field(alias="from")
    to: list[str] = []
    cc: list[str] = []
    bcc: list[str] = []
    subject: str = ""
    body: str = ""
    importance: str = "normal"
    ack_required: bool = False
    created_ts: int
    created_at: datetime | None = None
    acknowledged: dict[str, Any] = {}
    is_embedded: bool = False
    updated_at: datetime | None = None


class FoundMessage(Answer):
    """A message, agent or project that a search of mail found; which fields it has, `doc_kind` says."""

    doc_kind: str
    id: int
    score: float
    raw_score: float | None = None
    redacted: bool | None = None
    created_ts: int
    created_at: datetime | None = None
    key: str | None = None
    name: str | None = None
    description: str | None = None
    contact: str | None = None
    project_ids: list[int] | None = None
    project_id: int | None = None
    thread_id: str | None = None
    subject: str | None = None
    snippet: str | None = None
    importance: str | None = None
    ack_required: bool | None = None
    sender: str | None = Field(default=None, alias="from")
    to: list[str] | None = None
    cc: list[str] | None = None
    bcc: list[str] | None = None
    reason_codes: list[str] | None = None
    score_factors: dict[str, float] | None = None


class MessageAnswer(Answer):
    """The results of a mail search; `next_cursor` goes on with it."""

    results: list[FoundMessage]
    next_cursor: str | None = None
    mode: str | None = None
    engine: str | None = None
    explain: dict[str, Any] | None = None


class ProjectMessage(Answer):
    """A message that a search of one project, or of those of a product, found."""

    id: int
    project_id: int | None = None
    subject: str = ""
    importance: str = "normal"
    ack_required: bool = False
    created_ts: int
    thread_id: str | None = None
    sender: str = Field(alias="from")
    snippet: str | None = None
    reason_codes: list[str] | None = None
    score_factors: dict[str, float] | None = None


class ProjectMessages(Answer):
    """The results of such a search, and help with the query where something is amiss."""

    result: list[ProjectMessage]
    assistance: dict[str, Any] | None = None
    guidance: dict[str, Any] | None = None
    explain: dict[str, Any] | None = None
    next_cursor: str | None = None
    diagnostics: dict[str, Any] | None = None


class NewMessage(BaseModel):
    """A message to be written; a mapping does as well, with ``from`` for the sender."""

    model_config = ConfigDict(populate_by_name=True)

    key: str
    project: str
    sender: str = Field(alias="from")
    to: list[str]
    subject: str
    body: str = ""
    cc: list[str] = []
    bcc: list[str] = []
    thread_id: str | None = None
    importance: str = "normal"
    ack_required: bool = False
    created_ts: int | None = None
