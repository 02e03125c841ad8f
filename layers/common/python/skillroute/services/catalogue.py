"""Reading and deleting catalogue items."""

from __future__ import annotations

from collections.abc import Callable

from skillroute.domain.caller import Caller
from skillroute.domain.items import Item, ItemFilter
from skillroute.ports import Database
from skillroute.services.owned import own_item, visible_item


class Catalogue:
    """`GET /api/v1/tools` and what lies under it."""

    def __init__(self, database: Database, *, after_commit: Callable[[], object] = lambda: None) -> None:
        self._database = database
        self._after_commit = after_commit

    def page(self, where: ItemFilter, caller: Caller, *, limit: int, offset: int) -> tuple[list[Item], int]:
        """Return a page of the items that the caller sees, by id, and how many there are in all."""
        return self._database.read(lambda session: session.items.page(where, caller.org_id, limit=limit, offset=offset))

    def get(self, item_id: int, caller: Caller) -> Item:
        """Return an item. Raises `NotFound`, also when it is another organisation's."""
        return self._database.read(lambda session: visible_item(session, item_id, caller))

    def delete(self, item_id: int, caller: Caller) -> None:
        """Delete an item of the caller's organisation.

        Raises
        ------
        NotFound
            No item has the id, or it is another organisation's.
        Forbidden
            It is global and the caller belongs to an organisation.
        """
        if self._database.transact(lambda session: session.items.delete(item_id, caller.org_id)):
            self._after_commit()
            return
        # Why not; of one that came this instant and is the caller's own, nothing is known.
        self._database.read(lambda session: own_item(session, item_id, caller))
