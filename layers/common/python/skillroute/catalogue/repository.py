"""The rows of mcp.tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.item_rows import to_item, to_named, to_requests, to_row
from skillroute.catalogue.model import (
    Item,
    ItemContent,
    ItemFilter,
    ItemKey,
    ItemSchemas,
    ItemType,
    NamedItem,
    ToolRequest,
)
from skillroute.catalogue.text import text_with
from skillroute.core.answer_size import PAGE_BYTES
from skillroute.core.documents.repository import DocumentRepository, DocumentText
from skillroute.core.documents.texts import IndexedText
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.views import VIEW_WEIGHTS, Refusal
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import Rights


@dataclass(frozen=True, slots=True)
class ItemState:
    """The stored state of an item, with which a sync sees what changed."""

    id: int
    content_hash: str
    text_hash: str
    is_embedded: bool
    is_refused: bool
    is_active: bool
    is_switched_off: bool
    requests: tuple[ToolRequest, ...] | None = None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item to be written. Without an embedding it keeps its old one, provided the text is still the same.

    Attributes
    ----------
    drops_packaged : bool
        Requests that are stored were packaged for what it was before.
    """

    content: ItemContent
    content_hash: str
    text: IndexedText
    embedding: Vector | Refusal | None
    drops_packaged: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """An item that an upsert created or changed."""

    id: int
    created: bool
    is_embedded: bool
    is_refused: bool


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


