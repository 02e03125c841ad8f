"""People's decisions on suggestions: approve, reject, merge (skill-contract BR-005)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillroute.core.access import visible
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, InvalidInput
from skillroute.core.input.json_input import check_json
from skillroute.core.listing import Listed, Order
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.access import visible_skill
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.change import ChangeSkill
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.create import PrepareSkill, store
from skillroute.skills.model import AssignedSkill, Skill, id_in_key
from skillroute.skills.repository import SkillRepository
from skillroute.skills.suggestions.model import Suggestion, SuggestionGroup, SuggestionKind, SuggestionStatus
from skillroute.skills.suggestions.repository import SuggestionRepository
from skillroute.skills.suggestions.resolve import require_own, require_pending, resolve, skill_of


@dataclass(frozen=True, slots=True)
class Reviewed:
    """The result of a decision.

    Attributes
    ----------
    skill : Skill
        The skill that was created, changed, or merged into.
    assignment : AssignedSkill or None
        That of the suggestion's tool; None when it is gone, or none was concerned.
    also_resolved : int
        Other open suggestions of the same name, merged into the skill; their tools are classified again.
    """

    suggestion: Suggestion
    skill: Skill
    assignment: AssignedSkill | None
    also_resolved: int
    message: str


class ReviewSuggestions:
    """`/api/v1/skills/suggestions`. A suggestion is decided once: it is pending, and then it is not."""

    def __init__(
        self,
        database: Database,
        prepare: PrepareSkill,
        change: ChangeSkill,
    ) -> None:
        self._database = database
        self._prepare = prepare
        self._change = change

    def page(
        self, status: SuggestionStatus | None, caller: Caller, *, name: str | None = None, limit: int, offset: int
    ) -> tuple[list[Suggestion], int]:
        """Return a page of the suggestions that the caller sees, by id, and how many there are in all."""
        found = self.listed(status, caller, Order("id"), name=name, limit=limit, offset=offset)
        return list(found.rows), found.total

    def listed(
        self,
        status: SuggestionStatus | None,
        caller: Caller,
        order: Order,
        *,
        name: str | None = None,
        limit: int,
        offset: int,
    ) -> Listed[Suggestion]:
        """Return a page of the suggestions that the caller sees, in an order, and how many there are.

        With a name only those of it, case, spacing and separators aside.
        """
        return self._database.read(
            lambda session: SuggestionRepository(session).listed(
                status, caller.org_id, order, name=name, limit=limit, offset=offset, rights=caller.rights
            )
        )

    def groups(
        self, status: SuggestionStatus, caller: Caller, *, limit: int, offset: int
    ) -> tuple[list[tuple[SuggestionGroup, bool]], int]:
        """Return a page of groups of suggestions of one name, the largest first, and how many groups there are.

        With each goes whether the caller sees a skill of its id already.
        """

        def read(session: Session) -> tuple[list[tuple[SuggestionGroup, bool]], int]:
            groups, total = SuggestionRepository(session).groups(
                status, caller.org_id, limit=limit, offset=offset, rights=caller.rights
            )
            ids = {group.skill_id for group in groups}
            known = AssignmentRepository(session).keys_of_skills(ids, caller.org_id) if ids else {}
            return [(group, group.skill_id in known) for group in groups], total

        return self._database.read(read)

    def get(self, suggestion_id: int, caller: Caller) -> Suggestion:
        """Return a suggestion, decided or not. Raises `NotFound`, also when it is another organisation's."""
        return self._database.read(lambda session: _found(session, suggestion_id, caller))

    def approve(self, suggestion_id: int, edits: Mapping[str, Any], caller: Caller) -> Reviewed:
        """Create the skill and assign the tool; for a description, make it the skill's.

        Parameters
        ----------
        edits : mapping
            Fields of the new skill that are to be otherwise than suggested: id, name, description, keywords, ...

        Raises
        ------
        NotFound, Forbidden
            There is no such suggestion, or it is not the caller's.
        Conflict
            It is decided already, or the skill's id is taken.
        InvalidInput
            A field of the skill is not allowed.
        """
        suggestion = self._pending(suggestion_id, caller)
        if suggestion.kind is SuggestionKind.DESCRIPTION:
            return self._accept_description(suggestion, edits, caller)
        prepared = self._prepare(skill_of(suggestion, edits, caller))
        tools = self._tools(suggestion)

        def approve(session: Session) -> Reviewed:
            ClassificationRepository(session).lock(tools)
            locked = _lock_pending(session, suggestion_id, caller)
            if (locked.suggested_name, locked.suggested_description) != (
                suggestion.suggested_name,
                suggestion.suggested_description,
            ):
                raise Conflict(
                    f"suggestion {suggestion_id} has just changed: look at it again", ErrorCode.CHANGED_MEANWHILE
                )
            skill = store(session, prepared)
            return _resolve(session, locked, skill, SuggestionStatus.APPROVED, caller)

        return self._database.transact(approve)

    def merge(self, suggestion_id: int, skill_id: str, caller: Caller) -> Reviewed:
        """Assign the tool to a skill that is there. Raises as `approve` does; `NotFound` for the skill too."""
        suggestion = self._pending(suggestion_id, caller)
        if suggestion.kind is SuggestionKind.DESCRIPTION:
            raise Conflict(
                f"suggestion {suggestion_id} is a description: approve or reject it", ErrorCode.NOT_A_NEW_SKILL
            )
        tools = self._tools(suggestion)

        def merge(session: Session) -> Reviewed:
            ClassificationRepository(session).lock(tools)
            locked = _lock_pending(session, suggestion_id, caller)
            skill = visible_skill(session, skill_id, caller)
            return _resolve(session, locked, skill, SuggestionStatus.MERGED, caller)

        return self._database.transact(merge)

    def reject(self, suggestion_id: int, reason: str | None, caller: Caller) -> Suggestion:
        """Discard a suggestion; its tool stays without skills. Raises as `approve` does."""
        check_json({"reason": reason})
        self._pending(suggestion_id, caller)

        def reject(session: Session) -> Suggestion:
            _lock_pending(session, suggestion_id, caller)
            SuggestionRepository(session).review(
                [suggestion_id], SuggestionStatus.REJECTED, skill_key=None, reviewer=caller.name, reason=reason
            )
            return _found(session, suggestion_id, caller)

        return self._database.transact(reject)

    def _accept_description(self, suggestion: Suggestion, edits: Mapping[str, Any], caller: Caller) -> Reviewed:
        if set(edits) - {"description"}:
            raise InvalidInput(sorted(set(edits) - {"description"})[0], "only the description can be edited")
        description = edits.get("description", suggestion.suggested_description)
        skill_key = suggestion.target_skill_key
        assert skill_key is not None  # noqa: S101 (a constraint says so)
        accepted: list[Suggestion] = []

        def accept(session: Session) -> None:
            _lock_pending(session, suggestion.id, caller)
            SuggestionRepository(session).review(
                [suggestion.id], SuggestionStatus.APPROVED, skill_key=skill_key, reviewer=caller.name, reason=None
            )
            accepted.append(_found(session, suggestion.id, caller))

        skill = self._change(id_in_key(skill_key), {"description": description}, caller, together_with=accept)
        return Reviewed(accepted[-1], skill, None, 0, "Description accepted")

    def _pending(self, suggestion_id: int, caller: Caller) -> Suggestion:
        suggestion = self._database.read(lambda session: _found(session, suggestion_id, caller))
        require_own(suggestion, caller)
        require_pending(suggestion_id, suggestion.status)
        return suggestion

    def _tools(self, suggestion: Suggestion) -> list[int]:
        """Return the tools that a decision touches. They are locked before suggestions are, as in classifying."""
        same = self._database.read(
            lambda session: SuggestionRepository(session).same_name(suggestion.suggested_name, suggestion.org_id)
        )
        tool_ids = {suggestion.source_tool_id, *(tool_id for _, tool_id, _ in same)}
        return sorted(tool_id for tool_id in tool_ids if tool_id is not None)


