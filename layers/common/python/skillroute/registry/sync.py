"""Writing servers with their tools, and agents: each whole or not at all, unchanged ones left alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Unpack

from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.repository import ItemRepository, ItemRow, ItemState, Written
from skillroute.catalogue.rows import EmbeddedItems, IncomingItem, ItemWriter, States
from skillroute.core.bulk.outcomes import Status
from skillroute.core.bulk.versions import Expected, OneWrite, as_answered
from skillroute.core.bulk.write import BulkWrite
from skillroute.core.bulk.writing import Done, Writing
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Embedded, JobOptions
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors.model import FieldProblem, InvalidInput
from skillroute.core.hashing import content_hash
from skillroute.core.input.known_fields import MAX_WARNINGS
from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.deadline import Deadline
from skillroute.registry.access import locked_entity, own_entity, visible_entity
from skillroute.registry.model import Entity, EntityKind
from skillroute.registry.refresh import EmbedEntities, refresh
from skillroute.registry.report import EntityOutcome, RegistryReport, ToolCounts
from skillroute.registry.repository import EntityWritten, RegistryRepository
from skillroute.registry.schemas import (
    MAX_ENTITIES,
    EntityGiven,
    read_agent,
    read_server,
    refuse_misspelt,
    registry_warnings,
)

MAX_TOOLS_OF_CALL = 2000
"""Tools of all servers of one call: more of them are not embedded while somebody waits for the answer."""

_SEVERAL = "items of server {0!r} may be of {1}, and count as of none: give them the path of one as their server"

_READ: dict[EntityKind, Callable[[object], EntityGiven]] = {"server": read_server, "agent": read_agent}


class SyncRegistry(BulkWrite):
    """`PUT /api/v1/servers` and `PUT /api/v1/agents`.

    Parameters
    ----------
    known : KnownRequests
        See `ItemWriter`.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        known: KnownRequests = NOTHING_KNOWN,
        **options: Unpack[JobOptions],
    ) -> None:
        super().__init__(database, embedder, **options)
        self._writer = ItemWriter(database, embedder, known)
        self._embed_entities = EmbedEntities(database, embedder)

    def __call__(
        self, kind: EntityKind, entities: Sequence[object], caller: Caller, *, dry_run: bool = False
    ) -> RegistryReport:
        """Create or change servers or agents of the caller's organisation, `MAX_ENTITIES` at most; see `BulkWrite`.

        A server's tools become those given, if any are: what is not among them is removed from the catalogue, and what
        is the same keeps its id, its skills and its vector.
        """
        return self._carry_out(self._writing(kind, caller), entities, dry_run=dry_run)

    def one(
        self, kind: EntityKind, entity_id: int, raw: Mapping[str, object], caller: Caller, expected: Expected | None
    ) -> Entity:
        """Write one server or agent of the caller's organisation over, and return it as it was stored.

        Parameters
        ----------
        raw : mapping
            It whole; without its path, which stays, or with the same.

        Raises
        ------
        InvalidInput
            A field's value is not allowed, or the path is another one's.
        NotFound, Forbidden
            There is none, or it is not the caller's.
        VersionConflict
            It is not the version that is expected.
        """
        path = self._database.read(lambda session: own_entity(session, kind, entity_id, caller)).content.path
        if _READ[kind](raw).content.path != path:
            if "path" in raw:
                raise InvalidInput("path", f"must be {path}, as the path of a {kind} cannot change, or be left out")
            raw = {**raw, "path": path}
        refuse_misspelt(kind, raw)
        if expected is not None and kind == "server" and raw.get("tools") is not None:
            raise InvalidInput(
                "tools",
                "have versions of their own: leave them out of a request with If-Match, and write them by their ids",
            )
        one: OneWrite[Entity] = OneWrite(entity_id, expected)
        [outcome] = self._carry_out(self._writing(kind, caller, one), [raw]).outcomes
        if outcome.status == "failed" or one.written is None:
            raise InvalidInput.of(outcome.problems)
        return as_answered(
            one.written, lambda: self._database.read(lambda session: visible_entity(session, kind, entity_id, caller))
        )

    def _writing(self, kind: EntityKind, caller: Caller, one: OneWrite[Entity] | None = None) -> _Entities:
        return _Entities(kind, self._database, self._writer, self._embed_entities, caller, one)


