"""What the core needs from outside. Storage and providers implement these; `bootstrap.py` joins them.

A port raises errors of `skillroute.errors` only: `DatabaseUnavailable`, `EmbeddingUnavailable`, `IndexUnavailable`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from skillroute.domain.classification import Classification, SkillProfile, ToolProfile
from skillroute.domain.embedding import EmbeddingModel, Vector
from skillroute.domain.index import Collection, FeedPage, IndexFilter, IndexHit, IndexRecord
from skillroute.domain.items import Item, ItemContent, ItemFilter, ItemKey, ItemSchemas
from skillroute.domain.skills import Assignment, AssignmentSource, NewSkill, Skill

T = TypeVar("T")


class Clock(Protocol):
    """Seconds that only go forward; tests replace it."""

    def __call__(self) -> float: ...


class Embedder(Protocol):
    """Turns texts into vectors of one model."""

    @property
    def model(self) -> EmbeddingModel: ...

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts, in order, as vectors of L2 norm 1.

        The vector of a text does not depend on the texts beside it.

        Raises
        ------
        EmbeddingUnavailable
            The model failed or did not answer within `timeout_s` seconds, retries included.
        """
        ...


class Classifier(Protocol):
    """Proposes skills for a tool. What becomes of a proposal `domain.classification.settle` decides."""

    @property
    def name(self) -> str:
        """What is stored with its assignments: ``similarity``, ``openai/gpt-4o-mini``, ..."""
        ...

    @property
    def source(self) -> AssignmentSource: ...

    @property
    def concurrency(self) -> int:
        """How many tools may be given to it at once, from as many threads."""
        ...

    def classify(self, tool: ToolProfile, skills: Sequence[SkillProfile], *, timeout_s: float) -> Classification:
        """Propose skills for a tool out of `skills`.

        Raises
        ------
        ClassifierUnavailable
            It failed, was throttled or did not answer within `timeout_s` seconds for one attempt; a timeout is tried
            once more.
        ClassifierAnswerInvalid
            It did not answer with a classification.
        """
        ...


class ChatModel(Protocol):
    """A language model that answers a question with a JSON object of a given schema."""

    @property
    def name(self) -> str:
        """Provider and model, such as ``bedrock/anthropic.claude-3-haiku``."""
        ...

    def answer(
        self, instructions: str, question: str, *, schema: Mapping[str, Any], timeout_s: float
    ) -> Mapping[str, Any]:
        """Ask once; the answer is an object that need not keep to the schema.

        Parameters
        ----------
        schema : mapping
            JSON Schema of the answer, with a ``title`` that names it; ``additionalProperties`` false, all required.

        Raises
        ------
        ClassifierUnavailable
            The model failed, was throttled, or did not answer within `timeout_s` seconds, twice.
        ClassifierAnswerInvalid
            The answer is no JSON object.
        """
        ...


class VectorIndex(Protocol):
    """Two collections of records, searched by vector or by words. Safe to call from several threads.

    Every method raises `IndexUnavailable` when the engine fails and `IndexTimeout` when it is too slow.
    """

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        """Write records, replacing those of the same key whole."""
        ...

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        """Remove records. Unknown keys are no error."""
        ...

    def search(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        where: IndexFilter,
        limit: int,
        threshold: float | None = None,
    ) -> list[IndexHit]:
        """Return the records nearest by cosine, at least `threshold`, sorted by score descending, then by key."""
        ...

    def search_text(self, collection: Collection, text: str, *, where: IndexFilter, limit: int) -> list[IndexHit]:
        """Return the records that share a word with `text`, by BM25 descending, then by key."""
        ...

    def match(self, collection: Collection, *, where: IndexFilter, limit: int) -> list[str]:
        """Return the keys of records that pass the filter, in key order, without ranking."""
        ...

    def payloads(self, collection: Collection, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return the payloads of the records that exist, by key."""
        ...

    def count(self, collection: Collection, *, where: IndexFilter | None = None) -> int:
        """Return how many records pass the filter."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


class ChangeFeed(Protocol):
    """The change log of PostgreSQL and the rows behind it, as an index reads them (DESIGN section 1)."""

    def poll(self, position: int) -> FeedPage:
        """Return the changes at or after `position` that this moment's snapshot shows, and the next position."""
        ...

    def load(self, collection: Collection, keys: Sequence[str]) -> list[IndexRecord]:
        """Return the current records of `keys`. A key that is missing from the answer is to be deleted."""
        ...

    def load_all(self, collection: Collection) -> Iterator[list[IndexRecord]]:
        """Return every record of a collection in batches of bounded size."""
        ...


class PositionStore(Protocol):
    """Where an index keeps how far it has read: in memory for a replica, in PostgreSQL for a shared server."""

    def exclusive(self) -> AbstractContextManager[PositionCursor]:
        """Hold the position alone: whoever asks next waits until the block ends."""
        ...


class PositionCursor(Protocol):
    """The position while it is held. What `advance` sets is kept when the block ends without an error."""

    epoch: str | None
    position: int

    def advance(self, epoch: str, position: int) -> None: ...


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """How an index stands.

    Attributes
    ----------
    kind : str
        ``embedded`` or ``server``.
    ready : bool
        Whether searches are answered from it.
    rebuilding : bool
        Whether a new one is being made beside it.
    lag : int
        Changes that are committed but not applied yet.
    items, skills : int
        Records in its two collections.
    model : str or None
        The model of the stored vectors.
    """

    kind: str
    ready: bool
    rebuilding: bool
    lag: int
    items: int
    skills: int
    model: str | None


class IndexReplica(Protocol):
    """A vector index that follows the change feed."""

    def current(self) -> AbstractContextManager[VectorIndex]:
        """Lend an index that holds every change committed before the call.

        Raises
        ------
        DatabaseUnavailable
            The change feed cannot be read.
        EmbeddingModelMismatch
            The stored vectors are of another model than the one configured.
        IndexUnavailable
            The index failed.
        """
        ...

    def status(self) -> IndexStatus:
        """Tell how the index stands, without changing it. Raises `DatabaseUnavailable`."""
        ...

    def close(self) -> None:
        """Let go of the index."""
        ...


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
