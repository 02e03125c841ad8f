"""Applies one decision to many suggestions in a transaction: to those that are open, own and unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from skillroute.core.access import not_found
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, Forbidden, NotFound, SkillrouteError
from skillroute.core.postgres.database import Session
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.access import visible_skill
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.create import PreparedSkill, store
from skillroute.skills.model import Skill
from skillroute.skills.repository import SkillRepository
from skillroute.skills.suggestions.group_decisions import MAX_SUGGESTIONS, DecisionOutcome, GroupDecision, ReviewAction
from skillroute.skills.suggestions.model import Suggestion, SuggestionKind, SuggestionStatus
from skillroute.skills.suggestions.repository import SuggestionRepository
from skillroute.skills.suggestions.resolve import require_own, require_pending, resolve


def open_suggestions(session: Session, outcome: DecisionOutcome, caller: Caller) -> list[Suggestion]:
    """Return the suggestions that a decision is about and that are open, by id; the others have failed.

    Raises
    ------
    NotFound, Forbidden
        No open suggestion has the name, or none that the caller may decide on.
    """
    repository, name = SuggestionRepository(session), outcome.decision.name
    if name is not None:
        ids = _seen(repository, name, caller.org_id, caller)[:MAX_SUGGESTIONS]
        if not ids:
            if caller.org_id is not None and _seen(repository, name, None, caller):
                raise Forbidden(
                    f"the suggestions named {name} are global; organisations decide only on their own",
                    ErrorCode.GLOBAL_ITEM,
                )
            raise NotFound(f"no open suggestion is named {name}", ErrorCode.SUGGESTION_NOT_FOUND)
    else:
        ids = list(dict.fromkeys(outcome.decision.ids))
    found = repository.some(ids, caller.org_id, rights=caller.rights)
    return [found[id_] for id_ in sorted(_passed(ids, outcome.failed, lambda id_: _check_open(found, id_, caller)))]


def _seen(repository: SuggestionRepository, name: str, org_id: str | None, caller: Caller) -> list[int]:
    """Return the ids of an owner's open suggestions of a name that the caller sees, oldest first."""
    ids = [id_ for id_, _, _ in repository.same_name(name, org_id)]
    if not ids or not caller.rights.are_limited:
        return ids
    seen = repository.some(ids, caller.org_id, rights=caller.rights)
    return [id_ for id_ in ids if id_ in seen]


def _check_open(found: Mapping[int, Suggestion], id_: int, caller: Caller) -> None:
    if id_ not in found:
        raise not_found("suggestion", id_)
    require_own(found[id_], caller)
    require_pending(id_, found[id_].status)


def _passed(ids: Sequence[int], failed: dict[int, SkillrouteError], check: Callable[[int], None]) -> Iterator[int]:
    """Yield the ids that pass a check; the others go into `failed`."""
    for id_ in ids:
        try:
            check(id_)
        except SkillrouteError as error:
            failed[id_] = error
        else:
            yield id_


def decide(
    session: Session,
    decision: GroupDecision,
    wanted: Sequence[Suggestion],
    prepared: PreparedSkill | None,
    caller: Caller,
) -> DecisionOutcome:
    """Decide on suggestions within a transaction; those that others decided on or changed meanwhile have failed."""
    done, repository = DecisionOutcome(decision), SuggestionRepository(session)
    ClassificationRepository(session).lock(_tools(session, wanted))  # before suggestions are, as classifying does
    before = {one.id: one for one in wanted}
    locked = repository.lock(list(before))
    now = repository.some(list(locked), caller.org_id, rights=caller.rights)

    def check(id_: int) -> None:
        _check_open(now, id_, caller)
        if now[id_].name_key != before[id_].name_key:
            raise _changed(id_)

    left = [now[id_] for id_ in _passed(list(before), done.failed, check)]
    if not left:
        return done
    if decision.action is ReviewAction.REJECT:
        repository.review(
            [one.id for one in left],
            SuggestionStatus.REJECTED,
            skill_key=None,
            reviewer=caller.name,
            reason=decision.reason,
        )
    else:
        skill = _skill(session, decision, wanted[0], now, prepared, caller)
        done.also_resolved = resolve(session, left, skill, decision.action.status, caller)
        done.skill = SkillRepository(session).get(skill.id, caller.org_id, rights=EVERYTHING) or skill
    # As decided, also where rules about the new skill take the tool from the caller now.
    decided = repository.some([one.id for one in left], caller.org_id, rights=EVERYTHING)
    done.decided = [decided[one.id] for one in left]
    return done


def _skill(
    session: Session,
    decision: GroupDecision,
    first: Suggestion,
    now: Mapping[int, Suggestion],
    prepared: PreparedSkill | None,
    caller: Caller,
) -> Skill:
    """Create the skill that suggestions are approved into, or return the one that they are merged into."""
    if prepared is None:
        return visible_skill(session, decision.skill_id or "", caller)
    if first.id not in now or now[first.id].suggested_description != first.suggested_description:
        raise _changed(first.id)
    return store(session, prepared)


def _tools(session: Session, wanted: Sequence[Suggestion]) -> list[int]:
    """Return the tools that a decision touches: of the suggestions, and of the open ones of their names."""
    repository = SuggestionRepository(session)
    names = {one.name_key: one for one in wanted if one.kind is SuggestionKind.NEW_SKILL}
    same = [tool for one in names.values() for _, tool, _ in repository.same_name(one.suggested_name, one.org_id)]
    return sorted({tool for tool in (*same, *(one.source_tool_id for one in wanted)) if tool is not None})


def _changed(suggestion_id: int) -> Conflict:
    return Conflict(f"suggestion {suggestion_id} has just changed: look at it again", ErrorCode.CHANGED_MEANWHILE)
