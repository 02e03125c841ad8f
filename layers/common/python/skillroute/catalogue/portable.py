"""Items as lines, and lines as items, with what another slice says of their skills (docs/adr/0052)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from skillroute.catalogue.item_rows import to_requests
from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.catalogue.model import ItemKey, are_packaged
from skillroute.catalogue.servers import ServersOfItems
from skillroute.catalogue.sync import ITEMS, MAX_ITEMS, SyncReport
from skillroute.catalogue.trust.settle import WARNED, Trust
from skillroute.catalogue.write import AroundItem, ItemOutcome, ItemSteps
from skillroute.core.bulk.write import Diff, Stored, Vectors, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.json_input import together
from skillroute.core.input.known_fields import MAX_WARNINGS
from skillroute.core.portable.model import ExportedRow, Line, Slice, iso, moment, shown_moment
from skillroute.core.postgres.database import Database, Session

D = TypeVar("D")

_SKILLS, _CREATED, _SWITCHED_OFF = "skills", "created_at", "is_switched_off"


class SkillsOfItems(Protocol[D]):
    """Decisions on the skills of items, of type `D` once read."""

    def version(self, session: Session, org_id: str | None) -> str:
        """Return what differs as soon as anything was decided on an item of the organisation's own."""
        ...

    def shown(self, session: Session, item_ids: Sequence[int]) -> Mapping[int, Line]:
        """Return the field `skills` of the lines of items, by id."""
        ...

    def read(self, raw: object) -> D:
        """Return what a line says. Raises `InvalidInput`; `field` is relative to ``skills``."""
        ...

    def warnings(self, raw: object) -> Iterable[FieldProblem]:
        """Return the fields that are unknown of what a line says; `field` is relative to ``skills``."""
        ...

    def unknown(self, session: Session, decided: Sequence[D], caller: Caller) -> Sequence[FieldProblem | None]:
        """Return of each decision what names a skill that the caller does not see; None where all are there."""
        ...

    def write(self, session: Session, decided: Mapping[int, D], caller: Caller) -> set[int]:
        """Store decisions on items of the caller's own, by id, and return those that differed. Raises `Conflict`."""
        ...


