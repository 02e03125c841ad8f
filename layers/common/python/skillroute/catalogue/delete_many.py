"""Deleting many items in one call: some by their ids, or all of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skillroute.catalogue.model import ItemType, NamedItem
from skillroute.catalogue.repository import ItemRepository
from skillroute.catalogue.servers import ServersOfItems
from skillroute.catalogue.sync import MAX_ITEMS
from skillroute.core.access import not_found, own, visible
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput, SkillrouteError
from skillroute.core.postgres.database import Database, Session

MAX_OF_SERVER = 1000
"""Items of a server that one call deletes."""


@dataclass(frozen=True, slots=True)
class Deleted:
    """The outcome of one item; `item` is None where the caller sees none of the id, `error` where it is gone."""

    id: int
    item: NamedItem | None
    error: SkillrouteError | None = None


class DeleteItems:
    """`POST /api/v1/tools/delete`. All items of a call go in one transaction, those that may not go left out."""

    def __init__(self, database: Database, servers: ServersOfItems) -> None:
        self._database = database
        self._servers = servers

    def of_ids(self, item_ids: Sequence[int], caller: Caller, *, dry_run: bool = False) -> list[Deleted]:
        """Delete items of the caller's organisation, `MAX_ITEMS` at most; with `dry_run` that is taken back."""
        if len(item_ids) > MAX_ITEMS:
            raise InvalidInput("ids", f"{len(item_ids)} ids; at most {MAX_ITEMS} in one call")
        first: dict[int, int] = {}
        for place, id_ in enumerate(item_ids):
            first.setdefault(id_, place)

        def delete(session: Session) -> list[Deleted]:
            found = ItemRepository(session).named(list(first), caller.org_id, rights=caller.rights)
            outcomes = {outcome.id: outcome for outcome in self._delete(session, list(first), found, caller)}
            return [
                outcomes[id_] if first[id_] == place else Deleted(id_, None, _again(place, first[id_]))
                for place, id_ in enumerate(item_ids)
            ]

        return self._carried_out(delete, dry_run=dry_run)

    def of_server(
        self, server: str, type_: ItemType | None, caller: Caller, *, dry_run: bool = False
    ) -> tuple[list[Deleted], bool]:
        """Delete the items of the caller's organisation that name a server, `MAX_OF_SERVER` at most.

        Returns
        -------
        list of Deleted
        bool
            Whether there are more: another call goes on with them.
        """
        more: list[bool] = []

        def delete(session: Session) -> list[Deleted]:
            found = ItemRepository(session).of_server(server, type_, caller.org_id, limit=MAX_OF_SERVER + 1)
            more[:] = [len(found) > MAX_OF_SERVER]
            return self._delete(session, list(found)[:MAX_OF_SERVER], found, caller)

        return self._carried_out(delete, dry_run=dry_run), more[0]

    def _carried_out(self, work: Callable[[Session], list[Deleted]], *, dry_run: bool) -> list[Deleted]:
        return self._database.taken_back(work) if dry_run else self._database.transact(work)

    def _delete(
        self, session: Session, ids: Sequence[int], found: Mapping[int, NamedItem], caller: Caller
    ) -> list[Deleted]:
        checked = [_checked(id_, found, caller) for id_ in ids]
        named = [outcome.item.key for outcome in checked if outcome.item is not None and outcome.error is None]
        # What servers are found by is said by their tools.
        servers = self._servers.lock(
            session, caller.org_id, sorted({key.server for key in named if key.type == "tool" and key.server})
        )
        allowed = [outcome.id for outcome in checked if outcome.error is None]
        gone = ItemRepository(session).delete_many(allowed, caller.org_id) if allowed else set()
        self._servers.refresh(session, servers)
        if gone:
            session.note_news()
        return [
            outcome
            if outcome.error is not None or outcome.id in gone
            else Deleted(outcome.id, None, not_found("item", outcome.id))  # another request was faster
            for outcome in checked
        ]


def _again(place: int, first: int) -> InvalidInput:
    return InvalidInput(f"ids.{place}", f"the same id as ids.{first} of this call")


def _checked(id_: int, found: Mapping[int, NamedItem], caller: Caller) -> Deleted:
    item = found.get(id_)
    try:
        own(visible(item, "item", id_), caller, "item", id_)
    except SkillrouteError as error:
        return Deleted(id_, item, error)
    return Deleted(id_, item)
