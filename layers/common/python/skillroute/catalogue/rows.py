"""Items on their way into the catalogue: which of them differ from what is stored, and vectors where texts are new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.catalogue.model import ItemContent, ItemKey, ToolRequest, are_packaged
from skillroute.catalogue.repository import ItemRepository, ItemRow, ItemState, Written
from skillroute.catalogue.text import (
    ToolText,
    argument_descriptions,
    argument_names,
    embedding_views,
    lexical_text,
    text_with,
)
from skillroute.core.bulk.outcomes import Status
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Embedded, embed_committed, embed_within
from skillroute.core.documents.texts import IndexedText
from skillroute.core.embedding.model import Vector
from skillroute.core.embedding.port import Embedder
from skillroute.core.embedding.views import Refusal
from skillroute.core.hashing import content_hash, text_hash
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.deadline import Deadline


@dataclass(frozen=True, slots=True)
class States:
    """The stored state of items.

    Attributes
    ----------
    stored : mapping of ItemKey to ItemState
    server_texts : mapping of str to str
        What registered servers say of themselves, by the names that the items have for them (docs/adr/0069).
    known : KnownRequests
        What a tool has that nobody has written requests for.
    """

    stored: Mapping[ItemKey, ItemState] = field(default_factory=dict)
    server_texts: Mapping[str, str] = field(default_factory=dict)
    known: KnownRequests = NOTHING_KNOWN

    def said_requests(self, item: IncomingItem) -> tuple[ToolRequest, ...] | None:
        """Return the requests that an item says; None where it says nothing of them.

        Packaged ones that come back whole, of an answer say, are nobody's word. Some of them are.
        """
        said = item.content.requests
        if said is None or not are_packaged(said):
            return said
        stored = self.stored.get(item.key)
        texts = {request.text for request in said}
        wholes = (self.known.of(item.content), (stored.requests if stored else None) or ())
        if any(texts == {request.text for request in whole} for whole in wholes):
            return None
        return tuple(request._replace(source="import") for request in said)

    def requests_of(self, item: IncomingItem) -> tuple[ToolRequest, ...]:
        """Return the requests that an item will have: those that it says, that are stored, or that are packaged."""
        if (said := self.said_requests(item)) is not None:
            return said
        stored = self.stored.get(item.key)
        requests = stored.requests if stored else None
        return self.known.of(item.content) if requests is None or are_packaged(requests) else requests

    def text_of(self, item: IncomingItem) -> IndexedText:
        """Return its text with the requests that it will have, and what its server says."""
        requests, server_text = self.requests_of(item), self.server_texts.get(item.key.server)
        if not requests and server_text is None:
            return item.text
        return text_with(item.text, [request.text for request in requests], server_text)

    def has_vector(self, item: IncomingItem) -> bool:
        """Return whether the stored vector is of an item's text, or it is known that there is none."""
        stored = self.stored.get(item.key)
        if stored is None or not (stored.is_embedded or stored.is_refused):
            return False
        return stored.text_hash == self.text_of(item).hash

    def is_unchanged(self, item: IncomingItem) -> bool:
        """Return whether nothing of an item is left to be written."""
        stored = self.stored.get(item.key)
        return stored is not None and item.says_the_same(stored) and self.has_vector(item)


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

    def says_the_same(self, state: ItemState) -> bool:
        """Return whether its owner says nothing else than is stored."""
        return state.content_hash == self.content_hash and self._has_the_requests_of(state)

    def _has_the_requests_of(self, state: ItemState) -> bool:
        said = self.content.requests
        if said is None or said == state.requests:
            return True
        return are_packaged(said) and {one.text for one in said} == {one.text for one in state.requests or ()}

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
        changed = [item for item in self.items if not states.is_unchanged(item)]
        rows = []
        for item in changed:
            text, requests, stored = states.text_of(item), states.requests_of(item), states.stored.get(item.key)
            # What somebody wrote and an item leaves out is in the database: only packaged ones are added.
            added = requests if are_packaged(requests) else states.said_requests(item)
            content = item.content if added == item.content.requests else replace(item.content, requests=added)
            drops = not requests and stored is not None and are_packaged(stored.requests)
            rows.append(ItemRow(content, item.content_hash, text, self.vectors.get(text.hash), drops_packaged=drops))
        return rows


class ItemWriter:
    """Writes items, for all that do so: PUT of items, and of servers with their tools.

    Parameters
    ----------
    database, embedder
    known : KnownRequests
        What tools get that nobody has written requests for; by default nothing.
    """

    def __init__(self, database: Database, embedder: Embedder, known: KnownRequests = NOTHING_KNOWN) -> None:
        self._database = database
        self._embedder = embedder
        self._known = known

    def states(self, items: Iterable[IncomingItem], caller: Caller) -> States:
        """Return what is stored of items."""
        keys = [item.key for item in items]
        return self._database.read(lambda session: self.read_states(session, keys, caller))

    def read_states(self, session: Session, keys: Sequence[ItemKey], caller: Caller) -> States:
        """Return what is stored of items of the caller's organisation, within a transaction."""
        items = ItemRepository(session)
        server_texts = items.server_texts(caller.org_id, {key.server for key in keys})
        return States(items.states(caller.org_id, keys), server_texts, self._known)

    def embedded(self, items: Sequence[IncomingItem], states: States, deadline: Deadline) -> EmbeddedItems:
        """Embed the texts that are new, as far as that goes; the items are stored all the same."""
        new_text = [item for item in items if not states.has_vector(item)]
        texts = [states.text_of(item) for item in new_text]
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
        self,
        rows: Iterable[ItemRow],
        written: Mapping[ItemKey, Written],
        deadline: Deadline,
        others: Iterable[int] = (),
    ) -> Embedded:
        """Embed what was to keep a vector that somebody else's newer text had thrown away in the meantime.

        `others` are ids of items that wait for a vector for another reason.
        """
        ours = [written[row.content.key] for row in rows if row.content.key in written]
        ids = {stored.id for stored in ours if not stored.is_embedded and not stored.is_refused}.union(others)
        return embed_committed(self._database, self._embedder, TOOL_DOCUMENTS, sorted(ids), deadline, what="items")


def indexed_text(content: ItemContent) -> IndexedText:
    """Return what an item says to the index by itself (docs/adr/0003)."""
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
    return text_with(text, [request.text for request in content.requests], None) if content.requests else text
