"""Skills as lines, and lines as skills (docs/adr/0052)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar

from skillroute.core.bulk.outcomes import Report
from skillroute.core.bulk.writing import Done
from skillroute.core.caller import Caller
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors.model import InvalidInput
from skillroute.core.observability import Metric
from skillroute.core.portable.model import ExportedRow, Line, Slice, iso, moment, shown_moment
from skillroute.core.postgres.database import Database, Session
from skillroute.skills.repository import SkillRepository
from skillroute.skills.sync import MAX_SKILLS_OF_CALL, PlacedSkill, SkillOutcome, SkillsWriting, SyncSkills


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


class RestoreSkills(SyncSkills):
    """Writes skills of lines: created, or written over."""

    def __call__(self, skills: Sequence[object], caller: Caller, *, dry_run: bool = False) -> Report[SkillOutcome]:
        """Write lines of skills, `MAX_SKILLS_OF_CALL` at most; see `BulkWrite`."""
        return self._carry_out(_Restoring(self._database, self._embedder, caller), skills, dry_run=dry_run)


class _Restoring(SkillsWriting):
    noun = "line"
    metrics: ClassVar = (Metric.SKILL_LINES_WRITTEN, Metric.SKILL_LINES_FAILED)

    def __init__(self, database: Database, embedder: Embedder, caller: Caller) -> None:
        super().__init__(database, embedder, caller)
        self._created: dict[int, datetime | None] = {}

    def read(self, index: int, raw: object) -> PlacedSkill:
        if not isinstance(raw, Mapping):
            raise InvalidInput("line", "must be an object")
        self._created[index] = moment(raw, "created_at")
        return super().read(index, raw)

    def store(self, session: Session, some: Sequence[PlacedSkill]) -> Done[SkillOutcome]:
        skills = SkillRepository(session)
        skills.lock_skills_of(self.caller.org_id)
        # An import whose answer was lost is sent again, perhaps while the first one is still at it.
        self._stored = skills.some([thing.new.id for thing in some], self.caller.org_id)
        settled = {thing.index: outcome for thing in some if (outcome := self.settled(thing)) is not None}
        done = super().store(session, [thing for thing in some if thing.index not in settled])
        done.outcomes |= settled
        created = [
            {"key": thing.new.key, "created_at": iso(self._created[thing.index])}
            for thing in some
            if done.outcomes[thing.index].status == "created" and self._created[thing.index] is not None
        ]
        session.run("set_skill_created", rows=json.dumps(created))
        return done

    def is_news(self, done: Done[SkillOutcome]) -> bool:
        return any(outcome.status in {"created", "updated"} for outcome in done.outcomes.values())


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
