"""Skills as lines, and lines as skills (docs/adr/0052)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from skillroute.core.bulk_write import BulkWrite, Done, Writing
from skillroute.core.caller import Caller
from skillroute.core.deadline import Deadline
from skillroute.core.documents.embed import Embedded, embed_within
from skillroute.core.documents.texts import IndexedText
from skillroute.core.embedding.model import Vector
from skillroute.core.embedding.port import Embedder
from skillroute.core.embedding.views import Refusal
from skillroute.core.error_codes import ErrorCode
from skillroute.core.errors import Conflict, InvalidInput
from skillroute.core.json_input import check_json, validated
from skillroute.core.observability import Metric
from skillroute.core.outcomes import Outcome, Report, Status
from skillroute.core.portable.model import ExportedRow, Line, Slice, iso, moment, shown_moment
from skillroute.core.postgres.database import Database, Session
from skillroute.skills.create import indexed_text
from skillroute.skills.model import MAX_SKILLS, IdentifiedSkill, NewSkill, Skill
from skillroute.skills.repository import SkillRepository

MOST_LINES = 100


class SkillLine(IdentifiedSkill):
    """A skill as a line has it."""

    is_active: bool = True

    def skill(self, org_id: str | None) -> NewSkill:
        """Return the skill of an organisation."""
        return NewSkill(**self.model_dump(exclude={"is_active"}), org_id=org_id)


class PortableSkills:
    """Lines of kind `skill`."""

    kind = "skill"
    most = MOST_LINES

    def __init__(self, restore: RestoreSkills) -> None:
        self._restore = restore

    def version(self, session: Session, org_id: str | None) -> str:
        found: str = session.run("version_of_skills", org_id=org_id)[0][0]
        return found

    def page(self, session: Session, where: Slice) -> list[ExportedRow]:
        rows = session.run("exported_skills", org_id=where.org_id, after=where.after, limit=where.limit)
        return [ExportedRow(row[0], _line(row)) for row in rows]

    def write(self, lines: Sequence[Line], caller: Caller) -> Report[Outcome]:
        return self._restore(lines, caller)


class RestoreSkills(BulkWrite):
    """Writes skills of lines: created, or written over."""

    def __call__(self, lines: Sequence[object], caller: Caller) -> Report[Outcome]:
        """Write lines of skills, `MOST_LINES` at most; see `BulkWrite`. Raises `Conflict` for too many skills."""
        return self._carry_out(_Skills(self._database, self._embedder, caller), lines)


@dataclass(frozen=True, slots=True)
class _Incoming:
    index: int
    skill: NewSkill
    text: IndexedText
    is_active: bool
    created_at: datetime | None

    @property
    def key(self) -> str:
        return self.skill.id


class _Skills(Writing[_Incoming, Done[Outcome], Outcome]):
    noun = "line"
    most = MOST_LINES
    identity = ("id", "id")
    outcome_type = Outcome
    metrics: ClassVar = (Metric.SKILL_LINES_WRITTEN, Metric.SKILL_LINES_FAILED)

    def __init__(self, database: Database, embedder: Embedder, caller: Caller) -> None:
        self.caller = caller
        self._database = database
        self._embedder = embedder
        self._seen: dict[str, Skill] = {}
        self._vectors: dict[str, Vector | Refusal] = {}

    def read(self, index: int, raw: object) -> _Incoming:
        if not isinstance(raw, Mapping):
            raise InvalidInput("line", "must be an object")
        check_json(raw, whole="line")
        created_at = moment(raw, "created_at")
        fields = {name: value for name, value in raw.items() if name != "created_at"}
        line = validated(SkillLine, fields, whole="line")
        skill = line.skill(self.caller.org_id)
        return _Incoming(index, skill, indexed_text(skill), line.is_active, created_at)

    def named(self, thing: _Incoming) -> Mapping[str, object]:
        return {}

    def prepare(self, incoming: Sequence[_Incoming], deadline: Deadline) -> bool:
        self._seen = self._database.read(lambda session: _seen(session, incoming, self.caller))
        new = [thing for thing in incoming if self._is_new_text(thing)]
        made = embed_within(self._embedder, [thing.text.embedding_texts for thing in new], deadline, what="skills")
        self._vectors = {thing.skill.id: vector for thing, vector in zip(new, made, strict=False)}
        return len(made) == len(new)

    def settled(self, thing: _Incoming) -> Outcome | None:
        seen = self._seen.get(thing.skill.id)
        if seen is None or seen.org_id == self.caller.org_id:
            return None
        reason = "is that of a global skill, which every organisation sees: choose another"
        return self.failed(thing.index, InvalidInput("id", reason), thing)

    def store(self, session: Session, some: Sequence[_Incoming]) -> Done[Outcome]:
        SkillRepository(session).lock_skills_of(self.caller.org_id)
        now = _seen(session, some, self.caller)
        new = [thing for thing in some if thing.skill.id not in now]
        if SkillRepository(session).count_of(self.caller.org_id) + len(new) > MAX_SKILLS:
            raise Conflict(f"{MAX_SKILLS} skills are allowed, and these are more", ErrorCode.TOO_MANY_SKILLS)
        done: Done[Outcome] = Done()
        for thing in some:
            done.outcomes[thing.index] = Outcome(thing.index, self._store(session, thing, now.get(thing.skill.id)))
        created = [{"key": thing.skill.key, "created_at": iso(thing.created_at)} for thing in new if thing.created_at]
        session.run("set_skill_created", rows=json.dumps(created))
        return done

    def is_news(self, done: Done[Outcome]) -> bool:
        return any(outcome.status != "unchanged" for outcome in done.outcomes.values())

    def embed_committed(self, done: Done[Outcome], deadline: Deadline | None) -> tuple[Embedded, Embedded]:
        return Embedded(), Embedded()  # a text that was written meanwhile is left to the relay

    def _store(self, session: Session, thing: _Incoming, now: Skill | None) -> Status:
        vector = self._vectors.get(thing.skill.id)
        model = None if vector is None else self._embedder.model
        if now is None:
            SkillRepository(session).create(thing.skill, thing.text, model, vector, is_active=thing.is_active)
            return "created"
        if _fields(now) == (thing.skill.model_dump(exclude={"org_id"}), thing.is_active) and vector is None:
            return "unchanged"
        SkillRepository(session).change(
            thing.skill, thing.text, model, vector, is_active=thing.is_active, seen=now.updated_at
        )
        return "updated"

    def _is_new_text(self, thing: _Incoming) -> bool:
        seen = self._seen.get(thing.skill.id)
        if seen is None:
            return True
        same = (seen.name, seen.description) == (thing.skill.name, thing.skill.description)
        return seen.org_id == self.caller.org_id and not (same and (seen.is_embedded or seen.is_refused))


def _seen(session: Session, incoming: Sequence[_Incoming], caller: Caller) -> dict[str, Skill]:
    """Return the skills that the caller sees by the ids of lines."""
    found = (SkillRepository(session).get(thing.skill.id, caller.org_id) for thing in incoming)
    return {skill.id: skill for skill in found if skill is not None}


def _fields(skill: Skill) -> tuple[dict[str, Any], bool]:
    fields = {
        "id": skill.id,
        "name": skill.name,
        "description": skill.description,
        "keywords": skill.keywords,
        "examples": skill.examples,
        "parent_domain": skill.parent_domain,
    }
    return fields, skill.is_active


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
