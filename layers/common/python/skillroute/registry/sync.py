"""Writing servers with their tools, and agents: each whole or not at all, unchanged ones left alone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace

from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.repository import ItemRepository, ItemRow, Written
from skillroute.catalogue.rows import EmbeddedItems, IncomingItem, ItemWriter
from skillroute.core.bulk_write import write_all_but_refused
from skillroute.core.caller import Caller
from skillroute.core.clock import Clock
from skillroute.core.deadline import Deadline
from skillroute.core.documents.embed import Embedded
from skillroute.core.embedding.port import EMBEDDING_MODEL, Embedder
from skillroute.core.errors import InvalidInput
from skillroute.core.hashing import content_hash
from skillroute.core.observability import Metric, count
from skillroute.core.outcomes import Status
from skillroute.core.postgres.database import Database, Session
from skillroute.registry.model import EntityKind
from skillroute.registry.refresh import EmbedEntities, refresh
from skillroute.registry.report import EntityOutcome, RegistryReport, ToolCounts
from skillroute.registry.repository import EntityWritten, RegistryRepository
from skillroute.registry.schemas import MAX_ENTITIES, EntityGiven, read_agent, read_server

MAX_TOOLS_OF_CALL = 2000
"""Tools of all servers of one call: more of them are not embedded while somebody waits for the answer."""

_READ: dict[EntityKind, Callable[[object], EntityGiven]] = {"server": read_server, "agent": read_agent}


@dataclass(frozen=True, slots=True)
class _Incoming:
    index: int
    given: EntityGiven
    tools: tuple[IncomingItem, ...]

    def outcome(self, status: Status) -> EntityOutcome:
        content = self.given.content
        return EntityOutcome(self.index, status, path=content.path, name=content.name)


@dataclass(slots=True)
class _Done:
    """What became of those that the database took or refused, and what was written for it."""

    outcomes: dict[int, EntityOutcome] = field(default_factory=dict)
    rows: list[ItemRow] = field(default_factory=list)
    written: dict[ItemKey, Written] = field(default_factory=dict)

    def ids(self) -> list[int]:
        return sorted(outcome.id for outcome in self.outcomes.values() if outcome.id is not None)

    def is_news(self) -> bool:
        return any(outcome.status in {"created", "updated"} for outcome in self.outcomes.values())


class SyncRegistry:
    """`PUT /api/v1/servers` and `PUT /api/v1/agents`.

    Parameters
    ----------
    database, embedder
    after_commit : callable
        Called once something was written; sends the work that this made, and brings an index server up to date.
    timeout_s : float
        All embedding of a call ends so many seconds after its begin; what did not fit is left to the relay.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        *,
        after_commit: Callable[[], object] = lambda: None,
        timeout_s: float = 60.0,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._writer = ItemWriter(database, embedder)
        self._embed_entities = EmbedEntities(database, embedder)
        self._after_commit = after_commit
        self._timeout_s = timeout_s
        self._clock = clock

    def __call__(self, kind: EntityKind, entities: Sequence[object], caller: Caller) -> RegistryReport:
        """Create or change servers or agents of the caller's organisation.

        A server's tools become those given, if any are: what is not among them is removed from the catalogue, and what
        is the same keeps its id, its skills and its vector.

        Raises
        ------
        InvalidInput
            There are more than `MAX_ENTITIES`.
        DatabaseUnavailable
            Nothing was written.
        """
        if len(entities) > MAX_ENTITIES:
            raise InvalidInput(f"{kind}s", f"{len(entities)} {kind}s; at most {MAX_ENTITIES} in one call")
        deadline = Deadline(self._timeout_s, self._clock, callee=EMBEDDING_MODEL)
        incoming, outcomes = _read_all(kind, entities)
        tools = [tool for each in incoming for tool in each.tools]
        embedded = self._writer.embedded(tools, self._writer.states(tools, caller), deadline)
        done = self._write(incoming, embedded, caller)
        late_tools, themselves = self._finish(embedded, done, deadline)
        outcomes |= {index: _told(each, themselves.refused) for index, each in done.outcomes.items()}
        in_order = [outcomes[index] for index in sorted(outcomes)]
        report = RegistryReport(
            in_order,
            embedding_unavailable=not (late_tools.complete and themselves.complete),
            embedding_refused=bool(late_tools.refused)
            or any(each.is_refused or (each.tools is not None and each.tools.refused > 0) for each in in_order),
        )
        count(Metric.ENTITIES_WRITTEN, report.count("created") + report.count("updated"))
        count(Metric.ENTITIES_FAILED, report.count("failed"))
        return report

    def _write(self, incoming: Sequence[_Incoming], embedded: EmbeddedItems, caller: Caller) -> _Done:
        """Write all in one transaction, but for those that PostgreSQL refuses."""

        def write(session: Session, some: Sequence[_Incoming]) -> _Done:
            return self._store(session, some, embedded, caller)

        written, wrong = write_all_but_refused(self._database, incoming, write, what="entity")
        done = written or _Done()
        for place, reason in wrong.items():
            each = incoming[place]
            done.outcomes[each.index] = replace(each.outcome("failed"), field=each.given.content.kind, reason=reason)
        return done

    def _store(self, session: Session, incoming: Sequence[_Incoming], embedded: EmbeddedItems, caller: Caller) -> _Done:
        self._writer.claim(session, embedded)
        entities = _upsert(session, incoming, caller)
        tools = [tool for each in incoming for tool in each.tools]
        # Read again now that the servers are held: nobody writes their tools between this look and the commit.
        states = ItemRepository(session).states(caller.org_id, [tool.key for tool in tools]) if tools else {}
        done = _Done(rows=replace(embedded, items=tools).rows(states))
        done.written = self._writer.upsert(session, done.rows, caller)
        for each in incoming:
            counts = None
            if each.given.tools is not None:
                names = [tool.key.name for tool in each.tools]
                removed = ItemRepository(session).delete_others(caller.org_id, each.given.content.tools_server, names)
                became = Counter(tool.status(states.get(tool.key), done.written.get(tool.key)) for tool in each.tools)
                stored = (done.written.get(tool.key) or states.get(tool.key) for tool in each.tools)
                refused = sum(tool is not None and tool.is_refused for tool in stored)
                counts = ToolCounts(became["created"], became["updated"], became["unchanged"], removed, refused)
            entity = entities[each.index]
            outcome = each.outcome(_status(entity, counts))
            done.outcomes[each.index] = replace(outcome, id=entity.id, tools=counts)
        refresh(
            session, [entities[index].id for index, outcome in done.outcomes.items() if outcome.status != "unchanged"]
        )
        return done

    def _finish(self, embedded: EmbeddedItems, done: _Done, deadline: Deadline) -> tuple[Embedded, Embedded]:
        """Embed what the commit left without a vector, of tools and of what offers them, and pass the news on."""
        tools = entities = Embedded(complete=False)
        try:
            if not embedded.embedding_unavailable:
                tools = self._writer.embed_overtaken(done.rows, done.written, deadline)
            if tools.complete:
                entities = self._embed_entities(done.ids(), deadline)
        finally:
            if done.is_news() or done.written or entities.stored:
                self._after_commit()
        return tools, entities


