"""Writing a skill whole: over the one that is there, or as a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from skillroute.core.bulk.versions import Expected, check_version
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, NotFound, VersionConflict
from skillroute.core.input.json_input import validated
from skillroute.skills.change import ChangeSkill
from skillroute.skills.create import CreateSkill
from skillroute.skills.model import NewSkill, Skill
from skillroute.skills.read import ReadSkills


@dataclass(frozen=True, slots=True)
class PutOutcome:
    """The skill as it is now, and whether it was not there before."""

    skill: Skill
    is_new: bool


class PutSkill:
    """`PUT /api/v1/skills/{id}`.

    Parameters
    ----------
    create : CreateSkill
    change : ChangeSkill
    read : ReadSkills
    """

    def __init__(self, create: CreateSkill, change: ChangeSkill, read: ReadSkills) -> None:
        self._create = create
        self._change = change
        self._read = read

    def __call__(
        self,
        skill_id: str,
        fields: Mapping[str, Any],
        is_active: bool | None,
        caller: Caller,
        expected: Expected | None = None,
        *,
        only_new: bool = False,
    ) -> PutOutcome:
        """Write a skill over whole, or create it: one that was deleted starts anew, without tools.

        Parameters
        ----------
        fields : mapping
            Those of `SkillFields`.
        is_active : bool or None
            None leaves the state of a skill that is there, and makes a new one active.
        expected : Expected, optional
            The version that the caller has read: then nothing is created.
        only_new : bool
            Whether nothing is changed: what is there is a `VersionConflict`.

        Raises
        ------
        InvalidInput
            A field's value is not allowed, or no skill can have the id.
        Forbidden
            It is global and the caller belongs to an organisation.
        Conflict
            There are as many skills as there may be, or others change it again and again.
        VersionConflict
            It is not the version that is expected, or not there.
        """
        changed = partial(self._changed, skill_id, fields, is_active, caller, expected)
        try:
            if not only_new:
                return changed()
        except NotFound:
            check_version(expected, None, f"skill {skill_id}")
        new = validated(NewSkill, {**fields, "id": skill_id}, whole="body")
        try:
            return PutOutcome(self._create(new, caller, is_active=is_active is not False), is_new=True)
        except Conflict as refused:
            if only_new:
                raise self._is_there(skill_id, caller) if refused.code is ErrorCode.SKILL_EXISTS else refused from None
            try:  # another request created it meanwhile
                return changed()
            except NotFound:
                raise refused from None  # for another reason

    def _changed(
        self,
        skill_id: str,
        fields: Mapping[str, Any],
        is_active: bool | None,
        caller: Caller,
        expected: Expected | None,
    ) -> PutOutcome:
        """Write over a skill that is there. Raises `NotFound` where it is not."""
        state = {} if is_active is None else {"is_active": is_active}
        skill = self._change(skill_id, {**fields, **state}, caller, expected=expected, tells_deleted=False)
        return PutOutcome(skill, is_new=False)

    def _is_there(self, skill_id: str, caller: Caller) -> VersionConflict:
        """Return the refusal of a skill that was only to be created."""
        try:
            current = self._read.get(skill_id, caller).version
        except NotFound:  # deleted at this moment
            current = None
        return VersionConflict(f"skill {skill_id} is there already", current)
