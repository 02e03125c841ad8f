"""Writing items into the catalogue: item by item, unchanged ones left alone, only what changed embedded again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillroute.catalogue.access import own_item, visible_item
from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.catalogue.model import Item, ItemKey
from skillroute.catalogue.schemas import (
    ITEM_FIELDS,
    SWITCHES,
    item_warnings,
    lost_problems,
    read_item,
    switch_problems,
)
from skillroute.catalogue.servers import ServersOfItems
from skillroute.catalogue.trust.settle import WARNED, Trust
from skillroute.catalogue.write import ItemOutcome, ItemSteps
from skillroute.core.bulk.outcomes import Report
from skillroute.core.bulk.versions import Expected, OneWrite, as_answered
from skillroute.core.bulk.write import Kind, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.input.json_input import MAX_PROBLEMS
from skillroute.core.observability import Metric

MAX_ITEMS = 500
"""Items of one call."""


SyncReport = Report[ItemOutcome]

ITEMS = Kind(
    noun="item",
    most=MAX_ITEMS,
    identity=("name", "server, type and name"),
    outcome=ItemOutcome,
    metrics=(Metric.ITEMS_WRITTEN, Metric.ITEMS_FAILED),
    texts="items",
    warnings=item_warnings,
)


@dataclass(frozen=True, slots=True)
class SyncTools:
    """`PUT /api/v1/tools`; see `ItemSteps`."""

    writer: Writer
    servers: ServersOfItems
    known: KnownRequests = NOTHING_KNOWN
    trust: Trust = WARNED

    def __call__(
        self, items: Sequence[object], caller: Caller, *, dry_run: bool = False, approves: bool = False
    ) -> SyncReport:
        """Create or change items of the caller's organisation, `MAX_ITEMS` at most; see `write_many`.

        With `approves` their definitions are approved by the caller.
        """
        steps = self._steps(caller, None, approves=approves)
        return write_many(self.writer, ITEMS, items, steps, caller, dry_run=dry_run)

    def _steps(self, caller: Caller, one: OneWrite[Item] | None, *, approves: bool) -> ItemSteps:
        trust = replace(self.trust, approves=approves)
        return ItemSteps(self.writer.database, self.servers, caller, self.known, one, trust)

    def one(
        self,
        item_id: int,
        raw: Mapping[str, object],
        caller: Caller,
        expected: Expected | None,
        *,
        approves: bool = False,
    ) -> Item:
        """Write one item of the caller's organisation over, and return it as it was stored.

        Parameters
        ----------
        raw : mapping
            The item whole; without its server, type and name, which stay, or with the same.

        Raises
        ------
        InvalidInput
            A field's value is not allowed, or names another item.
        NotFound, Forbidden
            There is no such item, or it is not the caller's.
        VersionConflict
            It is not the version that is expected.
        """
        item = self.writer.database.read(lambda session: own_item(session, item_id, caller))
        key = item.content.key
        named = {"server": key.server or None, "type": key.type, "name": key.name, **raw}
        for field, of in zip(ItemKey._fields, read_item(named).key, strict=True):
            if of != getattr(key, field):
                raise InvalidInput(
                    field, f"must stay {getattr(key, field) or None}: the {field} of an item cannot change"
                )
        ITEM_FIELDS.refuse_misspelt(raw)
        switches = {name: getattr(item, name) for name in SWITCHES}
        if problems := [*switch_problems(raw, switches), *lost_problems(raw)]:
            raise InvalidInput.of(problems[:MAX_PROBLEMS])
        one: OneWrite[Item] = OneWrite(item_id, expected)
        steps = self._steps(caller, one, approves=approves)
        [outcome] = write_many(self.writer, ITEMS, [named], steps, caller).outcomes
        if outcome.status == "failed" or one.written is None:
            raise InvalidInput.of(outcome.problems)
        return as_answered(
            one.written, lambda: self.writer.database.read(lambda session: visible_item(session, item_id, caller))
        )
