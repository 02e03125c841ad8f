"""Items on their way into the catalogue: which of them differ from what is stored, and vectors where texts are new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillroute.catalogue.model import ItemContent, ItemKey
from skillroute.catalogue.repository import ItemRepository, ItemRow, ItemState, Written
from skillroute.catalogue.text import (
    ToolText,
    argument_descriptions,
    argument_names,
    embedding_views,
    lexical_text,
    text_with,
)
from skillroute.core.caller import Caller
from skillroute.core.deadline import Deadline
from skillroute.core.documents.embed import Embedded, embed_committed, embed_within
from skillroute.core.documents.model import Collection
from skillroute.core.documents.texts import IndexedText
from skillroute.core.embedding.model import Vector
from skillroute.core.embedding.port import Embedder
from skillroute.core.embedding.views import Refusal
from skillroute.core.hashing import content_hash, text_hash
from skillroute.core.outcomes import Status
from skillroute.core.postgres.database import Database, Session

States = Mapping[ItemKey, ItemState]


@dataclass(frozen=True, slots=True)
class IncomingItem:
    """An item as it was read, with what shows whether it changed."""

    content: ItemContent
    content_hash: str
    text: IndexedText

    @classmethod
    def of(cls, content: ItemContent) -> IncomingItem:
        """Return what comes in of an item."""
        return cls(content, content_hash(content), indexed_text(content))

    @property
    def key(self) -> ItemKey:
        return self.content.key

    def keeps_its_vector(self, state: ItemState | None) -> bool:
        """Return whether the stored vector is of this text, or it is known that there is none."""
        if state is None or not (state.is_embedded or state.is_refused):
            return False
        return state.text_hash == self.text_beside(state).hash

    def text_beside(self, state: ItemState | None) -> IndexedText:
        """Return its text with the requests that stay, where it says nothing of them."""
        if self.content.requests is None and state is not None and state.requests:
            return text_with(self.text, [request.text for request in state.requests])
        return self.text

    def says_the_same(self, state: ItemState) -> bool:
        """Return whether its owner says nothing else than is stored."""
        requests = self.content.requests
        return state.content_hash == self.content_hash and (requests is None or requests == state.requests)

    def is_unchanged(self, state: ItemState | None) -> bool:
        """Return whether nothing is left to be written."""
        return state is not None and self.says_the_same(state) and self.keeps_its_vector(state)

    def status(self, state: ItemState | None, written: Written | None) -> Status:
        """Return what became of it, for its owner."""
        if written is None:
            return "unchanged"
        # An item that only got the vector it lacked has not changed for its owner.
        same = state is not None and self.says_the_same(state)
        return "created" if written.created else "unchanged" if same else "updated"


@dataclass(frozen=True, slots=True)
class EmbeddedItems:
    """Items, and the vectors of those whose text is new, or why there is none, by the text's hash."""

    items: Sequence[IncomingItem]
    vectors: Mapping[str, Vector | Refusal]
    embedding_unavailable: bool = False

    def rows(self, states: States) -> list[ItemRow]:
        """Return rows of those that differ from what is stored."""
        changed = [item for item in self.items if not item.is_unchanged(states.get(item.key))]
        texts = [item.text_beside(states.get(item.key)) for item in changed]
        return [
            ItemRow(item.content, item.content_hash, text, self.vectors.get(text.hash))
            for item, text in zip(changed, texts, strict=True)
        ]


class ItemWriter:
    """Writes items, for all that do so: PUT of items, and of servers with their tools.

    Parameters
    ----------
    database, embedder
    """

    def __init__(self, database: Database, embedder: Embedder) -> None:
        self._database = database
        self._embedder = embedder

    def states(self, items: Iterable[IncomingItem], caller: Caller) -> dict[ItemKey, ItemState]:
        """Return what is stored of items."""
        keys = [item.key for item in items]
        return self._database.read(lambda session: ItemRepository(session).states(caller.org_id, keys))

    def embedded(self, items: Sequence[IncomingItem], states: States, deadline: Deadline) -> EmbeddedItems:
        """Embed the texts that are new, as far as that goes; the items are stored all the same."""
        new_text = [item for item in items if not item.keeps_its_vector(states.get(item.key))]
        texts = [item.text_beside(states.get(item.key)) for item in new_text]
        views = [text.embedding_texts for text in texts]
        vectors = embed_within(self._embedder, views, deadline, what="items")
        hashes = (text.hash for text in texts)
        vector_of = dict(zip(hashes, vectors, strict=False))
        return EmbeddedItems(items, vector_of, embedding_unavailable=len(vectors) < len(new_text))

    def upsert(self, session: Session, rows: Sequence[ItemRow], caller: Caller) -> dict[ItemKey, Written]:
        """Write rows as items of the caller's organisation; those that are the same already are left out."""
        embedded = any(row.embedding is not None for row in rows)  # or refused, which is stored with the model as well
        return (
            ItemRepository(session).upsert(caller.org_id, self._embedder.model if embedded else None, rows)
            if rows
            else {}
        )

    def embed_overtaken(
        self, rows: Iterable[ItemRow], written: Mapping[ItemKey, Written], deadline: Deadline
    ) -> Embedded:
        """Embed what was to keep a vector that somebody else's newer text had thrown away in the meantime."""
        ours = [written[row.content.key] for row in rows if row.content.key in written]
        ids = [stored.id for stored in ours if not stored.is_embedded and not stored.is_refused]
        return embed_committed(self._database, self._embedder, Collection.TOOLS, ids, deadline, what="items")


def indexed_text(content: ItemContent) -> IndexedText:
    """Return what an item says to the index (docs/adr/0003)."""
    schema = content.input_schema
    tool_text = ToolText(
        name=content.key.name,
        description=content.description,
        argument_names=argument_names(schema),
        argument_descriptions=argument_descriptions(schema),
        server=content.key.server or None,
    )
    views, words = embedding_views(tool_text), lexical_text(tool_text)
    text = IndexedText(views, words, text_hash(*views, words))
    return text_with(text, [request.text for request in content.requests]) if content.requests else text
