"""Agent mail as the use cases and message search see it.

`org_id` is the caller's everywhere: it sees what is global and its own, and writes its own. `allowed` are the ids of
the projects that the caller may look at; None stands for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from skillroute.core.caller import Caller
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.ports.embedded_rows import EmbeddedRows, EmbeddingTask
from skillroute.mail.documents import MailDocument
from skillroute.mail.model import (
    DocKind,
    MailAgent,
    Message,
    MessageFilter,
    Product,
    Project,
    RecipientRole,
    StoredAgent,
    StoredMessage,
    StoredProduct,
    StoredProject,
)
from skillroute.mail.search.model import MailFilter
from skillroute.mail.text import SearchText

MailKind = Literal["message", "agent", "project", "product"]


@dataclass(frozen=True, slots=True)
class MailState:
    """What a writer must know of something stored to tell what changed. Products are not embedded.

    Attributes
    ----------
    project_ids : tuple of int
        All that it belongs to, ascending; a project itself.
    sender_key : str or None
        Who sent a message, as names of agents are compared.
    agent : MailAgent or None
        What is stored of an agent, without its projects.
    """

    id: int
    content_hash: str
    text_hash: str | None
    is_embedded: bool
    project_ids: tuple[int, ...]
    sender_key: str | None = None
    agent: MailAgent | None = None


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message to be written, with the ids of all that it names."""

    id: int
    content: Message
    content_hash: str
    project_id: int
    sender_id: int
    recipients: tuple[tuple[RecipientRole, int], ...]


@dataclass(frozen=True, slots=True)
class MailSaid:
    """What was written of a document, and what of it is searched.

    Attributes
    ----------
    title, body : str
        As `SearchText.of` takes them, secrets included.
    searched : SearchText
        As it is stored, under the hash that is stored with it.
    """

    id: int
    title: str
    body: str
    searched: SearchText
    text_hash: str


class MailRepository(EmbeddedRows, Protocol):
    """Projects, products, agents and messages, and their documents."""

    def hold(self, org_id: str | None) -> None:
        """Be the only one who writes an organisation's mail until the transaction ends."""
        ...

    def new_ids(self, count: int) -> list[int]:
        """Return ids that nothing has, ascending."""
        ...

    def states(self, kind: MailKind, org_id: str | None, keys: Sequence[str]) -> dict[str, MailState]:
        """Return what is stored under the organisation's own keys (agents: `agent_key`); unknown ones are left out."""
        ...

    def put_documents(
        self, org_id: str | None, model: EmbeddingModel | None, documents: Sequence[tuple[MailDocument, Vector | None]]
    ) -> None:
        """Create or change documents; one without a vector keeps its old one while its text is the same."""
        ...

    def put_projects(self, org_id: str | None, rows: Sequence[tuple[int, Project, str]]) -> None:
        """Write projects by id, with their content hashes; their documents are there already, as for all below."""
        ...

    def put_products(self, org_id: str | None, rows: Sequence[tuple[Product, str, Sequence[int]]]) -> list[int]:
        """Write products by key, with their content hashes and the ids of their projects; return their ids."""
        ...

    def put_agents(self, org_id: str | None, rows: Sequence[tuple[int, MailAgent, str, Sequence[int]]]) -> None:
        """Write agents, with the ids of their projects."""
        ...

    def join_projects(self, agent_id: int, project_ids: Sequence[int]) -> None:
        """Let an agent belong to more projects than before. Whoever writes it next, changes it."""
        ...

    def put_messages(self, org_id: str | None, rows: Sequence[MessageRow]) -> None:
        """Write messages and their recipients; who has acknowledged one stays so."""
        ...

    def delete(self, kind: MailKind, id_: int, org_id: str | None) -> bool:
        """Delete what is exactly this organisation's; False when there is none.

        Raises `StatementRejected` with the constraint's name for what messages refer to.
        """
        ...

    def unlink_product(self, product_id: int, keep: Sequence[int]) -> None:
        """Take all projects but these from a product. The next write of it changes it."""
        ...

    def acknowledge(self, message_id: int, name_key: str) -> bool:
        """Note that a recipient has taken note; False when it is none. The first time counts."""
        ...

    def projects(
        self,
        org_id: str | None,
        allowed: Sequence[int] | None,
        *,
        id_: int | None = None,
        key: str | None = None,
        limit: int = 1,
        offset: int = 0,
    ) -> tuple[list[StoredProject], int]:
        """Return a page of those that pass by key, and how many there are in all."""
        ...

    def products(
        self,
        org_id: str | None,
        allowed: Sequence[int] | None,
        *,
        id_: int | None = None,
        key: str | None = None,
        limit: int = 1,
        offset: int = 0,
    ) -> tuple[list[StoredProduct], int]:
        """Return a page by key, and how many there are in all. With `allowed`, those with a project that is."""
        ...

    def agents(
        self,
        org_id: str | None,
        allowed: Sequence[int] | None,
        *,
        id_: int | None = None,
        name_key: str | None = None,
        project_id: int | None = None,
        limit: int = 1,
        offset: int = 0,
    ) -> tuple[list[StoredAgent], int]:
        """Return a page by name, and how many there are in all. With `allowed`, those of a project that is."""
        ...

    def messages(
        self,
        where: MessageFilter,
        org_id: str | None,
        allowed: Sequence[int] | None,
        *,
        id_: int | None = None,
        limit: int = 1,
        offset: int = 0,
    ) -> tuple[list[StoredMessage], int]:
        """Return a page, the newest first, and how many there are in all."""
        ...

    def may_see(self, caller: Caller) -> list[int] | None:
        """Return the projects whose mail a caller may look at, ascending; None stands for all of its organisation.

        An operator sees all; anybody else what the agent that their token names belongs to, without one nothing. No
        request widens that (message-search, section 6).
        """
        ...

    def projects_of_agent(self, name_key: str, org_id: str | None) -> list[int]:
        """Return the projects that an agent of this name belongs to: ids, ascending."""
        ...

    def has_other_members(self, project_id: int, name_key: str | None, org_id: str | None) -> bool:
        """Tell whether agents belong to a project that are not this one of the organisation or global."""
        ...

    def projects_of_product(self, product_id: int, org_id: str | None) -> list[int]:
        """Return the projects linked to a product, ascending; none when there is no such product."""
        ...

    def tasks(self, ids: Sequence[int]) -> list[EmbeddingTask]:
        """Return which of these documents have no vector."""
        ...

    def count_to_reembed(self, model: EmbeddingModel) -> int:
        """Return how many documents have no vector of `model`."""
        ...

    def count(self) -> int:
        """Return how many documents there are, of all organisations."""
        ...

    def said(self, *, after: int, limit: int, every: int = 1) -> list[MailSaid]:
        """Return a page of documents by id: all, or always the same one of about `every`."""
        ...

    def with_other_words(self, texts: Sequence[tuple[int, SearchText]]) -> set[int]:
        """Return which documents are stored with these texts and found by other words or places of them."""
        ...

    def set_texts(self, texts: Sequence[tuple[int, SearchText, str]]) -> None:
        """Store what is searched of documents anew, where the stored hash is still the one given beside it.

        A vector stays while its text is the same.
        """
        ...


