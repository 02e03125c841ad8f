"""Which items a caller sees and which it may change: one look, the same errors everywhere (decision 26)."""

from __future__ import annotations

from skillroute.catalogue.model import Item
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.access import own, visible
from skillroute.core.bulk.versions import Expected, check_version
from skillroute.core.caller import Caller
from skillroute.core.postgres.database import Session


def visible_item(session: Session, item_id: int, caller: Caller) -> Item:
    """Return an item. Raises `NotFound`, also when it is another organisation's."""
    return visible(ItemRepository(session).get(item_id, caller.org_id, rights=caller.rights), "item", item_id)


def locked_item(session: Session, item_id: int, caller: Caller, expected: Expected | None) -> Item:
    """Return an item that the caller may change, locked to the end of the transaction.

    Raises `NotFound` and `Forbidden`, and `VersionConflict` where it is not the version that is expected.
    """
    ItemRepository(session).lock(item_id, caller.org_id)
    item = own_item(session, item_id, caller)
    check_version(expected, item.version, f"item {item_id}")
    return item


def own_item(session: Session, item_id: int, caller: Caller) -> Item:
    """Return an item that the caller may change. Raises `NotFound`, and `Forbidden` when it is global."""
    return own(visible_item(session, item_id, caller), caller, "item", item_id)
