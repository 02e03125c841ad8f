"""Reading and deleting catalogue items."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.catalogue.access import locked_item, own_item, visible_item
from skillroute.catalogue.model import Item, ItemFilter, ItemType
from skillroute.catalogue.repository import ItemRepository
from skillroute.catalogue.servers import ServersOfItems
from skillroute.core.access import not_found
from skillroute.core.bulk.versions import Expected
from skillroute.core.caller import Caller
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Database, Session


class ReadItems:
    """Looking at items, for callers that write none."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, where: ItemFilter, caller: Caller, *, limit: int, offset: int) -> tuple[list[Item], int]:
        """Return a page of the items that the caller sees, by id, and how many there are in all."""
        return self._database.read(
            lambda session: ItemRepository(session).page(
                where, caller.org_id, limit=limit, offset=offset, rights=caller.rights
            )
        )

    def listed(self, where: ItemFilter, caller: Caller, order: Order, *, limit: int, offset: int) -> Listed[Item]:
        """Return a page of the items that the caller sees, in an order, and how many there are."""
        return self._database.read(
            lambda session: ItemRepository(session).listed(
                where, caller.org_id, order, limit=limit, offset=offset, rights=caller.rights
            )
        )

    def get(self, item_id: int, caller: Caller) -> Item:
        """Return an item. Raises `NotFound`, also when it is another organisation's."""
        return self._database.read(lambda session: visible_item(session, item_id, caller))

    def some(self, item_ids: Sequence[int], caller: Caller) -> tuple[list[Item], list[int]]:
        """Return the active items of these ids that the caller sees, in their order, and ids of those without room.

        Ids of others are left out. One statement reads them, as many as an answer may have bytes.
        """
        return self._database.read(
            lambda session: ItemRepository(session).some(item_ids, caller.org_id, rights=caller.rights)
        )

    def counts(self, caller: Caller) -> dict[ItemType, int]:
        """Return how many active items of each type the caller sees; types of which there are none are left out."""
        return self._database.read(lambda session: ItemRepository(session).counts(caller.org_id, rights=caller.rights))


class Catalogue(ReadItems):
    """`GET /api/v1/tools` and what lies under it.

    Parameters
    ----------
    servers : ServersOfItems
        Has what a server is found by follow when one of its items is deleted.
    """

    def __init__(self, database: Database, servers: ServersOfItems) -> None:
        super().__init__(database)
        self._servers = servers

    def delete(self, item_id: int, caller: Caller, expected: Expected | None = None) -> None:
        """Delete an item of the caller's organisation.

        A server that offered it is found by the words that are left at once. By meaning it is found again once the
        relay has embedded what it says now: a deletion neither needs the embedding model nor waits for it.

        Raises
        ------
        NotFound
            No item has the id, or it is another organisation's.
        Forbidden
            It is global and the caller belongs to an organisation.
        VersionConflict
            It is not the version that is expected.
        """
        self._database.transact(lambda session: self._delete(session, item_id, caller, expected))

    def _delete(self, session: Session, item_id: int, caller: Caller, expected: Expected | None) -> None:
        """Delete an item, and derive again what a server that no longer offers it is found by."""
        server, type_, _ = own_item(session, item_id, caller).content.key
        servers = self._servers.lock(session, caller.org_id, [server]) if type_ == "tool" and server else []
        if expected is not None:
            locked_item(session, item_id, caller, expected)
        if not ItemRepository(session).delete(item_id, caller.org_id):
            raise not_found("item", item_id)  # another request was faster
        self._servers.refresh(session, servers)
        session.note_news()
