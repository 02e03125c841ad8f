"""Changing, deactivating, reactivating and deleting skills, and the states they may be in (skill-contract)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from skillroute.core.caller import Caller
from skillroute.core.errors import Conflict, InvalidInput, NotFound
from skillroute.core.json_input import validated
from skillroute.core.postgres.database import Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.queue.work import QueueName
from skillroute.core.retry import Retry
from skillroute.skills.access import own_skill
from skillroute.skills.assignment_repository import AssignmentRepository
from skillroute.skills.create import PreparedSkill, SkillWriter
from skillroute.skills.model import NewSkill, Skill, SkillFields
from skillroute.skills.repository import SkillRepository
from skillroute.skills.suggestion_repository import SuggestionRepository

_OVERTAKEN = Retry(attempts=5, base_s=0.0)


class _Overtaken(Conflict):
    """Somebody else changed the skill after it was read."""


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
        together_with: Callable[[Session], object] = lambda session: None,
    ) -> Skill:
        """Write over the fields given, `is_active` among them, and leave the others.

        The index follows at once: an inactive skill is gone from the next search, its assignments are kept.

        Parameters
        ----------
        together_with : callable
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
        """

        def attempt() -> Skill:
            before = self._of_caller(skill_id, caller, wants_state="is_active" in changes)
            fields, is_active = _merged(before, changes)
            change = _Change(self._prepared(before, fields), is_active, before)

            def write(session: Session) -> Skill:
                after = _write(session, change, caller)
                together_with(session)
                return after

            return self._database.transact(write)

        after = _OVERTAKEN.run(attempt, again=lambda error: isinstance(error, _Overtaken))
        self._after_commit()
        return after

    def delete(self, skill_id: str, caller: Caller) -> None:
        """Delete a skill: it is gone from everything, and its tools lose it.

        A tool with other skills left gets the most confident of them as its primary; one without is classified again.
        Raises `NotFound` and `Forbidden`.
        """
        key = self._of_caller(skill_id, caller).key

        def delete(session: Session) -> bool:
            # Nobody joins it from here on, and one who was about to finds it deleted (skill-contract EC-002).
            # Deletes come one after the other: each makes another skill of its tools primary, maybe the next one's.
            SkillRepository(session).lock_skills_of(caller.org_id)
            AssignmentRepository(session).lock_all_memberships(key)
            if not SkillRepository(session).delete(key):
                return False
            SuggestionRepository(session).drop_description_of(key)
            bare = AssignmentRepository(session).remove_members(key)
            OutboxRepository(session).enqueue(QueueName.CLASSIFY, [str(tool_id) for tool_id in bare])
            return True

        if not self._database.transact(delete):
            raise NotFound(f"no skill with id {skill_id}")
        self._after_commit()

    def _of_caller(self, skill_id: str, caller: Caller, *, wants_state: bool = False) -> Skill:
        def read(session: Session) -> Skill:
            try:
                return own_skill(session, skill_id, caller)
            except NotFound:
                if wants_state and SkillRepository(session).is_deleted(skill_id, caller.org_id):
                    raise Conflict(
                        f"skill {skill_id} is deleted: deleted skills become neither active nor inactive"
                    ) from None
                raise

        return self._database.read(read)

    def _prepared(self, before: Skill, fields: SkillFields) -> PreparedSkill:
        same = (fields.name, fields.description) == (before.name, before.description)
        new = NewSkill(id=before.id, org_id=before.org_id, **fields.model_dump())
        return self._prepare(new, embed=not same)


def _merged(before: Skill, changes: Mapping[str, Any]) -> tuple[SkillFields, bool]:
    current = {name: getattr(before, name) for name in SkillFields.model_fields}
    changes = dict(changes)
    is_active = changes.pop("is_active", before.is_active)
    if not isinstance(is_active, bool):
        raise InvalidInput("is_active", "must be true or false")
    return validated(SkillFields, current | changes, whole="body"), is_active


def _write(session: Session, change: _Change, caller: Caller) -> Skill:
    prepared = change.prepared
    changed = SkillRepository(session).change(
        prepared.skill,
        prepared.text,
        prepared.model,
        prepared.vector,
        is_active=change.is_active,
        seen=change.before.updated_at,
    )
    after = SkillRepository(session).get(prepared.skill.id, caller.org_id) if changed else None
    if after is None:
        raise _Overtaken(f"skill {prepared.skill.id} is being changed by others; try again")
    return after
