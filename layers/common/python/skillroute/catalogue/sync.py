"""Writing items into the catalogue: item by item, unchanged ones left alone, only what changed embedded again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Unpack

from skillroute.catalogue.access import locked_item, own_item, visible_item
from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.catalogue.model import Item, ItemKey
from skillroute.catalogue.repository import ItemRepository, ItemRow, ItemState, Written
from skillroute.catalogue.rows import EmbeddedItems, IncomingItem, ItemWriter, States
from skillroute.catalogue.schemas import (
    ITEM_FIELDS,
    SWITCHES,
    item_warnings,
    lost_problems,
    read_item,
    switch_problems,
)
from skillroute.catalogue.servers import ServersOfItems
from skillroute.core.bulk.outcomes import Outcome, Report
from skillroute.core.bulk.versions import Expected, OneWrite, as_answered
from skillroute.core.bulk.write import BulkWrite
from skillroute.core.bulk.writing import Done, Writing
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Embedded, JobOptions
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors.model import FieldProblem, InvalidInput
from skillroute.core.input.json_input import MAX_PROBLEMS
from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.deadline import Deadline

MAX_ITEMS = 500
"""Items of one call."""


@dataclass(frozen=True, slots=True)
class ItemOutcome(Outcome):
    """The outcome of one item of a call.

    Attributes
    ----------
    key : ItemKey or None
        None when it could not be read.
    """

    key: ItemKey | None = None


SyncReport = Report[ItemOutcome]


class SyncTools(BulkWrite):
    """`PUT /api/v1/tools`.

    Parameters
    ----------
    servers : ServersOfItems
        Called with the items that are written; derives again what their servers are found by.
    known : KnownRequests
        See `ItemWriter`.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        servers: ServersOfItems,
        known: KnownRequests = NOTHING_KNOWN,
        **options: Unpack[JobOptions],
    ) -> None:
        super().__init__(database, embedder, **options)
        self._writer = ItemWriter(database, embedder, known)
        self._servers = servers

    def __call__(self, items: Sequence[object], caller: Caller, *, dry_run: bool = False) -> SyncReport:
        """Create or change items of the caller's organisation, `MAX_ITEMS` at most; see `BulkWrite`."""
        return self._carry_out(ItemsWriting(self._writer, self._servers, caller), items, dry_run=dry_run)

    def one(self, item_id: int, raw: Mapping[str, object], caller: Caller, expected: Expected | None) -> Item:
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
        item = self._database.read(lambda session: own_item(session, item_id, caller))
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
        [outcome] = self._carry_out(ItemsWriting(self._writer, self._servers, caller, one), [named]).outcomes
        if outcome.status == "failed" or one.written is None:
            raise InvalidInput.of(outcome.problems)
        return as_answered(
            one.written, lambda: self._database.read(lambda session: visible_item(session, item_id, caller))
        )


@dataclass(frozen=True, slots=True)
class PlacedItem:
    """An item as it was read, and its place in the call."""

    index: int
    item: IncomingItem

    @property
    def key(self) -> ItemKey:
        return self.item.key


@dataclass(slots=True, kw_only=True)
class ItemsDone(Done[ItemOutcome]):
    """The rows that one transaction wrote, and the servers that offer the tools among them."""

    rows: Sequence[ItemRow]
    written: dict[ItemKey, Written]
    servers: Sequence[int]


