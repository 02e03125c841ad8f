"""PostgreSQL as the use cases see it: repositories, and units of work over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from skillroute.catalogue.model import Item, ItemContent, ItemFilter, ItemKey, ItemSchemas
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.ports.checks import CheckRepository
from skillroute.core.ports.embedded_rows import EmbeddedRows, IndexedText
from skillroute.core.ports.mail import MailRepository, MailSearchRepository
from skillroute.core.ports.queues import OutboxRepository
from skillroute.core.ports.registry import RegistryRepository
from skillroute.core.ports.skills import AssignmentRepository, ClassificationRepository, SkillRepository
from skillroute.skills.suggestion_port import SuggestionRepository

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ItemState:
    """What a sync must know of a stored item to tell what changed."""

    id: int
    content_hash: str
    text_hash: str
    is_embedded: bool


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item to be written. Without an embedding it keeps its old one, provided the text is still the same."""

    content: ItemContent
    content_hash: str
    text: IndexedText
    embedding: Vector | None


@dataclass(frozen=True, slots=True)
class Written:
    """An item that an upsert created or changed."""

    id: int
    created: bool
    is_embedded: bool


@dataclass(frozen=True, slots=True)
class LoadedSchemas:
    """An item's schemas as they were stored with the content of a hash.

    Attributes
    ----------
    schemas : ItemSchemas or None
        None where they had no room.
    size : int
        Their bytes as JSON.
    memory : int
        What they take when they are read, roughly: an object of no bytes to speak of takes 100.
    """

    content_hash: str
    schemas: ItemSchemas | None
    size: int
    memory: int


class ItemRepository(EmbeddedRows, Protocol):
    """Tools, prompts and resources. `org_id` is the caller's: it sees global items and its own, and writes its own."""

    def states(self, org_id: str | None, keys: Sequence[ItemKey]) -> dict[ItemKey, ItemState]:
        """Return what is stored under the organisation's own keys; unknown keys are left out."""
        ...

    def upsert(
        self, org_id: str | None, model: EmbeddingModel | None, rows: Sequence[ItemRow]
    ) -> dict[ItemKey, Written]:
        """Create or change items; those that are the same already are left out of the answer.

        `model` is that of the rows' embeddings; None when no row has one.
        """
        ...

    def get(self, item_id: int, org_id: str | None) -> Item | None: ...

    def page(self, where: ItemFilter, org_id: str | None, *, limit: int, offset: int) -> tuple[list[Item], int]:
        """Return a page by id, and how many items there are in all."""
        ...

    def delete(self, item_id: int, org_id: str | None) -> bool:
        """Delete an item of exactly this organisation; False when there is none."""
        ...

    def delete_others(self, org_id: str | None, server: str, names: Sequence[str]) -> int:
        """Delete the organisation's tools of a server but those of these names; return how many."""
        ...

    def schemas(self, item_ids: Sequence[int], *, room: int) -> dict[int, LoadedSchemas]:
        """Load schemas in one query: of the first items, as many as have room together; unknown ids are left out."""
        ...

    def count_to_reembed(self, model: EmbeddingModel) -> int:
        """Return how many items have no vector of `model`."""
        ...


class IndexStateRepository(Protocol):
    """Which model the stored vectors are of."""

    def model(self) -> EmbeddingModel | None:
        """Return the model and hold it: nobody can switch it until the transaction ends."""
        ...

    def stored_model(self) -> EmbeddingModel | None:
        """Return the model as it is now, holding nothing."""
        ...

    def claim(self, model: EmbeddingModel) -> None:
        """Make `model` the model of an empty database; without effect when there is one already."""
        ...

    def switch(self, model: EmbeddingModel) -> None:
        """Make `model` the model, and tell every index to read everything anew."""
        ...

    def prune(self, *, older_than_s: float) -> int:
        """Forget changes of items that are long gone; return how many."""
        ...


class Session(Protocol):
    """The repositories over one connection."""

    @property
    def items(self) -> ItemRepository: ...

    @property
    def skills(self) -> SkillRepository: ...

    @property
    def assignments(self) -> AssignmentRepository: ...

    @property
    def classifications(self) -> ClassificationRepository: ...

    @property
    def suggestions(self) -> SuggestionRepository: ...

    @property
    def registry(self) -> RegistryRepository: ...

    @property
    def mail(self) -> MailRepository: ...

    @property
    def mail_search(self) -> MailSearchRepository: ...

    @property
    def outbox(self) -> OutboxRepository: ...

    @property
    def checks(self) -> CheckRepository: ...

    @property
    def index_state(self) -> IndexStateRepository: ...


class Database(Protocol):
    """Units of work. Every method raises `DatabaseUnavailable` when PostgreSQL cannot be reached."""

    def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` with each statement on its own; it may run twice, so it must only read."""
        ...

    def snapshot(self, work: Callable[[Session], T]) -> T:
        """Run `work` with all of its statements seeing one moment; it may run twice, and can only read."""
        ...

    def transact(self, work: Callable[[Session], T]) -> T:
        """Run `work` in one transaction; after a deadlock or a lost connection it runs again from its start."""
        ...
