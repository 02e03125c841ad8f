"""Items on their way into the catalogue: which of them differ from what is stored, and whose texts are new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

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
from skillroute.core.bulk.write import Vectors
from skillroute.core.documents.texts import IndexedText
from skillroute.core.hashing import content_hash, text_hash
from skillroute.core.postgres.database import Session


@dataclass(frozen=True, slots=True)
class States:
    """The stored state of items.

    Attributes
    ----------
    stored : mapping of ItemKey to ItemState
    server_texts : mapping of str to str
        What registered servers say of themselves, by the names that the items have for them (docs/adr/0069).
    known : KnownRequests
        What a tool has without requests.
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

    def new_texts(self, items: Iterable[IncomingItem]) -> dict[str, Sequence[str]]:
        """Return the views of the texts that have no vector yet, by the texts' hashes."""
        texts = (self.text_of(item) for item in items if not self.has_vector(item))
        return {text.hash: text.embedding_texts for text in texts}

    def rows(self, items: Iterable[IncomingItem], vectors: Vectors) -> list[ItemRow]:
        """Return rows of those items that differ from what is stored."""
        rows = []
        for item in items:
            if self.is_unchanged(item):
                continue
            text, requests, stored = self.text_of(item), self.requests_of(item), self.stored.get(item.key)
            # What somebody wrote and an item leaves out is in the database: only packaged ones are added.
            added = requests if are_packaged(requests) else self.said_requests(item)
            content = item.content if added == item.content.requests else replace(item.content, requests=added)
            drops = not requests and stored is not None and are_packaged(stored.requests)
            vector = vectors.by_key.get(text.hash)
            rows.append(ItemRow(content, item.content_hash, text, vector, drops_packaged=drops))
        return rows

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


def read_states(session: Session, org_id: str | None, keys: Sequence[ItemKey], known: KnownRequests) -> States:
    """Return what is stored of items of an organisation."""
    items = ItemRepository(session)
    return States(items.states(org_id, keys), items.server_texts(org_id, {key.server for key in keys}), known)


def upsert(session: Session, org_id: str | None, rows: Sequence[ItemRow], vectors: Vectors) -> dict[ItemKey, Written]:
    """Write rows as items of an organisation; those that are the same already are left out."""
    embedded = any(row.embedding is not None for row in rows)  # or refused, which is stored with the model as well
    return ItemRepository(session).upsert(org_id, vectors.model if embedded else None, rows) if rows else {}


def without_vector(written: Mapping[ItemKey, Written]) -> set[int]:
    """Return the ids of items that wait for one: somebody else's newer text may have thrown it away meanwhile."""
    return {stored.id for stored in written.values() if not stored.is_embedded and not stored.is_refused}


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
