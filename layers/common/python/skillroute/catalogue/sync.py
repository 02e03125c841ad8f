"""Writing items into the catalogue: item by item, unchanged ones left alone, only what changed embedded again."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.repository import ItemRepository, ItemRow, ItemState, Written
from skillroute.catalogue.rows import EmbeddedItems, IncomingItem, ItemWriter, States, indexed_text
from skillroute.catalogue.schemas import read_item
from skillroute.catalogue.servers import ServersOfItems
from skillroute.core.bulk_write import refused
from skillroute.core.caller import Caller
from skillroute.core.clock import Clock
from skillroute.core.deadline import Deadline
from skillroute.core.documents.embed import Embedded
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder
from skillroute.core.errors import InvalidInput, StatementRejected
from skillroute.core.observability import Metric, count, logger
from skillroute.core.outcomes import Outcome, Report
from skillroute.core.postgres.database import Database, Session

__all__ = ["MAX_ITEMS", "ItemOutcome", "SyncReport", "SyncTools", "indexed_text"]

MAX_ITEMS = 500
"""Items of one call."""


@dataclass(frozen=True, slots=True)
class ItemOutcome(Outcome):
    """What became of one item of a call.

    Attributes
    ----------
    key : ItemKey or None
        None when it could not be read.
    """

    key: ItemKey | None = None


class SyncReport(Report[ItemOutcome]):
    """What became of all items, in the order of the call."""


@dataclass(slots=True)
class _Done:
    """What the database took, what it refused and why, and the servers that offer the tools among it.

    `theirs` is what somebody else wrote the same at the same moment: its ids are theirs.
    """

    written: dict[ItemKey, Written] = field(default_factory=dict)
    theirs: Mapping[ItemKey, ItemState] = field(default_factory=dict)
    rejected: Mapping[ItemKey, str] = field(default_factory=dict)
    servers: Sequence[int] = ()


class SyncTools:
    """`PUT /api/v1/tools`.

    Parameters
    ----------
    database, embedder
    servers : ServersOfItems
        Told which items are written, and has what their servers are found by follow.
    after_commit : callable
        Called once something was written; sends the work that this made, and brings an index server up to date.
    timeout_s : float
        All embedding of a call ends so many seconds after its begin; what did not fit is left to the relay.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        servers: ServersOfItems,
        *,
        after_commit: Callable[[], object] = lambda: None,
        timeout_s: float = 60.0,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._writer = ItemWriter(database, embedder)
        self._servers = servers
        self._after_commit = after_commit
        self._timeout_s = timeout_s
        self._clock = clock

    def __call__(self, items: Sequence[object], caller: Caller) -> SyncReport:
        """Create or change items of the caller's organisation.

        Raises
        ------
        InvalidInput
            There are more than `MAX_ITEMS`.
        DatabaseUnavailable
            Nothing was written.
        """
        if len(items) > MAX_ITEMS:
            raise InvalidInput("items", f"{len(items)} items; at most {MAX_ITEMS} in one call")
        deadline = Deadline(self._timeout_s, self._clock, callee=EMBEDDING_MODEL)
        incoming, outcomes = _read_all(items)
        states = self._writer.states(incoming.values(), caller)
        embedded = self._writer.embedded(list(incoming.values()), states, deadline)
        rows = embedded.rows(states)
        done = self._write(embedded, rows, states, caller)
        late, servers = Embedded(complete=not embedded.embedding_unavailable), Embedded()
        if done.written:
            late, servers = self._finish(embedded, rows, done, deadline)
        states |= done.theirs
        for index, item in incoming.items():
            outcomes[index] = _outcome(index, item, states, done, late)
        in_order = [outcomes[index] for index in sorted(outcomes)]
        report = SyncReport(
            in_order,
            embedding_unavailable=not (late.complete and servers.complete),
            embedding_refused=any(each.is_refused for each in in_order) or bool(servers.refused),
        )
        count(Metric.ITEMS_WRITTEN, report.count("created") + report.count("updated"))
        count(Metric.ITEMS_FAILED, report.count("failed"))
        return report

    def _write(self, embedded: EmbeddedItems, rows: Sequence[ItemRow], states: States, caller: Caller) -> _Done:
        """Write rows in one transaction, all but those that PostgreSQL refuses."""

        def write(some: Sequence[ItemRow]) -> _Done:
            if not some:
                return _Done()
            return self._database.transact(lambda session: self._upsert(session, embedded, some, states, caller))

        try:
            return write(rows)
        except StatementRejected as error:
            if not error.is_about_data:
                raise
        # What their servers are found by is left out of the attempts: it took longer than the items.
        wrong = refused(self._database, rows, lambda session, some: self._writer.upsert(session, some, caller))
        for reason in wrong.values():
            logger.warning("item rejected by the database", extra={"reason": reason})
        done = write([row for place, row in enumerate(rows) if place not in wrong])
        done.rejected = {rows[place].content.key: reason for place, reason in wrong.items()}
        return done

    def _upsert(
        self, session: Session, embedded: EmbeddedItems, rows: Sequence[ItemRow], states: States, caller: Caller
    ) -> _Done:
        self._writer.claim(session, embedded)
        keys = [row.content.key for row in rows]
        # Their state is that of all their items; what they are found by is said by their tools.
        servers = self._servers.hold(session, caller.org_id, list({key.server for key in keys if key.server}))
        written = self._writer.upsert(session, rows, caller)
        if any(key.type == "tool" for key in written):
            self._servers.refresh(session, servers)
        unknown = [key for key in keys if key not in written and key not in states]
        theirs = ItemRepository(session).states(caller.org_id, unknown) if unknown else {}
        return _Done(written, theirs, servers=servers)

    def _finish(
        self, embedded: EmbeddedItems, rows: Sequence[ItemRow], done: _Done, deadline: Deadline
    ) -> tuple[Embedded, Embedded]:
        """Embed what the commit left without a vector, of items and of their servers, and pass the news on."""
        items = servers = Embedded(complete=False)
        try:
            if not embedded.embedding_unavailable:
                items = self._writer.embed_overtaken(rows, done.written, deadline)
            if items.complete:
                servers = self._servers.embed(done.servers, deadline)
            return items, servers
        finally:
            self._after_commit()