class PortableItems(Generic[D]):
    """Lines of kind `tool`: tools, prompts and resources.

    Parameters
    ----------
    restore : RestoreItems
    skills : SkillsOfItems
    """

    kind = "tool"
    most = MAX_ITEMS

    def __init__(self, restore: RestoreItems[D], skills: SkillsOfItems[D]) -> None:
        self._restore = restore
        self._skills = skills

    def version(self, session: Session, org_id: str | None) -> str:
        items: str = session.run("version_of_items", org_id=org_id)[0][0]
        return f"{items}.{self._skills.version(session, org_id)}"

    def page(self, session: Session, where: Slice) -> list[ExportedRow]:
        rows = session.run("exported_items", **where.params)
        skills = self._skills.shown(session, [row[0] for row in rows]) if rows else {}
        return [ExportedRow(row[0], {**_line(row), _SKILLS: skills[row[0]]}) for row in rows]

    def write(self, lines: Sequence[Line], caller: Caller, *, dry_run: bool) -> SyncReport:
        return self._restore(lines, caller, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class RestoreItems(Generic[D]):
    """Writes items with what was decided on their skills, all at once, so that no classifier decides in between.

    Packaged requests are no part of a line.
    """

    writer: Writer
    servers: ServersOfItems
    skills: SkillsOfItems[D]
    known: KnownRequests = NOTHING_KNOWN
    trust: Trust = WARNED

    def __call__(self, items: Sequence[object], caller: Caller, *, dry_run: bool = False) -> SyncReport:
        """Write lines of items, `MAX_ITEMS` at most; see `write_many`."""
        database = self.writer.database
        of_items = ItemSteps(database, self.servers, caller, self.known, trust=self.trust)
        steps = _RestoreSteps(of_items, self.servers, caller, database, self.skills)
        kind = replace(ITEMS, noun="line", warnings=self._warnings)
        return write_many(self.writer, kind, items, steps, caller, dry_run=dry_run)

    def _warnings(self, raw: object) -> Sequence[FieldProblem]:
        found = [*ITEMS.warnings(_item_of(raw))]
        if isinstance(raw, Mapping):
            of_skills = self.skills.warnings(raw.get(_SKILLS))
            found += [replace(one, field=f"{_SKILLS}.{one.field}") for one in of_skills]
        return found[:MAX_WARNINGS]


@dataclass(slots=True)
class _Beside(Generic[D]):
    """The fields of a line other than its item; None where absent."""

    created_at: datetime | None = None
    is_switched_off: bool | None = None
    decided: D | None = None


@dataclass(frozen=True, slots=True)
class _Restored(AroundItem, Generic[D]):
    """A line as it was read."""

    beside: _Beside[D]


class _RestoreSteps(Generic[D]):
    def __init__(
        self,
        items: ItemSteps,
        servers: ServersOfItems,
        caller: Caller,
        database: Database,
        skills: SkillsOfItems[D],
    ) -> None:
        self._items = items
        self._servers = servers
        self._caller = caller
        self._database = database
        self._skills = skills

    def decode(self, index: int, raw: object) -> _Restored[D]:
        beside: _Beside[D] = _Beside()
        problems = list(self._read_beside(beside, raw)) if isinstance(raw, Mapping) else []
        return _Restored(together(problems, lambda: self._items.decode(index, _item_of(raw))), beside)

    def _read_beside(self, beside: _Beside[D], raw: Mapping[str, Any]) -> Iterator[FieldProblem]:
        """Read the fields of a line other than its item; yield their problems."""
        try:
            beside.created_at = moment(raw, _CREATED)
        except InvalidInput as error:
            yield from error.problems
        if (off := raw.get(_SWITCHED_OFF)) is not None:
            if isinstance(off, bool):
                beside.is_switched_off = off
            else:
                yield FieldProblem(_SWITCHED_OFF, "must be true or false")
        if raw.get(_SKILLS) is not None:
            try:
                beside.decided = self._skills.read(raw[_SKILLS])
            except InvalidInput as error:
                yield from error.moved(lambda field: f"{_SKILLS}.{field}").problems

    def diff(self, incoming: Sequence[_Restored[D]]) -> Diff[ItemOutcome]:
        said = [(thing, thing.beside.decided) for thing in incoming if thing.beside.decided is not None]
        decided = [one for _, one in said]
        problems = self._database.read(lambda session: self._skills.unknown(session, decided, self._caller))
        refused = {
            thing.index: ItemOutcome(
                thing.index, "failed", problems=(replace(found, field=f"{_SKILLS}.{found.field}"),), key=thing.key
            )
            for (thing, _), found in zip(said, problems, strict=True)
            if found is not None
        }
        diff = self._items.diff([thing.placed for thing in incoming if thing.index not in refused])
        # Whether its skills and its switch are the same shows in the transaction only.
        plain = {thing.index for thing in incoming if thing.beside.decided is thing.beside.is_switched_off is None}
        same = {index: outcome for index, outcome in diff.outcomes.items() if index in plain}
        return replace(diff, outcomes=same | refused)

    def store(self, session: Session, some: Sequence[_Restored[D]], vectors: Vectors) -> Stored[ItemOutcome]:
        org_id, names = self._caller.org_id, {thing.key.server for thing in some if thing.key.server}
        servers = self._servers.lock(session, org_id, list(names))
        reserved = self._reserve(session, [thing for thing in some if thing.key not in self._items.states.stored])
        switched = self._switch(session, some, self._servers.disabled(session, servers))
        stored = self._items.store(session, [thing.placed for thing in some], vectors)
        outcomes, decided = stored.outcomes, {}
        for thing in some:
            if (id_ := outcomes[thing.index].id) is not None and thing.beside.decided is not None:
                decided[id_] = thing.beside.decided
        changed = self._skills.write(session, decided, self._caller) if decided else set()
        for thing in some:
            outcome = outcomes[thing.index]
            if thing.key in reserved:
                outcomes[thing.index] = replace(outcome, status="created")
            elif outcome.status == "unchanged" and (outcome.id in changed or thing.key in switched):
                outcomes[thing.index] = replace(outcome, status="updated")
        derive = partial(self._servers.refresh, server_ids=servers) if switched else stored.derive
        return replace(stored, is_news=stored.is_news or bool(changed or switched), derive=derive)

    def _switch(self, session: Session, some: Sequence[_Restored[D]], disabled_servers: Iterable[str]) -> set[ItemKey]:
        """Switch items off, or no longer, as their lines say; return those that were otherwise."""
        rows = [
            {**thing.key._asdict(), "is_switched_off": thing.beside.is_switched_off}
            for thing in some
            if thing.beside.is_switched_off is not None
        ]
        if not rows:
            return set()
        switched = session.run(
            "restore_switches",
            org_id=self._caller.org_id,
            rows=json.dumps(rows),
            disabled_servers=sorted(disabled_servers),
        )
        return {ItemKey(*row) for row in switched}

    def _reserve(self, session: Session, new: Sequence[_Restored[D]]) -> set[ItemKey]:
        if not new:
            return set()
        rows = [
            {"place": thing.index, **thing.key._asdict(), "created_at": iso(thing.beside.created_at)}
            for thing in new
        ]  # fmt: skip
        reserved = session.run("reserve_items", org_id=self._caller.org_id, rows=json.dumps(rows))
        return {ItemKey(*row) for row in reserved}


def _item_of(raw: object) -> object:
    """Return what of a line is the item; what is no line is refused as such when it is read."""
    if not isinstance(raw, Mapping):
        return raw
    return {name: value for name, value in raw.items() if name not in {_SKILLS, _CREATED, _SWITCHED_OFF}}


def _line(row: Sequence[Any]) -> dict[str, Any]:
    (_, server, type_, name, description, input_schema, output_schema, annotations, tags, metadata,
     requests, is_switched_off, created_at) = row  # fmt: skip
    return {
        "server": server or None,
        "type": type_,
        "name": name,
        "description": description,
        "input_schema": input_schema,
        "output_schema": output_schema,
        "annotations": annotations,
        "tags": tags,
        "metadata": metadata,
        "requests": None if requests is None or are_packaged(to_requests(requests)) else requests,
        _SWITCHED_OFF: is_switched_off,
        _CREATED: shown_moment(created_at),
    }