class ItemRepository:
    """Tools, prompts and resources. `org_id` is the caller's: it sees global items and its own, and writes its own."""

    def __init__(self, session: Session) -> None:
        self._run = session.run
        self._documents = DocumentRepository(session, TOOL_DOCUMENTS)

    def states(self, org_id: str | None, keys: Sequence[ItemKey]) -> dict[ItemKey, ItemState]:
        """Return what is stored under the organisation's own keys; unknown keys are left out."""
        rows = self._run("item_states", org_id=org_id, keys=json.dumps([key._asdict() for key in keys]))
        return {
            ItemKey(server, type_, name): ItemState(*[*state, None if requests is None else to_requests(requests)])
            for server, type_, name, *state, requests in rows
        }

    def upsert(
        self, org_id: str | None, model: EmbeddingModel | None, rows: Sequence[ItemRow]
    ) -> dict[ItemKey, Written]:
        """Create or change items; those that are the same already are left out of the answer.

        `model` is that of the rows' embeddings and refusals; None when no row has either.
        """
        if dropping := [row.content.key._asdict() for row in rows if row.drops_packaged]:
            self._run("drop_packaged_requests", org_id=org_id, keys=json.dumps(dropping))
        as_json = json.dumps([to_row(row.content, row.content_hash) for row in rows], ensure_ascii=False)
        stored = {ItemKey(*row[1:4]): row for row in self._run("upsert_items", org_id=org_id, rows=as_json)}
        server_texts = self.server_texts(org_id, {row.content.key.server for row in rows})
        documents = [
            _to_document(row, stored[row.content.key], server_texts.get(row.content.key.server))
            for row in rows
            if row.content.key in stored
        ]
        put = self._documents.put(documents, model)
        return {
            key: Written(id_, created, put[str(id_)].is_embedded, put[str(id_)].is_refused)
            for key, (id_, *_, created, is_changed, _) in stored.items()
            if is_changed or put[str(id_)].is_changed
        }

    def server_texts(self, org_id: str | None, servers: AbstractSet[str]) -> dict[str, str]:
        """Return what registered servers say of themselves, by the names that items have for them."""
        names = sorted(servers - {""})
        return dict(self._run("server_texts", org_id=org_id, names=names)) if names else {}

    def get(
        self,
        item_id: int,
        org_id: str | None,
        *,
        rights: Rights,
    ) -> Item | None:
        rows = self._run("get_item", id=item_id, org_id=org_id, rights=rights.as_json())
        return to_item(rows[0]) if rows else None

    def lock(self, item_id: int, org_id: str | None) -> None:
        """Lock an item of exactly this organisation to the end of the transaction, if there is one."""
        self._run("lock_item", id=item_id, org_id=org_id)

    def some(self, item_ids: Sequence[int], org_id: str | None, *, rights: Rights) -> tuple[list[Item], list[int]]:
        """Return the active items of these ids, in their order, and the ids of those that had no room."""
        rows = self._run("get_items", ids=list(item_ids), org_id=org_id, rights=rights.as_json(), max_bytes=PAGE_BYTES)
        found = [to_item(item) for _, *item in rows if item[0] is not None]
        return found, [id_ for id_, *item in rows if item[0] is None]

    def page(
        self, where: ItemFilter, org_id: str | None, *, limit: int, offset: int, rights: Rights
    ) -> tuple[list[Item], int]:
        """Return a page by id, and how many items there are in all."""
        listed = self.listed(where, org_id, Order("id"), limit=limit, offset=offset, rights=rights)
        return list(listed.rows), listed.total

    def listed(
        self,
        where: ItemFilter,
        org_id: str | None,
        order: Order,
        *,
        limit: int,
        offset: int,
        rights: Rights,
    ) -> Listed[Item]:
        """Return a page in an order (`id`, `name` or `updated_at`), and how many items there are."""
        conditions = {
            "org_id": org_id,
            "rights": rights.as_json(),
            "type": where.type,
            "server": where.server,
            "name": where.name,
            "tag": where.tag,
            "is_active": where.is_active,
            "skill_id": where.skill_id,
            **order.params(),
        }
        [[total, behind]] = self._run("count_items", **conditions)
        if offset >= behind:
            return Listed([], total, 0)
        rows = self._run("list_items", **conditions, limit=limit, offset=offset, max_bytes=PAGE_BYTES)
        return Listed([to_item(row) for row in rows], total, behind - offset)

    def without_document(self, limit: int) -> list[str]:
        """Return the ids, as text, of items of all organisations that no search can find."""
        return [row[0] for row in self._run("items_without_document", limit=limit)]

    def rule_servers(self, item: Item) -> list[str]:
        """Return the names that rules may have for the server of an item, those of the registered one among them."""
        names: list[str] = self._run("rule_servers", org_id=item.org_id, server=item.content.key.server)[0][0]
        return names

    def counts(
        self,
        org_id: str | None,
        *,
        rights: Rights,
    ) -> dict[ItemType, int]:
        """Return how many active items of each type there are."""
        return dict(self._run("item_counts", org_id=org_id, rights=rights.as_json()))

    def delete(self, item_id: int, org_id: str | None) -> bool:
        """Delete an item of exactly this organisation; False when there is none."""
        return bool(self._run("delete_item", id=item_id, org_id=org_id))

    def switch(self, item_id: int, org_id: str | None, *, is_switched_off: bool) -> None:
        """Switch an item of exactly this organisation off or on; its server is locked, and enabled."""
        self._run("switch_item", id=item_id, org_id=org_id, is_switched_off=is_switched_off)

    def named(self, item_ids: Sequence[int], org_id: str | None, *, rights: Rights) -> dict[int, NamedItem]:
        """Return what names the items of these ids that the organisation sees."""
        return {
            row[0]: to_named(row)
            for row in self._run("items_by_id", ids=list(item_ids), org_id=org_id, rights=rights.as_json())
        }

    def of_server(self, server: str, type_: ItemType | None, org_id: str | None, *, limit: int) -> dict[int, NamedItem]:
        """Return what names an organisation's own items of a server, the oldest first."""
        rows = self._run("items_of_server", server=server, type=type_, org_id=org_id, limit=limit)
        return {row[0]: to_named(row) for row in rows}

    def delete_many(self, item_ids: Sequence[int], org_id: str | None) -> set[int]:
        """Delete items of exactly this organisation; return those that there were."""
        return {row[0] for row in self._run("delete_items", ids=list(item_ids), org_id=org_id)}

    def delete_others(self, org_id: str | None, server: str, names: Sequence[str]) -> int:
        """Delete the organisation's tools of a server but those of these names; return how many."""
        return len(self._run("delete_other_tools", org_id=org_id, server=server, names=list(names)))

    def schemas(self, item_ids: Sequence[int], *, room: int) -> dict[int, LoadedSchemas]:
        """Load schemas in one query: of the first items, as many as have room together; unknown ids are left out."""
        rows = self._run("item_schemas", ids=list(item_ids), room=room)
        return {
            id_: LoadedSchemas(content_hash, _to_schemas(texts) if fits else None, size, _memory_of(texts))
            for id_, content_hash, size, fits, *texts in rows
        }

    def annotations(self, item_ids: Sequence[int], *, room: int) -> dict[int, LoadedSchemas]:
        """Load as `schemas` does, but annotations alone: there are no schemas in what it returns."""
        rows = self._run("item_annotations", ids=list(item_ids), room=room)
        return {
            id_: LoadedSchemas(
                content_hash, _to_schemas([None, None, text]) if fits else None, size, _memory_of([text])
            )
            for id_, content_hash, size, fits, text in rows
        }


def _to_schemas(texts: Sequence[str | None]) -> ItemSchemas:
    return ItemSchemas(*(None if text is None else json.loads(text) for text in texts))


def _memory_of(texts: Sequence[str | None]) -> int:
    """Estimate what JSON takes when it is read: its letters, and 100 bytes a value; within a fifth, measured."""
    there = [text for text in texts if text is not None]
    values = sum(text.count(",") + text.count("[") + text.count("{") for text in there)
    return sum(map(len, there)) + 100 * (values + len(there) + 1)


def _to_document(row: ItemRow, stored: list[Any], server_text: str | None) -> DocumentText:
    """Return what an item says to the index, with the requests and the server's text that it has now.

    Somebody else may have written others since they were read: then it waits for another vector.
    """
    requests = [request.text for request in to_requests(stored[-1])]
    beside = (*requests, *([server_text] if server_text else ()))
    is_same = row.text.embedding_texts[len(VIEW_WEIGHTS) :] == beside
    text = row.text if is_same else text_with(row.text, requests, server_text)
    return DocumentText(str(stored[0]), text, row.embedding if text.hash == row.text.hash else None)
