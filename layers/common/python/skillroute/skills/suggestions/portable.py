"""Suggestions as lines, decided or not, and lines as suggestions (docs/adr/0052)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from skillroute.catalogue.model import ItemKey
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.bulk.outcomes import Outcome, Report
from skillroute.core.bulk.write import Diff, Kind, Stored, Vectors, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.json_input import examined_json, together, validated
from skillroute.core.input.known_fields import MAX_WARNINGS
from skillroute.core.observability import Metric
from skillroute.core.portable.model import ExportedRow, Line, Slice, iso, shown_moment
from skillroute.core.postgres.database import Database, Session
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.model import id_in_key
from skillroute.skills.portable_lines import SuggestionLine, suggestion_warnings
from skillroute.skills.suggestions.model import SuggestionKind, SuggestionStatus

MAX_LINES = 100


class PortableSuggestions:
    """Lines of kind `suggestion`."""

    kind = "suggestion"
    most = MAX_LINES

    def __init__(self, restore: RestoreSuggestions) -> None:
        self._restore = restore

    def version(self, session: Session, org_id: str | None) -> str:
        found: str = session.run("version_of_suggestions", org_id=org_id)[0][0]
        return found

    def page(self, session: Session, where: Slice) -> list[ExportedRow]:
        rows = session.run("exported_suggestions", org_id=where.org_id, after=where.after, limit=where.limit)
        return [ExportedRow(row[0], _line(row)) for row in rows]

    def write(self, lines: Sequence[Line], caller: Caller, *, dry_run: bool) -> Report[Outcome]:
        return self._restore(lines, caller, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class RestoreSuggestions:
    """Writes suggestions of lines, as they were decided."""

    writer: Writer

    def __call__(self, lines: Sequence[object], caller: Caller, *, dry_run: bool) -> Report[Outcome]:
        """Write lines of suggestions, `MAX_LINES` at most; see `write_many`."""
        return write_many(self.writer, _LINES, lines, _Steps(self.writer.database, caller), caller, dry_run=dry_run)


_LINES = Kind(
    noun="line",
    most=MAX_LINES,
    identity=("created_at", "moment, name, tool and occurrence"),
    outcome=Outcome,
    metrics=(Metric.SKILL_LINES_WRITTEN, Metric.SKILL_LINES_FAILED),
    texts="suggestions",
    warnings=lambda raw: list(islice(suggestion_warnings(raw), MAX_WARNINGS)),
)


class _Key(NamedTuple):
    kind: SuggestionKind
    name: str
    tool: ItemKey | str | None
    skill_id: str | None
    created_at: datetime
    occurrence: int


@dataclass(frozen=True, slots=True)
class _Incoming:
    index: int
    line: SuggestionLine

    @property
    def key(self) -> _Key:
        line = self.line
        return _Key(line.suggestion, line.name, self._tool, line.skill_id, line.created_at, line.occurrence)

    @property
    def names(self) -> dict[str, object]:
        return {}

    @property
    def _tool(self) -> ItemKey | str | None:
        return self.line.tool.key if self.line.tool is not None else self.line.tool_name

    @property
    def tool_name(self) -> str | None:
        return self.line.tool.name if self.line.tool is not None else self.line.tool_name


@dataclass(frozen=True, slots=True)
class _Known:
    """The rows that lines name, where they exist."""

    tools: Mapping[ItemKey, int]
    skills: Mapping[str, str]
    with_skills: frozenset[int]


class _Steps:
    def __init__(self, database: Database, caller: Caller) -> None:
        self._caller = caller
        self._database = database
        self._known = _Known({}, {}, frozenset())

    def decode(self, index: int, raw: object) -> _Incoming:
        _, problems = examined_json(raw, whole="line")
        return _Incoming(index, together(problems, lambda: validated(SuggestionLine, raw, whole="line")))

    def diff(self, incoming: Sequence[_Incoming]) -> Diff[Outcome]:
        self._known = self._database.read(lambda session: _known(session, incoming, self._caller))
        problems = {thing.index: _problem(thing.line, self._known) for thing in incoming}
        return Diff(
            {
                index: Outcome(index, "failed", problems=(found,))
                for index, found in problems.items()
                if found is not None
            }
        )

    def store(self, session: Session, some: Sequence[_Incoming], vectors: Vectors) -> Stored[Outcome]:
        rows = {thing.index: _row(thing, self._known) for thing in some}
        stored = {
            place: _Stored(id_, _comparable(dict(zip(_FIELDS, fields, strict=True))))
            for place, id_, *fields in session.run(
                "stored_suggestions", org_id=self._caller.org_id, rows=json.dumps(list(rows.values()))
            )
        }
        new = [row for place, row in rows.items() if place not in stored]
        old = [
            {**row, "id": stored[place].id}
            for place, row in rows.items()
            if place in stored and stored[place].fields != _comparable(row)
        ]
        session.run("restore_old_suggestions", rows=json.dumps(old))
        session.run("restore_new_suggestions", org_id=self._caller.org_id, rows=json.dumps(new))
        outcomes = {}
        updated = {row["place"] for row in old}
        for place in rows:
            known = place in stored
            status = "updated" if place in updated else "unchanged" if known else "created"
            outcomes[place] = Outcome(place, status)  # type: ignore[arg-type]
        return Stored(outcomes)  # nothing of a suggestion is searched, and no queue waits for one


class _Stored(NamedTuple):
    id: int
    fields: dict[str, Any]


_FIELDS = (
    "kind", "name", "description", "source_tool_id", "source_tool_name", "target_skill_key", "reasoning", "source",
    "status", "resolved_skill_key", "reviewed_by", "review_reason", "created_at", "reviewed_at",
)  # fmt: skip


def _known(session: Session, incoming: Sequence[_Incoming], caller: Caller) -> _Known:
    tools = [thing.line.tool.key for thing in incoming if thing.line.tool is not None]
    ids = {key: state.id for key, state in ItemRepository(session).states(caller.org_id, tools).items()}
    named = {id_ for thing in incoming for id_ in (thing.line.skill_id, thing.line.resolved_skill_id) if id_}
    skills = AssignmentRepository(session).keys_of_skills(named, caller.org_id)
    decided = session.run("decisions_on_items", ids=sorted(ids.values()))
    return _Known(ids, skills, frozenset(row[0] for row in decided if row[-1]))


def _problem(line: SuggestionLine, known: _Known) -> FieldProblem | None:
    """Return what keeps a line from being stored."""
    for field, skill_id in (("skill_id", line.skill_id), ("resolved_skill_id", line.resolved_skill_id)):
        if skill_id is not None and skill_id not in known.skills:
            return FieldProblem(field, f"there is no skill {skill_id}")
    if line.tool is None:
        return None
    tool_id = known.tools.get(line.tool.key)
    if tool_id is None:
        return FieldProblem("tool", f"there is no {line.tool.type} {line.tool.name} of your own: import it first")
    if line.status is SuggestionStatus.PENDING and tool_id in known.with_skills:
        return FieldProblem("status", "must not be pending: the tool has skills already")
    return None


def _row(thing: _Incoming, known: _Known) -> dict[str, Any]:
    line = thing.line
    return {
        "place": thing.index,
        "kind": line.suggestion.value,
        "name": line.name,
        "description": line.description,
        "source_tool_id": None if line.tool is None else known.tools[line.tool.key],
        "source_tool_name": thing.tool_name,
        "target_skill_key": None if line.skill_id is None else known.skills[line.skill_id],
        "reasoning": line.reasoning,
        "source": line.source.value,
        "status": line.status.value,
        "resolved_skill_key": None if line.resolved_skill_id is None else known.skills[line.resolved_skill_id],
        "reviewed_by": line.reviewed_by,
        "review_reason": line.review_reason,
        "created_at": iso(line.created_at),
        "occurrence": line.occurrence,
        "reviewed_at": iso(line.reviewed_at),
    }


def _comparable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a row is compared, with times as times: a text of one may name any zone."""
    times = {field: row[field] for field in ("created_at", "reviewed_at")}
    read = {field: datetime.fromisoformat(at) if isinstance(at, str) else at for field, at in times.items()}
    return {**{field: row[field] for field in _FIELDS}, **read}


def _line(row: Sequence[Any]) -> dict[str, Any]:
    (_, kind, name, description, server, type_, tool, tool_name, target, occurrence, reasoning, source, status,
     resolved, reviewed_by, review_reason, created_at, reviewed_at) = row  # fmt: skip
    return {
        "suggestion": kind,
        "name": name,
        "description": description,
        "tool": None if tool is None else {"server": server or None, "type": type_, "name": tool},
        "tool_name": tool_name,
        "skill_id": None if target is None else id_in_key(target),
        "reasoning": reasoning,
        "source": source,
        "status": status,
        "resolved_skill_id": None if resolved is None else id_in_key(resolved),
        "reviewed_by": reviewed_by,
        "review_reason": review_reason,
        "created_at": shown_moment(created_at),
        "occurrence": occurrence,
        "reviewed_at": shown_moment(reviewed_at),
    }
