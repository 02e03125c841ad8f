"""Writing many skills in one call: each is judged on its own, unchanged ones are left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillroute.core.access import own
from skillroute.core.bulk.outcomes import Outcome, Report
from skillroute.core.bulk.write import Diff, Kind, Stored, Vectors, Writer, write_many
from skillroute.core.caller import Caller
from skillroute.core.embedding.views import Refusal
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, Forbidden, InvalidInput
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.json_input import examined_json, together, validated
from skillroute.core.input.known_fields import KnownFields, of_another
from skillroute.core.input.near_names import names_of
from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Database, Session
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.create import PreparedSkill, indexed_text, store
from skillroute.skills.model import IdentifiedSkill, NewSkill, Skill, SkillFields
from skillroute.skills.repository import SkillRepository

MAX_SKILLS_OF_CALL = 100
"""Skills of one call."""

SKILL_FIELDS = KnownFields(
    taken=names_of(IdentifiedSkill) | {"is_active"},
    shown=frozenset(["org_id", "tool_count", "is_embedded", "refusal", "created_at", "updated_at"]),
    keeps_others=False,
)


@dataclass(frozen=True, slots=True)
class SkillOutcome(Outcome):
    """The outcome of one skill of a call; `skill_id` is None when it could not be read."""

    skill_id: str | None = None


SKILLS = Kind(
    noun="skill",
    most=MAX_SKILLS_OF_CALL,
    identity=("id", "id"),
    outcome=SkillOutcome,
    metrics=(Metric.SKILLS_WRITTEN, Metric.SKILLS_FAILED),
    texts="skills",
    warnings=SKILL_FIELDS.warnings,
)


@dataclass(frozen=True, slots=True)
class SyncSkills:
    """`PUT /api/v1/skills`."""

    writer: Writer

    def __call__(self, skills: Sequence[object], caller: Caller, *, dry_run: bool = False) -> Report[SkillOutcome]:
        """Create skills of the caller's organisation, or write them over whole; see `write_many`.

        Without `is_active` the state of a skill that is there stays, and a new one is active.
        """
        steps = SkillSteps(self.writer.database, caller)
        return write_many(self.writer, SKILLS, skills, steps, caller, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class PlacedSkill:
    """A skill as it was read, and its place in the call."""

    index: int
    new: NewSkill
    is_active: bool | None

    @property
    def key(self) -> str:
        return self.new.id

    @property
    def names(self) -> dict[str, object]:
        return {"skill_id": self.new.id}

    def says(self, skill: Skill) -> bool:
        """Return whether this is what a skill says already."""
        same = all(getattr(self.new, name) == getattr(skill, name) for name in SkillFields.model_fields)
        return same and self.is_active in {None, skill.is_active}


class SkillSteps:
    """Writes skills."""

    def __init__(self, database: Database, caller: Caller) -> None:
        self._database = database
        self._caller = caller
        self.before: Mapping[str, Skill] = {}

    def decode(self, index: int, raw: object) -> PlacedSkill:
        if not isinstance(raw, Mapping):
            raise InvalidInput("skill", "must be an object")
        given = {name: value for name, value in raw.items() if name in SKILL_FIELDS.taken}
        _, problems = examined_json(given, whole="skill")
        if raw.get("org_id", self._caller.org_id) != self._caller.org_id:
            problems.append(of_another(raw["org_id"]))
        is_active = given.pop("is_active", None)
        if is_active is not None and not isinstance(is_active, bool):
            problems.append(FieldProblem("is_active", "must be true or false"))
        identified = together(problems, lambda: validated(IdentifiedSkill, given, whole="skill"))
        new = NewSkill(**identified.model_dump(), org_id=self._caller.org_id)
        return PlacedSkill(index, new, is_active)

    def diff(self, incoming: Sequence[PlacedSkill]) -> Diff[SkillOutcome]:
        ids = [thing.new.id for thing in incoming]
        self.before = self._database.read(lambda session: SkillRepository(session).some(ids, self._caller.org_id))
        texts = {
            thing.new.id: indexed_text(thing.new).embedding_texts
            for thing in incoming
            if self._says_something_else(thing.new)
        }
        return Diff(self.settled(incoming), texts)

    def _says_something_else(self, new: NewSkill) -> bool:
        before = self.before.get(new.id)
        if before is not None and before.org_id != new.org_id:
            return False  # it is refused
        return before is None or (before.name, before.description) != (new.name, new.description)

    def settled(self, things: Sequence[PlacedSkill]) -> dict[int, SkillOutcome]:
        """Return the outcomes of those that are the same as `before`, or not the caller's."""
        outcomes = {}
        for thing in things:
            if (before := self.before.get(thing.new.id)) is None:
                continue
            try:
                own(before, self._caller, "skill", thing.new.id)
            except Forbidden as error:
                outcomes[thing.index] = _refused(thing, error)
                continue
            if thing.says(before):
                outcomes[thing.index] = SkillOutcome(
                    thing.index, "unchanged", skill_id=thing.new.id, is_refused=before.is_refused
                )
        return outcomes

    def store(self, session: Session, some: Sequence[PlacedSkill], vectors: Vectors) -> Stored[SkillOutcome]:
        in_order = sorted(some, key=lambda thing: thing.new.id)
        if any(thing.new.id not in self.before for thing in in_order):
            SkillRepository(session).lock_skills_of(self._caller.org_id)  # before any skill is, as deleting does
        for thing in in_order:
            before = self.before.get(thing.new.id)
            if before is not None and thing.is_active not in {None, before.is_active}:
                # All of them first, in the order in which assigning locks them: nobody waits in a circle.
                AssignmentRepository(session).lock_all_memberships(thing.new.key)
        outcomes = {thing.index: self._written(session, thing, vectors) for thing in in_order}
        # Those without a vector are the relay's, as when one is written.
        return Stored(outcomes, is_news=any(outcome.status != "failed" for outcome in outcomes.values()))

    def _written(self, session: Session, thing: PlacedSkill, vectors: Vectors) -> SkillOutcome:
        new, before = thing.new, self.before.get(thing.new.id)
        vector = vectors.by_key.get(new.id)
        prepared = PreparedSkill(new, indexed_text(new), vectors.model if vector is not None else None, vector)
        named: dict[str, Any] = {"skill_id": new.id, "is_refused": isinstance(vector, Refusal)}
        if before is None:
            try:
                store(session, prepared, is_active=thing.is_active is not False)
            except Conflict as error:  # raised before anything is written
                return _refused(thing, error)
            return SkillOutcome(thing.index, "created", **named)
        is_active = before.is_active if thing.is_active is None else thing.is_active
        if not SkillRepository(session).change(
            new, prepared.text, prepared.model, vector, is_active=is_active, seen=before.updated_at
        ):
            return _refused(
                thing, Conflict(f"skill {new.id} is being changed by others; try again", ErrorCode.CHANGED_MEANWHILE)
            )
        return SkillOutcome(thing.index, "updated", **named)


def _refused(thing: PlacedSkill, error: Conflict | Forbidden) -> SkillOutcome:
    problem = FieldProblem("id", str(error), error.code.value)
    return SkillOutcome(thing.index, "failed", problems=(problem,), skill_id=thing.new.id)
