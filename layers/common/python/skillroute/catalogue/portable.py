"""Items as lines, and lines as items, with what another slice says of their skills (docs/adr/0052)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar, Unpack

from skillroute.catalogue.item_rows import to_requests
from skillroute.catalogue.known_requests import NOTHING_KNOWN, KnownRequests
from skillroute.catalogue.model import ItemKey, are_packaged
from skillroute.catalogue.rows import ItemWriter
from skillroute.catalogue.servers import ServersOfItems
from skillroute.catalogue.sync import MAX_ITEMS, ItemOutcome, ItemsDone, ItemsWriting, PlacedItem, SyncReport, SyncTools
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import JobOptions
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors.model import FieldProblem, InvalidInput
from skillroute.core.input.json_input import together
from skillroute.core.input.known_fields import MAX_WARNINGS
from skillroute.core.portable.model import ExportedRow, Line, Slice, iso, moment, shown_moment
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.deadline import Deadline

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
        """Return the fields that nobody knows of what a line says; `field` is relative to ``skills``."""
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


class RestoreItems(SyncTools, Generic[D]):
    """Writes items with what was decided on their skills, all at once, so that no classifier decides in between.

    Parameters
    ----------
    skills : SkillsOfItems
    known : KnownRequests
        See `ItemWriter`: packaged requests are no part of a line.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        servers: ServersOfItems,
        skills: SkillsOfItems[D],
        known: KnownRequests = NOTHING_KNOWN,
        **options: Unpack[JobOptions],
    ) -> None:
        super().__init__(database, embedder, servers, known, **options)
        self._skills = skills

    def __call__(self, items: Sequence[object], caller: Caller, *, dry_run: bool = False) -> SyncReport:
        """Write lines of items, `MAX_ITEMS` at most; see `BulkWrite`."""
        restoring = _Restoring(self._writer, self._servers, caller, self._database, self._skills)
        return self._carry_out(restoring, items, dry_run=dry_run)


class _Restoring(ItemsWriting, Generic[D]):
    noun = "line"

    def __init__(
        self,
        writer: ItemWriter,
        servers: ServersOfItems,
        caller: Caller,
        database: Database,
        skills: SkillsOfItems[D],
    ) -> None:
        super().__init__(writer, servers, caller)
        self._database = database
        self._skills = skills
        self._decided: dict[int, D] = {}
        self._created: dict[int, datetime | None] = {}
        self._switched_off: dict[int, bool] = {}
        self._refused: dict[int, FieldProblem] = {}
        self._has_news = False

    def warnings(self, raw: object) -> Sequence[FieldProblem]:
        found = [*super().warnings(_item_of(raw))]
        if isinstance(raw, Mapping):
            of_skills = self._skills.warnings(raw.get(_SKILLS))
            found += [replace(one, field=f"{_SKILLS}.{one.field}") for one in of_skills]
        return found[:MAX_WARNINGS]

    def read(self, index: int, raw: object) -> PlacedItem:
        problems = list(self._read_beside(index, raw)) if isinstance(raw, Mapping) else []
        return together(problems, lambda: super(_Restoring, self).read(index, _item_of(raw)))

    def _read_beside(self, index: int, raw: Mapping[str, Any]) -> Iterator[FieldProblem]:
        """Read what a line has beside its item; yield what is wrong with it."""
        try:
            self._created[index] = moment(raw, _CREATED)
        except InvalidInput as error:
            yield from error.problems
        if (off := raw.get(_SWITCHED_OFF)) is not None:
            if isinstance(off, bool):
                self._switched_off[index] = off
            else:
                yield FieldProblem(_SWITCHED_OFF, "must be true or false")
        if raw.get(_SKILLS) is not None:
            try:
                self._decided[index] = self._skills.read(raw[_SKILLS])
            except InvalidInput as error:
                yield from error.moved(lambda field: f"{_SKILLS}.{field}").problems

    def prepare(self, incoming: Sequence[PlacedItem], deadline: Deadline) -> bool:
        places = [thing.index for thing in incoming if thing.index in self._decided]
        decided = [self._decided[place] for place in places]
        problems = self._database.read(lambda session: self._skills.unknown(session, decided, self.caller))
        self._refused = {place: found for place, found in zip(places, problems, strict=True) if found is not None}
        return super().prepare([thing for thing in incoming if thing.index not in self._refused], deadline)

    def settled(self, thing: PlacedItem) -> ItemOutcome | None:
        if (problem := self._refused.get(thing.index)) is not None:
            moved = replace(problem, field=f"{_SKILLS}.{problem.field}")
            return self.failed(thing.index, InvalidInput.of([moved]), thing)
        # Whether its skills and its switch are the same shows in the transaction only.
        is_more = thing.index in self._decided or thing.index in self._switched_off
        return None if is_more else super().settled(thing)

    def store(self, session: Session, some: Sequence[PlacedItem]) -> ItemsDone:
        org_id, names = self.caller.org_id, {thing.key.server for thing in some if thing.key.server}
        servers = self._servers.lock(session, org_id, list(names))
        reserved = self._reserve(session, [thing for thing in some if thing.key not in self._states.stored])
        switched = self._switch(session, some, self._servers.disabled(session, servers))
        done = super().store(session, some)
        if switched:
            self._servers.refresh(session, servers)
        index_of = {outcome.id: index for index, outcome in done.outcomes.items() if outcome.id is not None}
        decided = {id_: self._decided[index] for id_, index in index_of.items() if index in self._decided}
        changed = self._skills.write(session, decided, self.caller) if decided else set()
        for thing in some:
            outcome = done.outcomes[thing.index]
            if thing.key in reserved:
                done.outcomes[thing.index] = replace(outcome, status="created")
            elif outcome.status == "unchanged" and (outcome.id in changed or thing.key in switched):
                done.outcomes[thing.index] = replace(outcome, status="updated")
        self._has_news = bool(changed or switched)
        return done

    def is_news(self, done: ItemsDone) -> bool:
        return self._has_news or super().is_news(done)

    def _switch(self, session: Session, some: Sequence[PlacedItem], disabled_servers: Iterable[str]) -> set[ItemKey]:
        """Switch items off, or no longer, as their lines say; return those that were otherwise."""
        rows = [
            {**thing.key._asdict(), "is_switched_off": self._switched_off[thing.index]}
            for thing in some
            if thing.index in self._switched_off
        ]
        if not rows:
            return set()
        switched = session.run(
            "restore_switches",
            org_id=self.caller.org_id,
            rows=json.dumps(rows),
            disabled_servers=sorted(disabled_servers),
        )
        return {ItemKey(*row) for row in switched}

    def _reserve(self, session: Session, new: Sequence[PlacedItem]) -> set[ItemKey]:
        if not new:
            return set()
        rows = [
            {"place": thing.index, **thing.key._asdict(), "created_at": iso(self._created[thing.index])}
            for thing in new
        ]  # fmt: skip
        reserved = session.run("reserve_items", org_id=self.caller.org_id, rows=json.dumps(rows))
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
