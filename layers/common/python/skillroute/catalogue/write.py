"""The steps of writing items: unchanged ones are left alone, only what changed is embedded again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from skillroute.catalogue.access import locked_item, visible_item
from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.catalogue.model import Item, ItemKey
from skillroute.catalogue.repository import ItemRepository, ItemState, Written
from skillroute.catalogue.rows import IncomingItem, States, read_states, upsert, without_vector
from skillroute.catalogue.schemas import SWITCHES, read_item, switch_problems
from skillroute.catalogue.servers import ServersOfItems
from skillroute.catalogue.trust.settle import WARNED, Trust, settle, with_warning
from skillroute.core.bulk.outcomes import Outcome
from skillroute.core.bulk.versions import OneWrite
from skillroute.core.bulk.write import Diff, Stored, Vectors
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Waiting
from skillroute.core.postgres.database import Database, Session


@dataclass(frozen=True, slots=True)
class ItemOutcome(Outcome):
    """The outcome of one item of a call.

    Attributes
    ----------
    key : ItemKey or None
        None when it could not be read.
    """

    key: ItemKey | None = None


@dataclass(frozen=True, slots=True)
class PlacedItem:
    """An item as it was read, and its place in the call.

    Attributes
    ----------
    switches : mapping or None
        What its writer says of `SWITCHES`.
    """

    index: int
    item: IncomingItem
    switches: Mapping[str, object] | None = None

    @property
    def key(self) -> ItemKey:
        return self.item.key

    @property
    def names(self) -> dict[str, object]:
        return {"key": self.key}

    def outcome(self, state: ItemState | None, written: Written | None) -> ItemOutcome:
        """Return what became of it, when it did not fail."""
        status, stored = self.item.status(state, written), written or state
        stored_switches = SWITCHES if state is None else {name: getattr(state, name) for name in SWITCHES}
        warnings = () if self.switches is None else switch_problems(self.switches, stored_switches)
        if stored is None:
            return ItemOutcome(self.index, status, key=self.key, warnings=warnings)
        return ItemOutcome(
            self.index, status, id=stored.id, is_refused=stored.is_refused, key=self.key, warnings=warnings
        )


@dataclass(frozen=True, slots=True)
class AroundItem:
    """An item as it was read, for calls that say more of it than the item."""

    placed: PlacedItem

    @property
    def index(self) -> int:
        return self.placed.index

    @property
    def key(self) -> ItemKey:
        return self.placed.key

    @property
    def names(self) -> dict[str, object]:
        return self.placed.names


class ItemSteps:
    """Writes items, or one alone.

    Parameters
    ----------
    servers : ServersOfItems
        Called with the items that are written; derives again what their servers are found by.
    known : KnownRequests
        What tools get without requests; by default nothing.
    trust : Trust
        What becomes of items whose definitions change.
    """

    def __init__(
        self,
        database: Database,
        servers: ServersOfItems,
        caller: Caller,
        known: KnownRequests = NOTHING_KNOWN,
        one: OneWrite[Item] | None = None,
        trust: Trust = WARNED,
    ) -> None:
        self._database = database
        self._servers = servers
        self._caller = caller
        self._known = known
        self._one = one
        self._trust = trust
        self.states = States()

    def decode(self, index: int, raw: object) -> PlacedItem:
        item = IncomingItem.of(read_item(raw))
        if not isinstance(raw, Mapping) or SWITCHES.keys().isdisjoint(raw):
            return PlacedItem(index, item)
        return PlacedItem(index, item, {name: raw[name] for name in SWITCHES if name in raw})

    def diff(self, incoming: Sequence[PlacedItem]) -> Diff[ItemOutcome]:
        keys = [thing.key for thing in incoming]
        self.states = self._database.read(lambda session: read_states(session, self._caller.org_id, keys, self._known))
        same = {
            thing.index: thing.outcome(self.states.stored[thing.key], None)
            for thing in incoming
            # That one alone is the expected version shows in the transaction only; approving is written in any case.
            if self._one is None and not self._trust.approves and self.states.is_unchanged(thing.item)
        }
        return Diff(same, self.states.new_texts(thing.item for thing in incoming))

    def store(self, session: Session, some: Sequence[PlacedItem], vectors: Vectors) -> Stored[ItemOutcome]:
        org_id, keys = self._caller.org_id, [thing.key for thing in some]
        # Their state is that of all their items.
        servers = self._servers.lock(session, org_id, list({key.server for key in keys if key.server}))
        if self._one is not None:
            locked_item(session, self._one.id, self._caller, self._one.expected)
        rows = self.states.rows((thing.item for thing in some), vectors)
        written = upsert(session, org_id, rows, vectors)
        approved = {self.states.stored[key].id for key in keys if self._trust.approves and key in self.states.stored}
        changed = settle(session, {each.id for each in written.values()} | approved, self._trust, self._caller)
        if self._one is not None:
            self._one.written = visible_item(session, self._one.id, self._caller)
        unknown = [key for key in keys if key not in written and key not in self.states.stored]
        # Another request wrote the same at the same moment: its ids are used.
        states = {**self.states.stored, **(ItemRepository(session).states(org_id, unknown) if unknown else {})}
        outcomes = {
            thing.index: with_warning(
                thing.outcome(states.get(thing.key), written.get(thing.key)), changed, self._trust
            )
            for thing in some
        }
        if not written and not approved:
            return Stored(outcomes)
        items = Waiting(TOOL_DOCUMENTS, sorted(without_vector(written)), "items")
        of_servers = self._servers.waiting(servers)
        # What servers are found by is said by their tools.
        derive = (
            partial(self._servers.refresh, server_ids=servers)
            if approved or any(key.type == "tool" for key in written)
            else None
        )
        return Stored(outcomes, is_news=True, waiting=(items, of_servers), derive=derive)