class ItemsWriting(Writing[PlacedItem, ItemsDone, ItemOutcome]):
    """A call that writes items, or one alone."""

    noun = "item"
    most = MAX_ITEMS
    identity = ("name", "server, type and name")
    outcome_type = ItemOutcome
    metrics: ClassVar = (Metric.ITEMS_WRITTEN, Metric.ITEMS_FAILED)

    def __init__(
        self, writer: ItemWriter, servers: ServersOfItems, caller: Caller, one: OneWrite[Item] | None = None
    ) -> None:
        self._writer = writer
        self._servers = servers
        self.caller = caller
        self._one = one
        self._states = States()
        self._switches: dict[int, Mapping[str, object]] = {}
        self._embedded = EmbeddedItems((), {})

    def warnings(self, raw: object) -> Sequence[FieldProblem]:
        return item_warnings(raw)

    def read(self, index: int, raw: object) -> PlacedItem:
        item = PlacedItem(index, IncomingItem.of(read_item(raw)))
        if isinstance(raw, Mapping) and not SWITCHES.keys().isdisjoint(raw):
            self._switches[index] = {name: raw[name] for name in SWITCHES if name in raw}
        return item

    def named(self, thing: PlacedItem) -> dict[str, object]:
        return {"key": thing.key}

    def prepare(self, incoming: Sequence[PlacedItem], deadline: Deadline) -> bool:
        items = [thing.item for thing in incoming]
        self._states = self._writer.states(items, self.caller)
        self._embedded = self._writer.embedded(items, self._states, deadline)
        return not self._embedded.embedding_unavailable

    def settled(self, thing: PlacedItem) -> ItemOutcome | None:
        if self._one is not None:
            return None  # that it is the expected version shows in the transaction only
        if not self._states.is_unchanged(thing.item):
            return None
        return self._outcome(thing, self._states.stored[thing.key], None)

    def store(self, session: Session, some: Sequence[PlacedItem]) -> ItemsDone:
        org_id, rows, keys = self.caller.org_id, self._rows(some), [thing.key for thing in some]
        # Their state is that of all their items; what they are found by is said by their tools.
        servers = self._servers.lock(session, org_id, list({key.server for key in keys if key.server}))
        if self._one is not None:
            locked_item(session, self._one.id, self.caller, self._one.expected)
        written = self._writer.upsert(session, rows, self.caller)
        if self._one is not None:
            self._one.written = visible_item(session, self._one.id, self.caller)
        if any(key.type == "tool" for key in written):
            self._servers.refresh(session, servers)
        unknown = [key for key in keys if key not in written and key not in self._states.stored]
        # Somebody else wrote the same at the same moment: the ids are theirs.
        states = {**self._states.stored, **(ItemRepository(session).states(org_id, unknown) if unknown else {})}
        outcomes = {thing.index: self._outcome(thing, states.get(thing.key), written.get(thing.key)) for thing in some}
        return ItemsDone(outcomes=outcomes, rows=rows, written=written, servers=servers)

    def attempt(self, session: Session, some: Sequence[PlacedItem]) -> object:
        # What their servers are found by is left out: it took longer than the items.
        return self._writer.upsert(session, self._rows(some), self.caller)

    def is_news(self, done: ItemsDone) -> bool:
        return bool(done.written)

    def embed_committed(self, done: ItemsDone, deadline: Deadline | None) -> tuple[Embedded, Embedded]:
        if deadline is None or not done.written:
            return Embedded(), Embedded()
        items = self._writer.embed_overtaken(done.rows, done.written, deadline)
        return items, self._servers.embed(done.servers, deadline) if items.complete else Embedded(complete=False)

    def _rows(self, some: Sequence[PlacedItem]) -> list[ItemRow]:
        return replace(self._embedded, items=[thing.item for thing in some]).rows(self._states)

    def _outcome(self, thing: PlacedItem, state: ItemState | None, written: Written | None) -> ItemOutcome:
        status, stored = thing.item.status(state, written), written or state
        stored_switches = SWITCHES if state is None else {name: getattr(state, name) for name in SWITCHES}
        given = self._switches.get(thing.index)
        warnings = () if given is None else switch_problems(given, stored_switches)
        if stored is None:
            return ItemOutcome(thing.index, status, key=thing.key, warnings=warnings)
        return ItemOutcome(
            thing.index, status, id=stored.id, is_refused=stored.is_refused, key=thing.key, warnings=warnings
        )