def _found(session: Session, suggestion_id: int, caller: Caller) -> Suggestion:
    found = SuggestionRepository(session).get(suggestion_id, caller.org_id, rights=caller.rights)
    return visible(found, "suggestion", suggestion_id)


def _lock_pending(session: Session, suggestion_id: int, caller: Caller) -> Suggestion:
    """Lock a suggestion to the end of the transaction, and return it as it is now.

    Raises
    ------
    Conflict
        Another request decided meanwhile.
    NotFound
        It is gone: its tool found a skill meanwhile.
    """
    locked = SuggestionRepository(session).lock([suggestion_id])
    require_pending(suggestion_id, visible(locked.get(suggestion_id), "suggestion", suggestion_id))
    return _found(session, suggestion_id, caller)


def _resolve(
    session: Session, suggestion: Suggestion, skill: Skill, status: SuggestionStatus, caller: Caller
) -> Reviewed:
    """Assign the tool, decide on the suggestion, and on the others of its name."""
    tool_id = suggestion.source_tool_id
    also_resolved = resolve(session, [suggestion], skill, status, caller)
    assignment = None
    if tool_id is not None:
        assignment = next(
            assigned
            for assigned in AssignmentRepository(session).of_item(tool_id, caller.org_id, rights=EVERYTHING)
            if assigned.skill_key == skill.key
        )
    verb = "created" if status is SuggestionStatus.APPROVED else "found"
    message = f"Skill {verb} and tool assigned" if tool_id is not None else f"Skill {verb}; the tool is gone"
    fresh = SkillRepository(session).get(skill.id, caller.org_id, rights=EVERYTHING) or skill
    # As decided, also where rules about the new skill take the tool from the caller now.
    decided = SuggestionRepository(session).get(suggestion.id, caller.org_id, rights=EVERYTHING) or suggestion
    return Reviewed(decided, fresh, assignment, also_resolved, message)
