"""Writing many skills in one call: each is judged on its own, unchanged ones are left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from skillroute.core.access import own
from skillroute.core.bulk.outcomes import Outcome, Report
from skillroute.core.bulk.write import BulkWrite
from skillroute.core.bulk.writing import Done, Writing
from skillroute.core.caller import Caller
from skillroute.core.documents.embed import Embedded, embed_within
from skillroute.core.embedding.model import Vector
from skillroute.core.embedding.port import Embedder
from skillroute.core.embedding.views import Refusal
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, FieldProblem, Forbidden, InvalidInput
from skillroute.core.input.json_input import examined_json, together, validated
from skillroute.core.input.known_fields import KnownFields, of_another
from skillroute.core.input.near_names import names_of
from skillroute.core.observability import Metric
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.deadline import Deadline
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


class SyncSkills(BulkWrite):
    """`PUT /api/v1/skills`."""

    def __call__(self, skills: Sequence[object], caller: Caller, *, dry_run: bool = False) -> Report[SkillOutcome]:
        """Create skills of the caller's organisation, or write them over whole; see `BulkWrite`.

        Without `is_active` the state of a skill that is there stays, and a new one is active.
        """
        return self._carry_out(SkillsWriting(self._database, self._embedder, caller), skills, dry_run=dry_run)


@dataclass(frozen=True, slots=True)
class PlacedSkill:
    """A skill as it was read, and its place in the call."""

    index: int
    new: NewSkill
    is_active: bool | None

    @property
    def key(self) -> str:
        return self.new.id

    def says(self, skill: Skill) -> bool:
        """Return whether this is what a skill says already."""
        same = all(getattr(self.new, name) == getattr(skill, name) for name in SkillFields.model_fields)
        return same and self.is_active in {None, skill.is_active}


class SkillsWriting(Writing[PlacedSkill, Done[SkillOutcome], SkillOutcome]):
    """A call that writes skills."""

    noun = "skill"
    most = MAX_SKILLS_OF_CALL
    identity = ("id", "id")
    outcome_type = SkillOutcome
    metrics: ClassVar = (Metric.SKILLS_WRITTEN, Metric.SKILLS_FAILED)

    def __init__(self, database: Database, embedder: Embedder, caller: Caller) -> None:
        self._database = database
        self._embedder = embedder
        self.caller = caller
        self._stored: Mapping[str, Skill] = {}
        self._vectors: dict[str, Vector | Refusal] = {}

    def warnings(self, raw: object) -> Sequence[FieldProblem]:
        return SKILL_FIELDS.warnings(raw)

    def read(self, index: int, raw: object) -> PlacedSkill:
        if not isinstance(raw, Mapping):
            raise InvalidInput("skill", "must be an object")
        given = {name: value for name, value in raw.items() if name in SKILL_FIELDS.taken}
        _, problems = examined_json(given, whole="skill")
        if raw.get("org_id", self.caller.org_id) != self.caller.org_id:
            problems.append(of_another(raw["org_id"]))
        is_active = given.pop("is_active", None)
        if is_active is not None and not isinstance(is_active, bool):
            problems.append(FieldProblem("is_active", "must be true or false"))
        identified = together(problems, lambda: validated(IdentifiedSkill, given, whole="skill"))
        new = NewSkill(**identified.model_dump(), org_id=self.caller.org_id)
        return PlacedSkill(index, new, is_active)

    def named(self, thing: PlacedSkill) -> dict[str, object]:
        return {"skill_id": thing.new.id}

    def prepare(self, incoming: Sequence[PlacedSkill], deadline: Deadline) -> bool:
        ids = [thing.new.id for thing in incoming]
        self._stored = self._database.read(lambda session: SkillRepository(session).some(ids, self.caller.org_id))
        changed = [thing.new for thing in incoming if self._says_something_else(thing.new)]
        views = [indexed_text(new).embedding_texts for new in changed]
        made = embed_within(self._embedder, views, deadline, what="skills")
        self._vectors = {new.id: vector for new, vector in zip(changed, made, strict=False)}
        return len(made) == len(changed)

    def _says_something_else(self, new: NewSkill) -> bool:
        before = self._stored.get(new.id)
        if before is not None and before.org_id != new.org_id:
            return False  # it is refused
        return before is None or (before.name, before.description) != (new.name, new.description)

    def settled(self, thing: PlacedSkill) -> SkillOutcome | None:
        before = self._stored.get(thing.new.id)
        if before is None:
            return None
        try:
            own(before, self.caller, "skill", thing.new.id)
        except Forbidden as error:
            return self._refused(thing, error)
        if thing.says(before):
            return SkillOutcome(thing.index, "unchanged", skill_id=thing.new.id, is_refused=before.is_refused)
        return None

    def store(self, session: Session, some: Sequence[PlacedSkill]) -> Done[SkillOutcome]:
        in_order = sorted(some, key=lambda thing: thing.new.id)
        if any(thing.new.id not in self._stored for thing in in_order):
            SkillRepository(session).lock_skills_of(self.caller.org_id)  # before any skill is, as deleting does
        for thing in in_order:
            before = self._stored.get(thing.new.id)
            if before is not None and thing.is_active not in {None, before.is_active}:
                # All of them first, in the order in which assigning locks them: nobody waits in a circle.
                AssignmentRepository(session).lock_all_memberships(thing.new.key)
        return Done({thing.index: self._written(session, thing) for thing in in_order})

    def _written(self, session: Session, thing: PlacedSkill) -> SkillOutcome:
        new, before = thing.new, self._stored.get(thing.new.id)
        vector = self._vectors.get(new.id)
        prepared = PreparedSkill(new, indexed_text(new), self._embedder.model if vector is not None else None, vector)
        named: dict[str, Any] = {"skill_id": new.id, "is_refused": isinstance(vector, Refusal)}
        if before is None:
            try:
                store(session, prepared, is_active=thing.is_active is not False)
            except Conflict as error:  # raised before anything is written
                return self._refused(thing, error)
            return SkillOutcome(thing.index, "created", **named)
        is_active = before.is_active if thing.is_active is None else thing.is_active
        if not SkillRepository(session).change(
            new, prepared.text, prepared.model, vector, is_active=is_active, seen=before.updated_at
        ):
            return self._refused(
                thing, Conflict(f"skill {new.id} is being changed by others; try again", ErrorCode.CHANGED_MEANWHILE)
            )
        return SkillOutcome(thing.index, "updated", **named)

    def _refused(self, thing: PlacedSkill, error: Conflict | Forbidden) -> SkillOutcome:
        problem = FieldProblem("id", str(error), error.code.value)
        return SkillOutcome(thing.index, "failed", problems=(problem,), skill_id=thing.new.id)

    def is_news(self, done: Done[SkillOutcome]) -> bool:
        return any(outcome.status != "failed" for outcome in done.outcomes.values())

    def embed_committed(self, done: Done[SkillOutcome], deadline: Deadline | None) -> tuple[Embedded, Embedded]:
        return Embedded(), Embedded()  # those without a vector are the relay's, as when one is written
