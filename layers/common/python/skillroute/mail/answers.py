"""The request and answer models of the routes over agent mail."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from skillroute.core.http.bulk_answers import Result, UpsertCounts, bare_list_of
from skillroute.core.input.shown_as import ShownAs
from skillroute.mail.model import Importance, StoredAgent, StoredMessage, StoredProduct, StoredProject, moment_of
from skillroute.mail.rows import MailOutcome
from skillroute.mail.schemas import AgentName, MailAgentInput, MessageInput, ProductInput, ProjectInput
from skillroute.mail.search.model import Storable
from skillroute.mail.sync import MAX_MAIL


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PutProjectsRequest(_Request):
    """Projects to write: ``{"projects": [...]}`` or a bare list."""

    projects: list[Annotated[Any, ShownAs(ProjectInput, "Project")]] = Field(max_length=MAX_MAIL["project"])


class PutProductsRequest(_Request):
    """Products to write: ``{"products": [...]}`` or a bare list."""

    products: list[Annotated[Any, ShownAs(ProductInput, "Product")]] = Field(max_length=MAX_MAIL["product"])


class PutMailAgentsRequest(_Request):
    """Agents to write: ``{"agents": [...]}`` or a bare list."""

    agents: list[Annotated[Any, ShownAs(MailAgentInput, "MailAgent")]] = Field(max_length=MAX_MAIL["agent"])


class PutMessagesRequest(_Request):
    """Messages to write: ``{"messages": [...]}`` or a bare list."""

    messages: list[Annotated[Any, ShownAs(MessageInput, "Message")]] = Field(max_length=MAX_MAIL["message"])


PutProjectsBody = Annotated[PutProjectsRequest, bare_list_of("projects")]
PutProductsBody = Annotated[PutProductsRequest, bare_list_of("products")]
PutMailAgentsBody = Annotated[PutMailAgentsRequest, bare_list_of("agents")]
PutMessagesBody = Annotated[PutMessagesRequest, bare_list_of("messages")]


MAX_PROJECTS = 5_000
"""Projects of one product or agent that an answer names; with the longest keys they are 1.5 MB."""

ProjectCount = Annotated[int, Field(description=f"How many there are in all; the first {MAX_PROJECTS} are named.")]


class AcknowledgeRequest(_Request):
    """Who has taken note."""

    agent: Annotated[AgentName, Storable] = Field(description="The name of an agent that the message was sent to.")


class MailResult(Result):
    """The result of one project, product, agent or message."""

    key: str | None = Field(description="The writer's own id of it, an agent's name; null when it could not be read.")

    @classmethod
    def of(cls, outcome: MailOutcome) -> MailResult:
        """Return what the API says of an outcome."""
        return cls(**cls.shared(outcome, "mail"), key=outcome.key)


class PutMailResponse(UpsertCounts):
    """The results of all, in the order of the request."""

    results: list[MailResult]
    result_type: ClassVar = MailResult


class MailProjectOut(BaseModel):
    """A project."""

    id: int
    org_id: str | None
    key: str
    name: str
    description: str
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, stored: StoredProject) -> MailProjectOut:
        """Return what the API says of a project."""
        content = stored.content
        return cls(**_shared(stored), key=content.key, name=content.name, description=content.description)


class MailProductOut(MailProjectOut):
    """A product, with those of its projects that the caller may see."""

    projects: list[str]
    project_ids: list[int]
    project_count: ProjectCount

    @classmethod
    def of(cls, stored: StoredProduct) -> MailProductOut:  # type: ignore[override]
        """Return what the API says of a product."""
        content = stored.content
        return cls(
            **_shared(stored),
            key=content.key,
            name=content.name,
            description=content.description,
            projects=list(content.projects[:MAX_PROJECTS]),
            project_ids=list(stored.project_ids[:MAX_PROJECTS]),
            project_count=len(stored.project_ids),
        )


class MailAgentOut(BaseModel):
    """An agent, with those of its projects that the caller may see."""

    id: int
    org_id: str | None
    name: str
    description: str
    contact: str
    projects: list[str]
    project_ids: list[int]
    project_count: ProjectCount
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, stored: StoredAgent) -> MailAgentOut:
        """Return what the API says of an agent."""
        content = stored.content
        return cls(
            **_shared(stored),
            name=content.name,
            description=content.description,
            contact=content.contact,
            projects=list(content.projects[:MAX_PROJECTS]),
            project_ids=list(stored.project_ids[:MAX_PROJECTS]),
            project_count=len(stored.project_ids),
        )


class MessageOut(BaseModel):
    """A message."""

    model_config = ConfigDict(populate_by_name=True)

    id: int
    org_id: str | None
    key: str
    project: str = Field(description="The key of its project.")
    project_id: int
    thread_id: str | None
    sender: str = Field(alias="from")
    to: list[str]
    cc: list[str]
    bcc: list[str]
    subject: str
    body: str
    importance: Importance
    ack_required: bool
    created_ts: int = Field(description="Microseconds since the epoch.")
    created_at: datetime = Field(description="The same moment, as RFC 3339 in UTC.")
    acknowledged: dict[str, datetime] = Field(description="Who has taken note, and when.")
    is_embedded: bool = Field(
        description="False while it has no vector, because it waits or the model refuses its text; its words find it."
    )
    updated_at: datetime

    @classmethod
    def of(cls, stored: StoredMessage) -> MessageOut:
        """Return what the API says of a message."""
        content = stored.content
        return cls(
            id=stored.id,
            org_id=stored.org_id,
            key=content.key,
            project=content.project,
            project_id=stored.project_id,
            thread_id=content.thread_id,
            sender=content.sender,
            to=list(content.to),
            cc=list(content.cc),
            bcc=list(content.bcc),
            subject=content.subject,
            body=content.body,
            importance=content.importance,
            ack_required=content.ack_required,
            created_ts=content.created_ts,
            created_at=moment_of(content.created_ts),
            acknowledged=stored.acknowledged,
            is_embedded=stored.is_embedded,
            updated_at=stored.updated_at,
        )


def _shared(stored: StoredProject | StoredProduct | StoredAgent) -> dict[str, Any]:
    return {
        "id": stored.id,
        "org_id": stored.org_id,
        "created_at": stored.created_at,
        "updated_at": stored.updated_at,
    }