class MailSearchRepository(Protocol):
    """The questions of message search to PostgreSQL. Figures are the engine's own, best first, ties by id."""

    @property
    def sql(self) -> Mapping[str, str]:
        """The statements by method, with placeholders: ``text_match``, ``like_fallback``, ``filter_only``.

        And ``newest``, which is ``filter_only`` by recency.
        """
        ...

    def full_text(self, terms: Sequence[str], where: MailFilter, *, limit: int | None) -> list[tuple[int, float]]:
        """Return documents that have any of the terms. Raises `StatementRejected` for what full text cannot ask."""
        ...

    def containing(self, terms: Sequence[str], where: MailFilter, *, limit: int | None) -> list[tuple[int, float]]:
        """Return documents that contain every one of the terms, literally, in any case, each with 1.0, by id."""
        ...

    def listed(
        self, where: MailFilter, *, newest_first: bool, after: tuple[int, int] | None, limit: int
    ) -> list[tuple[int, int]]:
        """Return id and created_ts of what passes: by id, or the newest first; after (created_ts, id)."""
        ...

    def count(self, where: MailFilter) -> int:
        """Return how many documents pass."""
        ...

    def created(self, ids: Sequence[int]) -> dict[int, int]:
        """Return created_ts of the documents that exist."""
        ...

    def outside(self, ids: Sequence[int], allowed: Sequence[int]) -> set[int]:
        """Return which of these documents belong to none of the allowed projects."""
        ...

    def found(self, kind: DocKind, ids: Sequence[int], *, room: int) -> tuple[dict[int, dict[str, Any]], int]:
        """Return what results show, by id, and how many of the ids were looked at until there was no room.

        The fields of `MessageResult`, and `bytes`: what they have of text. What is gone is left out. The first one has
        room whatever it has.
        """
        ...

    def texts(self, ids: Sequence[int]) -> dict[int, str]:
        """Return what is searched of documents, for a reranker: title and body, without secrets."""
        ...
