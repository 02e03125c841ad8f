"""Writing Agent Skills: skill by skill, unchanged ones left alone, only pieces whose text is new embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillroute.agent_skills.collection import AGENT_SKILL_DOCUMENTS
from skillroute.agent_skills.repository import AgentSkillRepository, AgentSkillRow, AgentSkillState
from skillroute.agent_skills.schemas import AGENT_SKILL_FIELDS, AgentSkillGiven, read_agent_skill
from skillroute.agent_skills.text import indexed_text
from skillroute.core.bulk.outcomes import Outcome, Report, Status
from skillroute.core.bulk.write import Diff, Kind, Stored, Vectors, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Waiting
from skillroute.core.hashing import content_hash
from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Database, Session

MAX_AGENT_SKILLS = 100
"""Agent Skills of one call."""


@dataclass(frozen=True, slots=True)
class AgentSkillOutcome(Outcome):
    """The outcome of one Agent Skill of a call; `path` is None when it could not be read."""

    path: str | None = None


AgentSkillReport = Report[AgentSkillOutcome]

AGENT_SKILLS = Kind(
    noun="agent skill",
    most=MAX_AGENT_SKILLS,
    identity=("path", "path"),
    outcome=AgentSkillOutcome,
    metrics=(Metric.AGENT_SKILLS_WRITTEN, Metric.AGENT_SKILLS_FAILED),
    texts="agent_skills",
    warnings=AGENT_SKILL_FIELDS.warnings,
)


@dataclass(frozen=True, slots=True)
class IncomingAgentSkill:
    """An Agent Skill as it was read, and its place in the call."""

    index: int
    given: AgentSkillGiven
    content_hash: str

    @property
    def key(self) -> str:
        return self.given.content.path

    @property
    def names(self) -> dict[str, object]:
        return {"path": self.key}

    @property
    def row(self) -> AgentSkillRow:
        """The part of it that is stored."""
        return AgentSkillRow(self.given.content, self.given.description, self.content_hash, self.given.pieces)

    def new_texts(self, state: AgentSkillState | None) -> dict[str, Sequence[str]]:
        """Return the texts that are not stored yet, by their hashes."""
        if state is not None and state.content_hash == self.content_hash:
            return {}
        stored = set(state.text_hashes) if state else set()
        texts = (indexed_text(self.given.content.name, piece) for piece in self.given.pieces)
        return {text.hash: text.embedding_texts for text in texts if text.hash not in stored}


@dataclass(frozen=True, slots=True)
class SyncAgentSkills:
    """`PUT /api/v1/agent-skills`."""

    writer: Writer

    def __call__(self, skills: Sequence[object], caller: Caller, *, dry_run: bool = False) -> AgentSkillReport:
        """Create or change Agent Skills of the caller's organisation, `MAX_AGENT_SKILLS` at most; see `write_many`."""
        steps = AgentSkillSteps(self.writer.database, caller)
        return write_many(self.writer, AGENT_SKILLS, skills, steps, caller, dry_run=dry_run)


class AgentSkillSteps:
    """Writes Agent Skills."""

    def __init__(self, database: Database, caller: Caller) -> None:
        self._database = database
        self._caller = caller

    def decode(self, index: int, raw: object) -> IncomingAgentSkill:
        given = read_agent_skill(raw)
        return IncomingAgentSkill(index, given, content_hash(given.content))

    def diff(self, incoming: Sequence[IncomingAgentSkill]) -> Diff[AgentSkillOutcome]:
        if not incoming:
            return Diff({})
        paths = [skill.key for skill in incoming]
        states = self._database.read(lambda session: AgentSkillRepository(session).states(self._caller.org_id, paths))
        texts: dict[str, Sequence[str]] = {}
        for skill in incoming:
            texts |= skill.new_texts(states.get(skill.key))
        return Diff({}, texts)

    def store(
        self, session: Session, some: Sequence[IncomingAgentSkill], vectors: Vectors
    ) -> Stored[AgentSkillOutcome]:
        repository = AgentSkillRepository(session)
        ids, written = repository.upsert(self._caller.org_id, [skill.row for skill in some])
        if changed := {ids[skill.key]: skill.row for skill in some if skill.key in written}:
            repository.set_pieces(changed, vectors.model, vectors.by_key)
        outcomes = {
            skill.index: AgentSkillOutcome(
                skill.index, _status(written.get(skill.key)), ids[skill.key], warnings=skill.given.warnings,
                path=skill.key,
            )
            for skill in some
        }  # fmt: skip
        # Those of unchanged skills may still wait for a vector, too.
        pieces = sorted(piece.id for piece in repository.pieces(list(ids.values())))
        # The ids of pieces are not those of the outcomes.
        waiting = Waiting(AGENT_SKILL_DOCUMENTS, pieces, "agent_skills", is_own=False)
        return Stored(outcomes, bool(written), [waiting])


def _status(is_created: bool | None) -> Status:
    if is_created is None:
        return "unchanged"
    return "created" if is_created else "updated"
