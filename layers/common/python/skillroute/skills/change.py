"""Changing, deactivating, reactivating and deleting skills, and the states they may be in (skill-contract)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skillroute.core.access import not_found
from skillroute.core.bulk.versions import Expected, check_version
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, InvalidInput, NotFound
from skillroute.core.input.hidden_text import visible
from skillroute.core.input.json_input import validated
from skillroute.core.postgres.database import Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.time.retry import Retry
from skillroute.skills.access import own_skill
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.create import PreparedSkill, SkillWriter
from skillroute.skills.model import NewSkill, Skill, SkillFields
from skillroute.skills.queues import CLASSIFY
from skillroute.skills.repository import SkillRepository
from skillroute.skills.suggestions.repository import SuggestionRepository

_OVERTAKEN = Retry(attempts=5, base_s=0.0)


class _Overtaken(Conflict):
    """Another request changed the skill after it was read."""

    code = ErrorCode.CHANGED_MEANWHILE


@dataclass(frozen=True, slots=True)
class _Change:
    """A skill as it was read, and as it is to be."""

    prepared: PreparedSkill
    is_active: bool
    before: Skill


class ChangeSkill(SkillWriter):
    """`PUT`, `PATCH` and `DELETE /api/v1/skills/{id}`.

    A skill is active, inactive or deleted. Active and inactive turn into each other and into deleted; deleted is the
    end, but its id can be created again.
    """

    def __call__(
        self,
        skill_id: str,
        changes: Mapping[str, Any],
        caller: Caller,
        *,
        expected: Expected | None = None,
        tells_deleted: bool = True,
        together_with: Callable[[Session], object] | None = None,
    ) -> Skill:
        """Write over the fields given, `is_active` among them, and leave the others.

        The index follows at once: an inactive skill is gone from the next search, its assignments are kept. Fields that
        say what the skill says already write nothing.

        Parameters
        ----------
        expected : Expected, optional
            The version that the caller has read.
        tells_deleted : bool
            Whether the state of a deleted skill is refused with `Conflict`, rather than the skill with `NotFound`.
        together_with : callable, optional
            Done in the same transaction; what it raises undoes the change.

        Raises
        ------
        InvalidInput
            A field is unknown or its value is not allowed.
        NotFound
            There is no such skill, or it is another organisation's.
        Forbidden
            It is global and the caller belongs to an organisation.
        Conflict
            It is deleted and was to be made active or inactive; or others change it again and again.
        VersionConflict
            It is not the version that is expected.
        """

        def attempt() -> Skill:
            before = self._of_caller(skill_id, caller, wants_state=tells_deleted and "is_active" in changes)
            check_version(expected, before.version, f"skill {skill_id}")
            fields, is_active = _merged(before, changes)
            if together_with is None and (fields, is_active) == (_fields(before), before.is_active):
                return before
            change = _Change(self._prepared(before, fields), is_active, before)
            return self._database.transact(lambda session: _write(session, change, caller, together_with))

        return _OVERTAKEN.run(attempt, again=lambda error: isinstance(error, _Overtaken))

    def delete(self, skill_id: str, caller: Caller, expected: Expected | None = None) -> None:
        """Delete a skill: it is gone from everything, and its tools lose it.

        A tool with other skills left gets the most confident of them as its primary; one without is classified again.
        Raises `NotFound` and `Forbidden`, and `VersionConflict` where it is not the version that is expected.
        """
        key = self._of_caller(skill_id, caller).key

        def delete(session: Session) -> bool:
            # Nobody joins it from here on, and one who was about to finds it deleted (skill-contract EC-002).
            # Deletes come one after the other: each makes another skill of its tools primary, maybe the next one's.
            SkillRepository(session).lock_skills_of(caller.org_id)
            AssignmentRepository(session).lock_all_memberships(key)
            if expected is not None and SkillRepository(session).lock(key):
                expected.check(own_skill(session, skill_id, caller).version, f"skill {skill_id}")
            if not SkillRepository(session).delete(key):
                return False
            SuggestionRepository(session).drop_description_of(key)
            bare = AssignmentRepository(session).remove_members(key)
            OutboxRepository(session).enqueue(CLASSIFY, [str(tool_id) for tool_id in bare])
            session.note_news()
            return True

        if not self._database.transact(delete):
            raise not_found("skill", skill_id)

    def _of_caller(self, skill_id: str, caller: Caller, *, wants_state: bool = False) -> Skill:
        def read(session: Session) -> Skill:
            try:
                return own_skill(session, skill_id, caller)
            except NotFound:
                if wants_state and SkillRepository(session).is_deleted(skill_id, caller.org_id):
                    raise Conflict(
                        f"skill {skill_id} is deleted: it cannot be activated or deactivated",
                        ErrorCode.SKILL_DELETED,
                    ) from None
                raise

        return self._database.read(read)

    def _prepared(self, before: Skill, fields: SkillFields) -> PreparedSkill:
        same = (fields.name, fields.description) == (before.name, before.description)
        new = NewSkill(id=before.id, org_id=before.org_id, **fields.model_dump())
        return self._prepare(new, embed=not same)


def _merged(before: Skill, changes: Mapping[str, Any]) -> tuple[SkillFields, bool]:
    changes = dict(changes)
    is_active = changes.pop("is_active", before.is_active)
    if not isinstance(is_active, bool):
        raise InvalidInput("is_active", "must be true or false")
    if not changes:
        return _fields(before), is_active
    stored = _current(before) | {"name": visible(before.name)}  # stored before nobody's characters were refused
    return validated(SkillFields, stored | changes, whole="body"), is_active


def _current(skill: Skill) -> dict[str, Any]:
    return {name: getattr(skill, name) for name in SkillFields.model_fields}


def _fields(skill: Skill) -> SkillFields:
    # Without checks: a rule of today may be younger than the skill.
    return SkillFields.model_construct(**_current(skill))


def _write(
    session: Session, change: _Change, caller: Caller, together_with: Callable[[Session], object] | None
) -> Skill:
    prepared = change.prepared
    if change.is_active != change.before.is_active:
        # A tool that joins or leaves at this moment would go on saying what the skill was before.
        AssignmentRepository(session).lock_all_memberships(prepared.skill.key)
    changed = SkillRepository(session).change(
        prepared.skill,
        prepared.text,
        prepared.model,
        prepared.vector,
        is_active=change.is_active,
        seen=change.before.updated_at,
    )
    after = SkillRepository(session).get(prepared.skill.id, caller.org_id, rights=caller.rights) if changed else None
    if after is None:
        raise _Overtaken(f"skill {prepared.skill.id} is being changed by others; try again")
    if together_with is not None:
        together_with(session)
    session.note_news()
    return after
