"""Skills as lines, and lines as skills (docs/adr/0052)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from skillroute.core.bulk.outcomes import Report
from skillroute.core.bulk.write import Diff, Stored, Vectors, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.observability import Metric
from skillroute.core.portable.model import ExportedRow, Line, Slice, iso, moment, shown_moment
from skillroute.core.postgres.database import Session
from skillroute.skills.repository import SkillRepository
from skillroute.skills.sync import MAX_SKILLS_OF_CALL, SKILLS, PlacedSkill, SkillOutcome, SkillSteps


class PortableSkills:
    """Lines of kind `skill`."""

    kind = "skill"
    most = MAX_SKILLS_OF_CALL

    def __init__(self, restore: RestoreSkills) -> None:
        self._restore = restore

    def version(self, session: Session, org_id: str | None) -> str:
        found: str = session.run("version_of_skills", org_id=org_id)[0][0]
        return found

    def page(self, session: Session, where: Slice) -> list[ExportedRow]:
        rows = session.run("exported_skills", org_id=where.org_id, after=where.after, limit=where.limit)
        return [ExportedRow(row[0], _line(row)) for row in rows]

    def write(self, lines: Sequence[Line], caller: Caller, *, dry_run: bool) -> Report[SkillOutcome]:
        return self._restore(lines, caller, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class RestoreSkills:
    """Writes skills of lines: created, or written over."""

    writer: Writer

    def __call__(self, skills: Sequence[object], caller: Caller, *, dry_run: bool = False) -> Report[SkillOutcome]:
        """Write lines of skills, `MAX_SKILLS_OF_CALL` at most; see `write_many`."""
        steps = _RestoreSteps(SkillSteps(self.writer.database, caller), caller)
        return write_many(self.writer, _LINES, skills, steps, caller, dry_run=dry_run)


_LINES = replace(SKILLS, noun="line", metrics=(Metric.SKILL_LINES_WRITTEN, Metric.SKILL_LINES_FAILED))


class _RestoreSteps:
    def __init__(self, skills: SkillSteps, caller: Caller) -> None:
        self._skills = skills
        self._caller = caller
        self._created: dict[int, datetime | None] = {}

    def decode(self, index: int, raw: object) -> PlacedSkill:
        if not isinstance(raw, Mapping):
            raise InvalidInput("line", "must be an object")
        self._created[index] = moment(raw, "created_at")
        return self._skills.decode(index, raw)

    def diff(self, incoming: Sequence[PlacedSkill]) -> Diff[SkillOutcome]:
        return self._skills.diff(incoming)

    def store(self, session: Session, some: Sequence[PlacedSkill], vectors: Vectors) -> Stored[SkillOutcome]:
        skills = SkillRepository(session)
        skills.lock_skills_of(self._caller.org_id)
        # An import whose answer was lost is sent again, perhaps while the first one is still at it.
        self._skills.before = skills.some([thing.new.id for thing in some], self._caller.org_id)
        settled = self._skills.settled(some)
        stored = self._skills.store(session, [thing for thing in some if thing.index not in settled], vectors)
        outcomes = stored.outcomes | settled
        created = [
            {"key": thing.new.key, "created_at": iso(self._created[thing.index])}
            for thing in some
            if outcomes[thing.index].status == "created" and self._created[thing.index] is not None
        ]
        session.run("set_skill_created", rows=json.dumps(created))
        return replace(stored, outcomes=outcomes)


def _line(row: Sequence[Any]) -> dict[str, Any]:
    _, id_, name, description, keywords, examples, parent_domain, is_active, created_at = row
    return {
        "id": id_,
        "name": name,
        "description": description,
        "keywords": keywords,
        "examples": examples,
        "parent_domain": parent_domain,
        "is_active": is_active,
        "created_at": shown_moment(created_at),
    }
