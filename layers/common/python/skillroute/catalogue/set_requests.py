"""Writing the requests of items for a language model: as `PUT` does, but people's requests and newer texts stay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillroute.catalogue.access import visible_item
from skillroute.catalogue.model import Item, ToolRequest, are_peoples
from skillroute.catalogue.repository import ItemRepository
from skillroute.catalogue.rows import IncomingItem
from skillroute.catalogue.servers import ServersOfItems
from skillroute.catalogue.sync import ITEMS
from skillroute.catalogue.write import AroundItem, ItemOutcome, ItemSteps, PlacedItem
from skillroute.core.bulk.write import Diff, Stored, Vectors, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput, NotFound
from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import EVERYTHING


@dataclass(frozen=True, slots=True)
class RequestsOfItem:
    """An item as it was read, and the requests that it is to have."""

    item: Item
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetRequests:
    """Writes requests with the source `llm`.

    The tool is embedded again, as its text is another one; that it is classified again nothing asks for.
    """

    writer: Writer
    servers: ServersOfItems

    def items(self, item_ids: Sequence[int], org_id: str | None) -> dict[int, Item]:
        """Return the organisation's own items of these ids, those that are switched off as well."""

        def read(session: Session) -> dict[int, Item]:
            found = (ItemRepository(session).get(item_id, org_id, rights=EVERYTHING) for item_id in item_ids)
            return {item.id: item for item in found if item is not None and item.org_id == org_id}

        return self.writer.database.read(read)

    def __call__(self, wanted: Sequence[RequestsOfItem], org_id: str | None) -> set[int]:
        """Write requests of an organisation's own items, `MAX_ITEMS` at most; return the ids of those that have them.

        Left out is what went, was changed or got requests from a person since it was read.

        Raises
        ------
        DatabaseUnavailable
            Nothing was written.
        """
        by_key = {one.item.content.key: one for one in wanted}
        caller = Caller(org_id=org_id)
        steps = _RequestSteps(ItemSteps(self.writer.database, self.servers, caller), self.servers, caller)
        kind = replace(ITEMS, warnings=lambda _: ())
        report = write_many(self.writer, kind, list(by_key.values()), steps, caller)
        return {by_key[one.key].item.id for one in report.outcomes if one.key and one.index not in steps.overtaken}


@dataclass(frozen=True, slots=True)
class _Requested(AroundItem):
    """An item with its new requests, and as it was read."""

    seen: Item


class _RequestSteps:
    def __init__(self, items: ItemSteps, servers: ServersOfItems, caller: Caller) -> None:
        self._items = items
        self._servers = servers
        self._caller = caller
        self.overtaken: set[int] = set()

    def decode(self, index: int, raw: object) -> _Requested:
        if not isinstance(raw, RequestsOfItem):
            raise InvalidInput("item", "must come with the requests that it is to have")
        requests = tuple(ToolRequest(text, "llm") for text in raw.texts)
        item = IncomingItem.of(replace(raw.item.content, requests=requests))
        return _Requested(PlacedItem(index, item), raw.item)

    def diff(self, incoming: Sequence[_Requested]) -> Diff[ItemOutcome]:
        # Whether one is still the same shows in the transaction only.
        return replace(self._items.diff([thing.placed for thing in incoming]), outcomes={})

    def store(self, session: Session, some: Sequence[_Requested], vectors: Vectors) -> Stored[ItemOutcome]:
        # In the order of a `PUT`: servers, then items by their keys.
        self._servers.lock(session, self._caller.org_id, list({thing.key.server for thing in some if thing.key.server}))
        current = [thing for thing in sorted(some, key=lambda thing: thing.key) if self._is_current(session, thing)]
        left = {
            thing.index: ItemOutcome(thing.index, "unchanged", id=thing.seen.id, key=thing.key)
            for thing in some
            if thing not in current
        }
        self.overtaken = set(left)
        stored = self._items.store(session, [thing.placed for thing in current], vectors) if current else Stored()
        stored.outcomes |= left
        return stored

    def _is_current(self, session: Session, thing: _Requested) -> bool:
        """Lock an item, and return whether it says what it said, and no person has written requests since."""
        ItemRepository(session).lock(thing.seen.id, self._caller.org_id)
        try:
            now = visible_item(session, thing.seen.id, self._caller)
        except NotFound:
            return False
        return now.content_hash == thing.seen.content_hash and not are_peoples(now.content.requests)
