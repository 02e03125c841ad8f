"""Definitions that are not as they were approved: looked at, approved, or rejected."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.repository import ItemRepository
from skillroute.catalogue.servers import ServersOfItems
from skillroute.catalogue.trust.definition import Difference, differences
from skillroute.catalogue.trust.settle import Trust, settle
from skillroute.core.answer_size import PAGE_BYTES
from skillroute.core.caller import Caller
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Database, Session

Decision = Literal["approved", "rejected", "unchanged", "changed_again", "not_found"]

Seen = Mapping[int, datetime]
"""When the definitions changed that the caller looked at, by item: `ChangedItem.changed_at`."""


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """An item whose definition is not the approved one."""

    id: int
    org_id: str | None
    key: ItemKey
    is_active: bool
    is_quarantined: bool
    approved_by: str | None
    approved_at: datetime
    changed_at: datetime
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    @property
    def differences(self) -> list[Difference]:
        """How it differs from what was approved."""
        return differences(self.before, self.after)


class ReviewDefinitions:
    """`/api/v1/trust`: a caller reviews what it may change, the items of its own organisation."""

    def __init__(self, database: Database, servers: ServersOfItems) -> None:
        self._database = database
        self._servers = servers

    def changed(
        self, caller: Caller, order: Order, *, limit: int, offset: int, is_quarantined: bool | None = None
    ) -> Listed[ChangedItem]:
        """Return a page, by id, of items that wait to be approved; those that are switched off do not.

        With `is_quarantined` those that are or are not, else both.
        """

        def read(session: Session) -> Listed[ChangedItem]:
            params = order.params()
            where = {"org_id": caller.org_id, "rights": caller.rights.as_json(), "is_quarantined": is_quarantined}
            where |= {name: params[name] for name in ("after_id", "updated_since")}
            [[total, behind]] = session.run("count_changed", **where)
            rows = session.run("changed_items", **where, limit=limit, offset=offset, max_bytes=PAGE_BYTES)
            return Listed([_to_changed(row) for row in rows], total, max(0, behind - offset))

        return self._database.read(read)

    def approve(self, item_ids: Sequence[int], caller: Caller, seen: Seen | None = None) -> dict[int, Decision]:
        """Approve items as they are now, or as they were `seen`, and release those that are quarantined."""

        def decide(session: Session, ids: list[int]) -> dict[int, Decision]:
            settle(session, ids, Trust(approves=True), caller)
            return dict.fromkeys(ids, "approved")

        return self._decided(item_ids, caller, decide, seen or {})

    def reject(self, item_ids: Sequence[int], caller: Caller, seen: Seen | None = None) -> dict[int, Decision]:
        """Switch items off whose definitions changed; until one is approved, it cannot be switched on."""

        def decide(session: Session, ids: list[int]) -> dict[int, Decision]:
            rejected = {row[0] for row in session.run("reject_definitions", ids=ids, org_id=caller.org_id)}
            return {id_: "rejected" if id_ in rejected else "unchanged" for id_ in ids}

        return self._decided(item_ids, caller, decide, seen or {})

    def _decided(
        self,
        item_ids: Sequence[int],
        caller: Caller,
        decide: Callable[[Session, list[int]], dict[int, Decision]],
        seen: Seen,
    ) -> dict[int, Decision]:
        def work(session: Session) -> dict[int, Decision]:
            found = ItemRepository(session).named(list(item_ids), caller.org_id, rights=caller.rights)
            own = {id_: item for id_, item in found.items() if item.org_id == caller.org_id}
            names = sorted({item.key.server for item in own.values() if item.key.server})
            servers = self._servers.lock(session, caller.org_id, names)
            again = _changed_again(session, sorted(own), seen)
            ids = sorted(own.keys() - again)
            decided: dict[int, Decision] = dict.fromkeys(again, "changed_again")
            decided |= decide(session, ids) if ids else {}
            # Servers are found by those of their tools that are found.
            self._servers.refresh(session, servers)
            if own:
                session.note_news()
            return {id_: decided.get(id_, "not_found") for id_ in item_ids}

        return self._database.transact(work)


def _changed_again(session: Session, ids: list[int], seen: Seen) -> set[int]:
    """Return the items that are not as they were seen, and keep the others as they are until the transaction ends."""
    looked_at = [id_ for id_ in ids if id_ in seen]
    if not looked_at:
        return set()
    session.run("lock_definitions", ids=ids)
    # A second statement: the first one does not see what was changed while it waited for the lock.
    now = dict(session.run("definitions_changed_at", ids=looked_at))
    return {id_ for id_ in looked_at if now.get(id_) != seen[id_]}


def _to_changed(row: list[Any]) -> ChangedItem:
    id_, org_id, server, type_, name, is_active, is_quarantined, approved_by, approved_at, changed_at, *parts = row
    before, after = map(json.loads, parts)
    key = ItemKey(server, type_, name)
    return ChangedItem(id_, org_id, key, is_active, is_quarantined, approved_by, approved_at, changed_at, before, after)
