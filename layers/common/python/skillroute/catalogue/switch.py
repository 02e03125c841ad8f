"""Switching items off and on: an item that is off is in lists, and in no search (docs/adr/0053)."""

from __future__ import annotations

from skillroute.catalogue.access import locked_item, own_item, visible_item
from skillroute.catalogue.model import Item
from skillroute.catalogue.repository import ItemRepository
from skillroute.catalogue.servers import ServersOfItems
from skillroute.core.bulk.versions import Expected
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict
from skillroute.core.postgres.database import Database, Session


class SwitchItem:
    """`PATCH /api/v1/tools/{id}`."""

    def __init__(self, database: Database, servers: ServersOfItems) -> None:
        self._database = database
        self._servers = servers

    def __call__(
        self, item_id: int, caller: Caller, *, is_active: bool | None, expected: Expected | None = None
    ) -> Item:
        """Let searches find an item of the caller's organisation, or not, and return it.

        What its server is found by follows, as when it is written or deleted.

        Parameters
        ----------
        is_active : bool or None
            None changes nothing.

        Raises
        ------
        NotFound, Forbidden
            There is no such item, or it is not the caller's.
        Conflict
            It is to be active, and its server is disabled, or its definition waits to be approved.
        VersionConflict
            It is not the version that is expected.
        """
        return self._database.transact(lambda session: self._switch(session, item_id, caller, is_active, expected))

    def _switch(
        self, session: Session, item_id: int, caller: Caller, is_active: bool | None, expected: Expected | None
    ) -> Item:
        server = own_item(session, item_id, caller).content.key.server
        servers = self._servers.lock(session, caller.org_id, [server]) if server else []
        item = locked_item(session, item_id, caller, expected)
        if is_active is None:
            return item
        if is_active and self._servers.disabled(session, servers):
            raise Conflict(
                f"item {item_id} is inactive as its server {server} is disabled: enable the server first",
                ErrorCode.SERVER_DISABLED,
            )
        if is_active and item.is_quarantined:
            raise Conflict(
                f"item {item_id} is quarantined as its definition changed: approve it first "
                "(POST /api/v1/trust/approve, skillroute trust approve)",
                ErrorCode.DEFINITION_CHANGED,
            )
        if item.is_switched_off is not is_active:
            return item
        session.note_news()
        ItemRepository(session).switch(item_id, caller.org_id, is_switched_off=not is_active)
        if item.content.key.type == "tool":
            self._servers.refresh(session, servers)
        return visible_item(session, item_id, caller)
