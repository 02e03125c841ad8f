"""PostgreSQL as the use cases see it: repositories, and units of work over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from skillroute.domain.embedding import EmbeddingModel, Vector
from skillroute.domain.items import Item, ItemContent, ItemFilter, ItemKey, ItemSchemas
from skillroute.domain.skills import Assignment, AssignmentSource, NewSkill, Skill

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ItemState:
    """What a sync must know of a stored item to tell what changed."""

    id: int
    content_hash: str
    text_hash: str
    is_embedded: bool


@dataclass(frozen=True, slots=True)
class IndexedText:
    """What an item or a skill says to the index: the texts that are embedded, the words for BM25, and their hash.

    The first of `embedding_texts` is the whole of it; the others are views that count half (docs/adr/0003).
    """

    embedding_texts: tuple[str, ...]
    lexical_text: str
    hash: str


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
class EmbeddingTask:
    """Texts without a vector. Their hash keeps a late vector from being stored beside newer texts."""

    id: str
    texts: tuple[str, ...]
    text_hash: str


class EmbeddedRows(Protocol):
    """Rows with a text and a vector, of which some have no vector, or one of another model."""

    def to_embed(self, *, after: str, limit: int) -> list[EmbeddingTask]:
        """Return rows without any vector, by id."""
        ...

    def to_reembed(self, model: EmbeddingModel, *, after: str, limit: int) -> list[EmbeddingTask]:
        """Return rows without a vector of `model`, by id."""
        ...

    def set_embeddings(self, model: EmbeddingModel, vectors: Sequence[tuple[EmbeddingTask, Vector]]) -> None:
        """Store vectors where the text is still the one they were made of."""
        ...


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

    def schemas(self, item_ids: Sequence[int]) -> dict[int, tuple[str, ItemSchemas]]:
        """Load schemas with the hash of the content they are of, in one query; unknown ids are left out."""
        ...

    def count_to_reembed(self, model: EmbeddingModel) -> int:
        """Return how many items have no vector of `model`."""
        ...


class SkillRepository(EmbeddedRows, Protocol):
    """Skills and who belongs to them."""

    def create(
        self, skill: NewSkill, text: IndexedText, model: EmbeddingModel | None, embedding: Vector | None
    ) -> bool:
        """Store a skill; False when the id is taken. `model` is that of the embedding; None when there is none."""
        ...

    def get(self, skill_id: str, org_id: str | None) -> Skill | None: ...

    def count(self) -> int: ...

    def ids(self) -> list[str]:
        """Return the ids of all skills that are not deleted."""
        ...

    def of_items(self, item_ids: Sequence[int]) -> set[str]:
        """Return the skills that have one of the items."""
        ...

    def lock(self, skill_id: str) -> bool:
        """Hold a skill to the end of the transaction; False when there is none."""
        ...

    def existing(self, skill_ids: Sequence[str], org_id: str | None) -> set[str]:
        """Return those of the ids that are skills, global or of the organisation."""
        ...

    def existing_items(self, item_ids: Sequence[int], org_id: str | None) -> set[int]:
        """Return those of the ids that are items of exactly this organisation."""
        ...

    def assign(self, assignments: Mapping[int, Sequence[Assignment]], source: AssignmentSource) -> set[str]:
        """Make these the only assignments of each item, the first one primary; return the skills that changed."""
        ...

    def members(self, skill_id: str, model: EmbeddingModel) -> Iterator[tuple[Vector, float]]:
        """Yield the vectors of a skill's active items with their confidence, a page at a time."""
        ...

    def description_embedding(self, skill_id: str, model: EmbeddingModel) -> Vector | None: ...

    def set_embedding(self, skill_id: str, model: EmbeddingModel, vector: Vector) -> bool:
        """Store what a skill is found by; False when it is that already, or the skill is gone."""
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


class Session(Protocol):
    """The repositories over one connection."""

    @property
    def items(self) -> ItemRepository: ...

    @property
    def skills(self) -> SkillRepository: ...

    @property
    def index_state(self) -> IndexStateRepository: ...


class Database(Protocol):
    """Units of work. Every method raises `DatabaseUnavailable` when PostgreSQL cannot be reached."""

    def read(self, work: Callable[[Session], T]) -> T:
        """Run `work` with each statement on its own; it may run twice, so it must only read."""
        ...

    def transact(self, work: Callable[[Session], T]) -> T:
        """Run `work` in one transaction; after a deadlock or a lost connection it runs again from its start."""
        ...