@dataclass(frozen=True, slots=True)
class _Incoming:
    index: int
    given: EntityGiven
    tools: tuple[IncomingItem, ...]

    @property
    def key(self) -> str:
        return self.given.content.path


@dataclass(slots=True, kw_only=True)
class _Done(Done[EntityOutcome]):
    """The outcomes of one transaction, and the tools that it wrote for them.

    Attributes
    ----------
    waiting : sequence of int
        Ids of items that wait for a vector, since what their servers say of themselves is new.
    """

    rows: Sequence[ItemRow]
    written: dict[ItemKey, Written]
    waiting: Sequence[int] = ()


class _Entities(Writing[_Incoming, _Done, EntityOutcome]):
    most = MAX_ENTITIES
    identity = ("path", "path")
    outcome_type = EntityOutcome
    metrics: ClassVar = (Metric.ENTITIES_WRITTEN, Metric.ENTITIES_FAILED)

    def __init__(
        self,
        kind: EntityKind,
        database: Database,
        writer: ItemWriter,
        embed_entities: EmbedEntities,
        caller: Caller,
        one: OneWrite[Entity] | None = None,
    ) -> None:
        self.noun = kind
        self._kind = kind
        self._one = one
        self._read = _READ[kind]
        self._database = database
        self._writer = writer
        self._embed_entities = embed_entities
        self.caller = caller
        self._embedded = EmbeddedItems((), {})
        self._tool_count = 0

    def warnings(self, raw: object) -> Sequence[FieldProblem]:
        return registry_warnings(self._kind, raw)

    def read(self, index: int, raw: object) -> _Incoming:
        given = self._read(raw)
        return _Incoming(index, given, tuple(IncomingItem.of(tool) for tool in given.tools or ()))

    def admit(self, thing: _Incoming) -> None:
        before, own = self._tool_count, len(thing.tools)
        if before + own > MAX_TOOLS_OF_CALL:
            raise InvalidInput(
                "tools", f"has {own} tools, and those before it {before}: at most {MAX_TOOLS_OF_CALL} in one call"
            )
        self._tool_count += own

    def named(self, thing: _Incoming) -> dict[str, object]:
        return {"path": thing.given.content.path, "name": thing.given.content.name}

    def prepare(self, incoming: Sequence[_Incoming], deadline: Deadline) -> bool:
        tools = _tools(incoming)
        states = self._writer.states(tools, self.caller) if tools else States()
        # What the servers will say once they are written: what is embedded now need not be embedded again then.
        states = replace(states, server_texts=self._database.read(lambda session: _server_texts(session, incoming)))
        self._embedded = self._writer.embedded(tools, states, deadline)
        return not self._embedded.embedding_unavailable

    def store(self, session: Session, some: Sequence[_Incoming]) -> _Done:
        org_id, tools, items = self.caller.org_id, _tools(some), ItemRepository(session)
        entities, namesakes = _upsert(session, some, self.caller, self._check)
        # Read again now that the servers are locked: nobody writes their tools between this look and the commit.
        states = self._writer.read_states(session, [tool.key for tool in tools], self.caller) if tools else States()
        rows = replace(self._embedded, items=tools).rows(states)
        done = _Done(rows=rows, written=self._writer.upsert(session, rows, self.caller))
        for thing in some:
            counts = None
            if thing.given.tools is not None:
                names = [tool.key.name for tool in thing.tools]
                removed = items.delete_others(org_id, thing.given.content.tools_server, names)
                counts = _counts(thing, states.stored, done.written, removed)
            entity, content = entities[thing.index], thing.given.content
            done.outcomes[thing.index] = EntityOutcome(
                thing.index, _status(entity, counts), entity.id, path=content.path, name=content.name, tools=counts
            )
        news = [entities[index].id for index, outcome in done.outcomes.items() if outcome.status != "unchanged"]
        if any(entity.created or entity.changed for entity in entities.values()):
            news += sorted(namesakes)  # which tools are theirs may be another matter now
        refresh(session, news)
        if self._kind == "server" and news:
            done.waiting = RegistryRepository(session).waiting_items(news, MAX_TOOLS_OF_CALL)
        self._warn_of_names(session, done)
        if self._one is not None:
            self._one.written = visible_entity(session, self._kind, self._one.id, self.caller)
        return done

    def _warn_of_names(self, session: Session, done: _Done) -> None:
        """Say of servers which names of items may mean others as well."""
        if self._kind != "server":
            return
        ids = [outcome.id for outcome in done.outcomes.values() if outcome.id is not None]
        ambiguous = RegistryRepository(session).ambiguous_names(ids)
        for index, outcome in done.outcomes.items():
            if found := ambiguous.get(outcome.id or 0):
                warnings = [FieldProblem("name", _SEVERAL.format(each.name, " or ".join(each.paths))) for each in found]
                done.outcomes[index] = replace(outcome, warnings=(*outcome.warnings, *warnings[:MAX_WARNINGS]))

    def _check(self, session: Session) -> None:
        if self._one is not None:
            locked_entity(session, self._kind, self._one.id, self.caller, self._one.expected)

    def is_news(self, done: _Done) -> bool:
        return bool(done.written) or any(outcome.status != "unchanged" for outcome in done.outcomes.values())

    def embed_committed(self, done: _Done, deadline: Deadline | None) -> tuple[Embedded, Embedded]:
        tools = Embedded(complete=False)
        ids = sorted(outcome.id for outcome in done.outcomes.values() if outcome.id is not None)
        if deadline is not None:
            tools = self._writer.embed_overtaken(done.rows, done.written, deadline, done.waiting)
        return self._embed_entities(ids, deadline if tools.complete else None), tools