def _read_all(items: Sequence[object]) -> tuple[dict[int, IncomingItem], dict[int, ItemOutcome]]:
    """Read what can be read, by place in the call; the rest has failed already."""
    incoming: dict[int, IncomingItem] = {}
    failed: dict[int, ItemOutcome] = {}
    first_place: dict[ItemKey, int] = {}
    for index, raw in enumerate(items):
        try:
            content = read_item(raw)
        except InvalidInput as error:
            failed[index] = ItemOutcome(index, "failed", field=error.field, reason=error.message)
            continue
        if content.key in first_place:
            reason = f"the same server, type and name as item {first_place[content.key]} of this call"
            failed[index] = ItemOutcome(index, "failed", key=content.key, field="name", reason=reason)
            continue
        first_place[content.key] = index
        incoming[index] = IncomingItem.of(content)
    return incoming, failed


def _outcome(
    index: int, item: IncomingItem, states: Mapping[ItemKey, ItemState], done: _Done, late: Embedded
) -> ItemOutcome:
    if item.key in done.rejected:
        return ItemOutcome(index, "failed", key=item.key, field="item", reason=done.rejected[item.key])
    state, written = states.get(item.key), done.written.get(item.key)
    status, stored = item.status(state, written), written or state
    if stored is None:
        return ItemOutcome(index, status, key=item.key)
    is_refused = stored.is_refused or str(stored.id) in late.refused
    return ItemOutcome(index, status, id=stored.id, is_refused=is_refused, key=item.key)
