"""Applies a person's decision on suggestions within one transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, Forbidden
from skillroute.core.input.json_input import validated
from skillroute.core.postgres.database import Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.skills.assignments.assign import assign
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.model import MAX_SKILLS_PER_TOOL, Assignment, NewSkill, Skill, in_rank_order
from skillroute.skills.queues import CLASSIFY
from skillroute.skills.suggestions.model import Suggestion, SuggestionStatus, skill_id_of
from skillroute.skills.suggestions.repository import SuggestionRepository
from skillroute.skills.suggestions.suggest import enough

_FULL_CONFIDENCE = 1.0


def require_own(suggestion: Suggestion, caller: Caller) -> None:
    """Refuse decisions on what is global to an organisation. Raises `Forbidden`."""
    if suggestion.org_id != caller.org_id:
        raise Forbidden(
            f"suggestion {suggestion.id} is global; organisations decide only on their own", ErrorCode.GLOBAL_ITEM
        )


def require_pending(suggestion_id: int, status: SuggestionStatus) -> None:
    """Refuse to decide a second time. Raises `Conflict`."""
    if status is not SuggestionStatus.PENDING:
        raise Conflict(f"suggestion {suggestion_id} is {status.value} already", ErrorCode.ALREADY_DECIDED)


def skill_of(suggestion: Suggestion, edits: Mapping[str, Any], caller: Caller) -> NewSkill:
    """Return the skill that a suggestion becomes, with fields that are to be otherwise. Raises `InvalidInput`."""
    name = str(edits.get("name") or suggestion.suggested_name)
    suggested = {
        "id": skill_id_of(name),
        "name": name,
        "description": enough(suggestion.suggested_description, name),
    }
    return validated(NewSkill, suggested | dict(edits) | {"org_id": caller.org_id}, whole="body")


def resolve(
    session: Session, suggestions: Sequence[Suggestion], skill: Skill, status: SuggestionStatus, caller: Caller
) -> int:
    """Decide on open suggestions that are locked: their tools are assigned to the skill.

    Other open suggestions of their names are merged into it, and the classifier looks at their tools again, now that
    the skill is there. Returns how many these are.

    Raises
    ------
    Conflict
        The skill would have more tools than a skill may.
    """
    repository = SuggestionRepository(session)
    repository.review([one.id for one in suggestions], status, skill_key=skill.key, reviewer=caller.name, reason=None)
    tools = {one.source_tool_id for one in suggestions if one.source_tool_id is not None}
    first_of = {one.name_key: one for one in reversed(suggestions)}
    waiting: list[int] = []
    also_resolved = 0
    for first in sorted(first_of.values(), key=lambda one: one.id):
        others = [
            (id_, tool_id)
            for id_, tool_id, _ in repository.same_name(first.suggested_name, first.org_id, lock=True)
            if tool_id not in tools
        ]
        repository.review(
            [id_ for id_, _ in others],
            SuggestionStatus.MERGED,
            skill_key=skill.key,
            reviewer=caller.name,
            reason=f"same name as suggestion {first.id}",
        )
        waiting += [tool_id for _, tool_id in others if tool_id is not None]
        also_resolved += len(others)
    if tools:
        _assign_too(session, sorted(tools), skill, caller)
    ClassificationRepository(session).forget(waiting)
    OutboxRepository(session).enqueue(CLASSIFY, [str(tool_id) for tool_id in waiting])
    session.note_news()
    return also_resolved


def _assign_too(session: Session, tool_ids: Sequence[int], skill: Skill, caller: Caller) -> None:
    """Give tools another skill; the least confident goes where they would have too many."""
    before = AssignmentRepository(session).of_each(tool_ids, caller.org_id)

    def ranked(tool_id: int) -> list[Assignment]:
        kept = [assignment for key, assignment in before.get(tool_id, ()) if key != skill.key]
        return in_rank_order([Assignment(skill.id, _FULL_CONFIDENCE), *kept[: MAX_SKILLS_PER_TOOL - 1]])

    assign(session, {tool_id: ranked(tool_id) for tool_id in tool_ids}, caller)
