"""Agent Skills as lines, and lines as Agent Skills (docs/adr/0052): all files are in the line, as base64."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillroute.agent_skills.sync import (
    AGENT_SKILLS,
    MAX_AGENT_SKILLS,
    AgentSkillOutcome,
    AgentSkillReport,
    AgentSkillSteps,
    IncomingAgentSkill,
)
from skillroute.core.bulk.write import Diff, Stored, Vectors, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.errors.model import InvalidInput
from skillroute.core.portable.model import ExportedRow, Line, Slice
from skillroute.core.postgres.database import Session


class PortableAgentSkills:
    """Lines of kind `agent_skill`."""

    kind = "agent_skill"
    most = MAX_AGENT_SKILLS

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def version(self, session: Session, org_id: str | None) -> str:
        found: str = session.run("version_of_agent_skills", org_id=org_id)[0][0]
        return found

    def page(self, session: Session, where: Slice) -> list[ExportedRow]:
        return [
            ExportedRow(id_, {"path": path, "frontmatter": frontmatter, "is_active": is_active, "files": files})
            for id_, path, frontmatter, is_active, files in session.run("exported_agent_skills", **where.params)
        ]

    def write(self, lines: Sequence[Line], caller: Caller, *, dry_run: bool) -> AgentSkillReport:
        steps = _RestoreSteps(AgentSkillSteps(self._writer.database, caller))
        kind = replace(AGENT_SKILLS, noun="line")
        return write_many(self._writer, kind, lines, steps, caller, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class _Line:
    """An Agent Skill of a line; `is_active` is None where the line has none, which leaves it as it is."""

    skill: IncomingAgentSkill
    is_active: bool | None

    @property
    def index(self) -> int:
        return self.skill.index

    @property
    def key(self) -> str:
        return self.skill.key

    @property
    def names(self) -> dict[str, object]:
        return self.skill.names


class _RestoreSteps:
    def __init__(self, steps: AgentSkillSteps) -> None:
        self._steps = steps

    def decode(self, index: int, raw: object) -> _Line:
        is_active = raw.get("is_active") if isinstance(raw, Mapping) else None
        if is_active is not None and not isinstance(is_active, bool):
            raise InvalidInput("is_active", "must be true or false")
        return _Line(self._steps.decode(index, raw), is_active)

    def diff(self, incoming: Sequence[_Line]) -> Diff[AgentSkillOutcome]:
        return self._steps.diff([line.skill for line in incoming])

    def store(self, session: Session, some: Sequence[_Line], vectors: Vectors) -> Stored[AgentSkillOutcome]:
        stored = self._steps.store(session, [line.skill for line in some], vectors)
        rows = [
            {"id": stored.outcomes[line.index].id, "is_active": line.is_active}
            for line in some
            if line.is_active is not None
        ]
        if rows:
            switched = {row[0] for row in session.run("restore_agent_skill_switches", rows=json.dumps(rows))}
            for index, outcome in stored.outcomes.items():
                if outcome.status == "unchanged" and outcome.id in switched:
                    stored.outcomes[index] = replace(outcome, status="updated")
            stored.is_news = stored.is_news or bool(switched)
        return stored
