"""Which items a caller sees and which it may change: one look, the same errors everywhere (decisions 26)."""

from __future__ import annotations

from skillroute.catalogue.model import Item
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.caller import Caller
from skillroute.core.errors import Forbidden, NotFound
from skillroute.core.postgres.database import Session


def visible_item(session: Session, item_id: int, caller: Caller) -> Item:
    """Return an item. Raises `NotFound`, also when it is another organisation's."""
    item = ItemRepository(session).get(item_id, caller.org_id)
    if item is None:
        raise NotFound(f"no item with id {item_id}")
    return item


def own_item(session: Session, item_id: int, caller: Caller) -> Item:
    """Return an item that the caller may change. Raises `NotFound`, and `Forbidden` when it is global."""
    item = visible_item(session, item_id, caller)
    if item.org_id != caller.org_id:
        raise Forbidden(f"item {item_id} is global; organisations change only their own")
    return item
