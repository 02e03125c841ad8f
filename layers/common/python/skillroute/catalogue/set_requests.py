"""Writing the requests of items for a language model: as `PUT` does, but people's requests and newer texts stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Unpack

from skillroute.catalogue.access import visible_item
from skillroute.catalogue.model import Item, ToolRequest, are_peoples
from skillroute.catalogue.repository import ItemRepository
from skillroute.catalogue.rows import IncomingItem, ItemWriter
from skillroute.catalogue.servers import ServersOfItems
from skillroute.catalogue.sync import ItemOutcome, ItemsDone, ItemsWriting, PlacedItem
from skillroute.core.bulk.write import BulkWrite
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import JobOptions
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors.model import FieldProblem, InvalidInput, NotFound
from skillroute.core.postgres.database import Database, Session


@dataclass(frozen=True, slots=True)
class RequestsOfItem:
    """An item as it was read, and the requests that it is to have."""

    item: Item
    texts: tuple[str, ...]


class SetRequests(BulkWrite):
    """Writes requests with the source `llm`.

    The tool is embedded again, as its text is another one; that it is classified again nothing asks for.

    Parameters
    ----------
    servers : ServersOfItems
        As `SyncTools` takes it.
    """

    def __init__(
        self, database: Database, embedder: Embedder, servers: ServersOfItems, **options: Unpack[JobOptions]
    ) -> None:
        super().__init__(database, embedder, **options)
        self._writer = ItemWriter(database, embedder)
        self._servers = servers

    def items(self, item_ids: Sequence[int], org_id: str | None) -> dict[int, Item]:
        """Return the organisation's own items of these ids, those that are switched off as well."""

        def read(session: Session) -> dict[int, Item]:
            found = (ItemRepository(session).get(item_id, org_id) for item_id in item_ids)
            return {item.id: item for item in found if item is not None and item.org_id == org_id}

        return self._database.read(read)

    def __call__(self, wanted: Sequence[RequestsOfItem], org_id: str | None) -> set[int]:
        """Write requests of an organisation's own items, `MAX_ITEMS` at most; return the ids of those that have them.

        Left out is what went, was changed or got requests from a person since it was read.

        Raises
        ------
        DatabaseUnavailable
            Nothing was written.
        """
        by_key = {one.item.content.key: one for one in wanted}
        writing = _RequestsWriting(self._writer, self._servers, Caller(org_id=org_id))
        report = self._carry_out(writing, list(by_key.values()))
        return {by_key[one.key].item.id for one in report.outcomes if one.key and one.index not in writing.overtaken}


class _RequestsWriting(ItemsWriting):
    def __init__(self, writer: ItemWriter, servers: ServersOfItems, caller: Caller) -> None:
        super().__init__(writer, servers, caller)
        self._seen: dict[int, RequestsOfItem] = {}
        self.overtaken: set[int] = set()

    def warnings(self, raw: object) -> Sequence[FieldProblem]:
        return ()

    def read(self, index: int, raw: object) -> PlacedItem:
        if not isinstance(raw, RequestsOfItem):
            raise InvalidInput(self.noun, "must come with the requests that it is to have")
        self._seen[index] = raw
        requests = tuple(ToolRequest(text, "llm") for text in raw.texts)
        return PlacedItem(index, IncomingItem.of(replace(raw.item.content, requests=requests)))

    def settled(self, thing: PlacedItem) -> ItemOutcome | None:
        return None  # whether it is still the same shows in the transaction only

    def store(self, session: Session, some: Sequence[PlacedItem]) -> ItemsDone:
        # In the order of a `PUT`: servers, then items by their keys.
        self._servers.lock(session, self.caller.org_id, list({thing.key.server for thing in some if thing.key.server}))
        current = [thing for thing in sorted(some, key=lambda thing: thing.key) if self._is_current(session, thing)]
        left = {thing.index: self._left(thing) for thing in some if thing not in current}
        self.overtaken = set(left)
        if not current:
            return ItemsDone(outcomes=left, rows=(), written={}, servers=())
        done = super().store(session, current)
        done.outcomes |= left
        return done

    def _is_current(self, session: Session, thing: PlacedItem) -> bool:
        """Lock an item, and return whether it says what it said, and no person has written requests since."""
        seen = self._seen[thing.index].item
        ItemRepository(session).lock(seen.id, self.caller.org_id)
        try:
            now = visible_item(session, seen.id, self.caller)
        except NotFound:
            return False
        return now.content_hash == seen.content_hash and not are_peoples(now.content.requests)

    def _left(self, thing: PlacedItem) -> ItemOutcome:
        return ItemOutcome(thing.index, "unchanged", id=self._seen[thing.index].item.id, key=thing.key)