def _server_texts(session: Session, incoming: Sequence[_Incoming]) -> dict[str, str]:
    """Return what servers with tools say of themselves, by the name that their tools have for them."""
    servers = [thing.given.content for thing in incoming if thing.tools]
    return RegistryRepository(session).texts_of(servers) if servers else {}


def _tools(incoming: Sequence[_Incoming]) -> list[IncomingItem]:
    return [tool for thing in incoming for tool in thing.tools]


def _upsert(
    session: Session, incoming: Sequence[_Incoming], caller: Caller, check: Callable[[Session], None]
) -> tuple[dict[int, EntityWritten], set[int]]:
    """Write the entities, by index, and lock them before anything is done to their tools.

    With them are returned the ids of those that were there and share a name with them.

    `check` is called once the servers are locked, and may refuse the call.
    """
    servers = [thing.given.content for thing in incoming if thing.given.content.kind == "server"]
    # All that are there at once, as every writer of tools does; the new ones then in an order of their own.
    namesakes = set(RegistryRepository(session).lock_to_register(caller.org_id, servers))
    check(session)
    written = {
        thing.index: RegistryRepository(session).upsert(
            caller.org_id, thing.given.content, content_hash(thing.given.content), is_enabled=thing.given.is_enabled
        )
        for thing in sorted(incoming, key=lambda thing: thing.given.content.path)
    }
    return written, namesakes - {entity.id for entity in written.values()}


def _counts(
    thing: _Incoming, states: Mapping[ItemKey, ItemState], written: Mapping[ItemKey, Written], removed: int
) -> ToolCounts:
    became = Counter(tool.status(states.get(tool.key), written.get(tool.key)) for tool in thing.tools)
    stored = (written.get(tool.key) or states.get(tool.key) for tool in thing.tools)
    refused = sum(tool is not None and tool.is_refused for tool in stored)
    return ToolCounts(became["created"], became["updated"], became["unchanged"], removed, refused)


def _status(entity: EntityWritten, tools: ToolCounts | None) -> Status:
    if entity.created:
        return "created"
    news = tools is not None and (tools.created or tools.updated or tools.removed)
    return "updated" if entity.changed or news else "unchanged"