def _told(outcome: EntityOutcome, refused: Container[str]) -> EntityOutcome:
    """Return an outcome that says whether the entity's text is refused."""
    return replace(outcome, is_refused=outcome.id is not None and str(outcome.id) in refused)


def _upsert(session: Session, incoming: Sequence[_Incoming], caller: Caller) -> dict[int, EntityWritten]:
    """Write the entities, by index, and hold them before anything is done to their tools."""
    servers = [each.given.content.tools_server for each in incoming if each.given.content.kind == "server"]
    # All that are there at once, as everybody does who writes tools; the new ones then in an order of their own.
    RegistryRepository(session).hold_servers(caller.org_id, servers, to_register=True)
    return {
        each.index: RegistryRepository(session).upsert(
            caller.org_id, each.given.content, content_hash(each.given.content), is_enabled=each.given.is_enabled
        )
        for each in sorted(incoming, key=lambda each: each.given.content.path)
    }


def _read_all(kind: EntityKind, entities: Sequence[object]) -> tuple[list[_Incoming], dict[int, EntityOutcome]]:
    """Read what can be read; the rest has failed already."""
    incoming: list[_Incoming] = []
    failed: dict[int, EntityOutcome] = {}
    first_place: dict[str, int] = {}
    tool_count = 0
    for index, raw in enumerate(entities):
        try:
            given = _READ[kind](raw)
        except InvalidInput as error:
            failed[index] = EntityOutcome(index, "failed", field=error.field, reason=error.message)
            continue
        each = _Incoming(index, given, tuple(IncomingItem.of(tool) for tool in given.tools or ()))
        first = first_place.setdefault(given.content.path, index)
        if first != index:
            reason = f"the same path as {kind} {first} of this call"
            failed[index] = replace(each.outcome("failed"), field="path", reason=reason)
        elif tool_count + len(each.tools) > MAX_TOOLS_OF_CALL:
            reason = f"{tool_count} tools before its {len(each.tools)}; at most {MAX_TOOLS_OF_CALL} in one call"
            failed[index] = replace(each.outcome("failed"), field="tools", reason=reason)
        else:
            tool_count += len(each.tools)
            incoming.append(each)
    return incoming, failed


def _status(entity: EntityWritten, tools: ToolCounts | None) -> Status:
    if entity.created:
        return "created"
    news = tools is not None and (tools.created or tools.updated or tools.removed)
    return "updated" if entity.changed or news else "unchanged"
