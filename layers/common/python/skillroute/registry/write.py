"""The steps of writing servers with their tools, and agents: each whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.catalogue.known_requests import KnownRequests
from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.repository import ItemRepository, ItemState, Written
from skillroute.catalogue.rows import IncomingItem, States, read_states, upsert, without_vector
from skillroute.core.bulk.outcomes import Status
from skillroute.core.bulk.versions import OneWrite
from skillroute.core.bulk.write import Diff, Stored, Vectors
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Waiting
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.hashing import content_hash
from skillroute.core.input.known_fields import MAX_WARNINGS
from skillroute.core.postgres.database import Database, Session
from skillroute.registry.access import locked_entity, visible_entity
from skillroute.registry.collection import REGISTRY_DOCUMENTS
from skillroute.registry.model import Entity, EntityKind
from skillroute.registry.refresh import refresh
from skillroute.registry.report import EntityOutcome, ToolCounts
from skillroute.registry.repository import AmbiguousName, EntityWritten, RegistryRepository
from skillroute.registry.schemas import EntityGiven, read_agent, read_server

MAX_TOOLS_OF_CALL = 2000
"""Tools of all servers of one call: more of them are not embedded while somebody waits for the answer."""

_SEVERAL = "items of server {0!r} may be of {1}, and count as of none: give them the path of one as their server"

READ: dict[EntityKind, Callable[[object], EntityGiven]] = {"server": read_server, "agent": read_agent}


@dataclass(frozen=True, slots=True)
class IncomingEntity:
    """A server or agent as it was read, and its place in the call."""

    index: int
    given: EntityGiven
    tools: tuple[IncomingItem, ...]

    @property
    def key(self) -> str:
        return self.given.content.path

    @property
    def names(self) -> dict[str, object]:
        return {"path": self.given.content.path, "name": self.given.content.name}


class EntitySteps:
    """Writes servers or agents, or one alone.

    Parameters
    ----------
    known : KnownRequests
        What tools get without requests.
    """

    def __init__(
        self,
        kind: EntityKind,
        database: Database,
        caller: Caller,
        known: KnownRequests,
        one: OneWrite[Entity] | None = None,
    ) -> None:
        self._kind: EntityKind = kind
        self._database = database
        self._caller = caller
        self._known = known
        self._one = one

    def decode(self, index: int, raw: object) -> IncomingEntity:
        given = READ[self._kind](raw)
        return IncomingEntity(index, given, tuple(IncomingItem.of(tool) for tool in given.tools or ()))

    def diff(self, incoming: Sequence[IncomingEntity]) -> Diff[EntityOutcome]:
        refused: dict[int, EntityOutcome] = {}
        some, before = [], 0
        for thing in incoming:
            if (own := len(thing.tools)) + before > MAX_TOOLS_OF_CALL:
                most = f"at most {MAX_TOOLS_OF_CALL} in one call"
                problem = FieldProblem("tools", f"has {own} tools, and those before it {before}: {most}")
                content = thing.given.content
                refused[thing.index] = EntityOutcome(
                    thing.index, "failed", problems=(problem,), path=content.path, name=content.name
                )
            else:
                before += own
                some.append(thing)
        tools = _tools(some)
        states = self._database.read(lambda session: self._states(session, tools)) if tools else States()
        # What the servers will say once they are written: what is embedded now need not be embedded again then.
        states = replace(states, server_texts=self._database.read(lambda session: _server_texts(session, some)))
        return Diff(refused, states.new_texts(tools))

    def store(self, session: Session, some: Sequence[IncomingEntity], vectors: Vectors) -> Stored[EntityOutcome]:
        org_id, tools, items = self._caller.org_id, _tools(some), ItemRepository(session)
        entities, namesakes = _upsert(session, some, self._caller, self._check)
        # Read again now that the servers are locked: nobody writes their tools between this look and the commit.
        states = self._states(session, tools) if tools else States()
        written = upsert(session, org_id, states.rows(tools, vectors), vectors)
        outcomes = {}
        for thing in some:
            counts = None
            if thing.given.tools is not None:
                names = [tool.key.name for tool in thing.tools]
                removed = items.delete_others(org_id, thing.given.content.tools_server, names)
                counts = _counts(thing, states.stored, written, removed)
            entity, content = entities[thing.index], thing.given.content
            outcomes[thing.index] = EntityOutcome(
                thing.index, _status(entity, counts), entity.id, path=content.path, name=content.name, tools=counts
            )
        news = [entities[index].id for index, outcome in outcomes.items() if outcome.status != "unchanged"]
        is_news = bool(written or news)
        if any(entity.created or entity.changed for entity in entities.values()):
            news += sorted(namesakes)  # which tools are theirs may be another matter now
        refresh(session, news)
        # Items wait for a vector, too, where what their servers say of themselves is new.
        waits = self._kind == "server" and news
        waiting = RegistryRepository(session).waiting_items(news, MAX_TOOLS_OF_CALL) if waits else ()
        self._warn_of_names(session, outcomes)
        if self._one is not None:
            self._one.written = visible_entity(session, self._kind, self._one.id, self._caller)
        of_tools = Waiting(TOOL_DOCUMENTS, sorted(without_vector(written).union(waiting)), "items", is_own=False)
        own = Waiting(REGISTRY_DOCUMENTS, sorted(entity.id for entity in entities.values()), "entities")
        return Stored(outcomes, is_news, (of_tools, own))

    def _warn_of_names(self, session: Session, outcomes: dict[int, EntityOutcome]) -> None:
        """Say of servers which names of items may mean others as well."""
        if self._kind != "server":
            return
        ids = [outcome.id for outcome in outcomes.values() if outcome.id is not None]
        ambiguous = RegistryRepository(session).ambiguous_names(ids, self._caller.org_id, rights=self._caller.rights)
        for index, outcome in outcomes.items():
            if found := ambiguous.get(outcome.id or 0):
                warnings = [FieldProblem("name", _several(each)) for each in found]
                outcomes[index] = replace(outcome, warnings=(*outcome.warnings, *warnings[:MAX_WARNINGS]))

    def _check(self, session: Session) -> None:
        if self._one is not None:
            locked_entity(session, self._kind, self._one.id, self._caller, self._one.expected)

    def _states(self, session: Session, tools: Sequence[IncomingItem]) -> States:
        return read_states(session, self._caller.org_id, [tool.key for tool in tools], self._known)


def _server_texts(session: Session, incoming: Sequence[IncomingEntity]) -> dict[str, str]:
    """Return what servers with tools say of themselves, by the name that their tools have for them."""
    servers = [thing.given.content for thing in incoming if thing.tools]
    return RegistryRepository(session).texts_of(servers) if servers else {}


def _tools(incoming: Sequence[IncomingEntity]) -> list[IncomingItem]:
    return [tool for thing in incoming for tool in thing.tools]


def _upsert(
    session: Session, incoming: Sequence[IncomingEntity], caller: Caller, check: Callable[[Session], None]
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


def _several(name: AmbiguousName) -> str:
    return _SEVERAL.format(name.name, " or ".join(name.paths) or "several servers")


def _counts(
    thing: IncomingEntity, states: Mapping[ItemKey, ItemState], written: Mapping[ItemKey, Written], removed: int
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
