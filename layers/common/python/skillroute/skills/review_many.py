"""People's decisions on many suggestions in one call: groups of one name, or some that are named by their ids.

Each decision is a transaction of its own, so what is wrong with one never keeps the others from being carried out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from skillroute.core.access import not_found
from skillroute.core.caller import Caller
from skillroute.core.clock import Clock
from skillroute.core.deadline import Deadline
from skillroute.core.error_codes import ErrorCode
from skillroute.core.errors import (
    Conflict,
    DatabaseUnavailable,
    Forbidden,
    InvalidInput,
    NotBegun,
    NotFound,
    SkillrouteError,
)
from skillroute.core.json_input import check_json
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database, Session
from skillroute.skills.access import visible_skill
from skillroute.skills.classification_repository import ClassificationRepository
from skillroute.skills.create import PreparedSkill, PrepareSkill, store
from skillroute.skills.model import MAX_TOOLS_PER_SKILL, Skill
from skillroute.skills.repository import SkillRepository
from skillroute.skills.resolve import require_own, require_pending, resolve, skill_of
from skillroute.skills.review import ReviewSuggestions
from skillroute.skills.suggestion_repository import SuggestionRepository
from skillroute.skills.suggestions import Suggestion, SuggestionKind, SuggestionStatus

MAX_DECISIONS = 100
"""Decisions of one call."""

MAX_SUGGESTIONS = MAX_TOOLS_PER_SKILL
"""Suggestions that one decision is about; of a larger group these are the oldest."""


class ReviewAction(StrEnum):
    """The decisions that there are, by what they make of a suggestion."""

    APPROVE = "approve"
    REJECT = "reject"
    MERGE = "merge"

    @property
    def status(self) -> SuggestionStatus:
        """The state of a suggestion on which this was decided."""
        return {
            ReviewAction.APPROVE: SuggestionStatus.APPROVED,
            ReviewAction.REJECT: SuggestionStatus.REJECTED,
            ReviewAction.MERGE: SuggestionStatus.MERGED,
        }[self]


@dataclass(frozen=True, slots=True)
class GroupDecision:
    """One decision.

    Attributes
    ----------
    name : str or None
        It is about all open suggestions of the caller's of this name; None: about those of `ids`.
    edits : mapping
        Approving: fields of the new skill that are to be otherwise than suggested.
    skill_id : str or None
        Merging: the skill that is to have the tools.
    reason : str or None
        Rejecting: why.
    """

    action: ReviewAction
    name: str | None = None
    ids: Sequence[int] = ()
    edits: Mapping[str, Any] = field(default_factory=dict)
    skill_id: str | None = None
    reason: str | None = None


@dataclass(slots=True)
class DecisionOutcome:
    """The outcome of one decision.

    Attributes
    ----------
    decided : list of Suggestion
        Those that were decided on as asked, by id.
    failed : dict of int to SkillrouteError
        Those that were not, by id.
    also_resolved : int
        Other open suggestions of the same names, merged into the skill.
    error : SkillrouteError or None
        Why nothing at all was done.
    """

    decision: GroupDecision
    decided: list[Suggestion] = field(default_factory=list)
    failed: dict[int, SkillrouteError] = field(default_factory=dict)
    skill: Skill | None = None
    also_resolved: int = 0
    error: SkillrouteError | None = None


class ReviewMany:
    """`POST /api/v1/skills/suggestions/review`.

    Parameters
    ----------
    review : ReviewSuggestions
        Decides on suggested descriptions, of which each is a skill's own.
    within_s : float
        No decision is begun after so many seconds.
    """

    def __init__(
        self,
        database: Database,
        prepare: PrepareSkill,
        review: ReviewSuggestions,
        *,
        after_commit: Callable[[], object] = lambda: None,
        within_s: float = 15.0,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._prepare = prepare
        self._review = review
        self._after_commit = after_commit
        self._within_s = within_s
        self._clock = clock

    def __call__(self, decisions: Sequence[GroupDecision], caller: Caller) -> list[DecisionOutcome]:
        """Carry out decisions one after the other, `MAX_DECISIONS` at most, and return what became of each.

        Raises
        ------
        DatabaseUnavailable
            The first one could not be carried out: nothing was decided.
        """
        if len(decisions) > MAX_DECISIONS:
            raise InvalidInput("decisions", f"{len(decisions)} decisions; at most {MAX_DECISIONS} in one call")
        deadline = Deadline(self._within_s, self._clock)
        outcomes: list[DecisionOutcome] = []
        stopped: SkillrouteError | None = None
        for decision in decisions:
            outcome = DecisionOutcome(decision, error=stopped or (NotBegun() if deadline.is_over else None))
            outcomes.append(outcome)
            if outcome.error is not None:
                continue
            try:
                self._decide(outcome, caller)
            except DatabaseUnavailable as error:
                if len(outcomes) == 1:
                    raise
                outcome.error = error
                stopped = NotBegun()
            except SkillrouteError as error:
                outcome.error = error
                if error.code is ErrorCode.INTERNAL_ERROR:
                    logger.exception("decision on suggestions failed")
        if any(outcome.decided for outcome in outcomes):
            self._after_commit()
        return outcomes

    def _decide(self, outcome: DecisionOutcome, caller: Caller) -> None:
        decision = outcome.decision
        check_json({"name": decision.name, "reason": decision.reason}, whole="decision")
        wanted = self._database.read(lambda session: _open(session, outcome, caller))
        described = [one for one in wanted if one.kind is SuggestionKind.DESCRIPTION]
        if decision.action is not ReviewAction.REJECT:
            wanted = [one for one in wanted if one.kind is SuggestionKind.NEW_SKILL]
        if wanted:
            prepared = self._prepared(wanted, decision, caller)
            done = self._database.transact(lambda session: _carry_out(session, decision, wanted, prepared, caller))
            outcome.decided, outcome.skill, outcome.also_resolved = done.decided, done.skill, done.also_resolved
            outcome.failed |= done.failed
        if decision.action is not ReviewAction.REJECT:
            self._decide_descriptions(outcome, described, caller)

    def _prepared(self, wanted: Sequence[Suggestion], decision: GroupDecision, caller: Caller) -> PreparedSkill | None:
        """Return the skill that approved suggestions become: one for all, worded as the oldest of them."""
        if decision.action is not ReviewAction.APPROVE:
            return None
        names = {one.name_key: one.suggested_name for one in wanted}
        if len(names) > 1 and not decision.edits.get("name"):
            some = ", ".join(sorted(names.values())[:3])
            raise InvalidInput("skill.name", f"is missing: the suggestions have {len(names)} names, among them {some}")
        try:
            new = skill_of(wanted[0], decision.edits, caller)
        except InvalidInput as error:
            raise error.moved(lambda place: f"skill.{place}") from None
        return self._prepare(new)

    def _decide_descriptions(self, outcome: DecisionOutcome, described: Sequence[Suggestion], caller: Caller) -> None:
        for one in described:
            try:
                if outcome.decision.action is ReviewAction.MERGE:
                    raise Conflict(
                        f"suggestion {one.id} is a description: approve or reject it", ErrorCode.NOT_A_NEW_SKILL
                    )
                reviewed = self._review.approve(one.id, outcome.decision.edits, caller)
            except DatabaseUnavailable:
                if not outcome.decided:
                    raise
                outcome.failed[one.id] = NotBegun()
            except SkillrouteError as error:
                outcome.failed[one.id] = error
            else:
                outcome.decided.append(reviewed.suggestion)
                outcome.skill = outcome.skill or reviewed.skill


def _open(session: Session, outcome: DecisionOutcome, caller: Caller) -> list[Suggestion]:
    """Return the suggestions that a decision is about and that are open, by id; the others have failed.

    Raises
    ------
    NotFound, Forbidden
        No open suggestion has the name, or none that the caller may decide on.
    """
    repository, name = SuggestionRepository(session), outcome.decision.name
    if name is not None:
        ids = [id_ for id_, _, _ in repository.same_name(name, caller.org_id)][:MAX_SUGGESTIONS]
        if not ids:
            if caller.org_id is not None and repository.same_name(name, None):
                raise Forbidden(
                    f"the suggestions named {name} are global; organisations decide only on their own",
                    ErrorCode.GLOBAL_ITEM,
                )
            raise NotFound(f"no open suggestion is named {name}", ErrorCode.SUGGESTION_NOT_FOUND)
    else:
        ids = list(dict.fromkeys(outcome.decision.ids))
    found = repository.some(ids, caller.org_id)
    return [found[id_] for id_ in sorted(_passed(ids, outcome.failed, lambda id_: _check_open(found, id_, caller)))]


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


def _carry_out(
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
    now = repository.some(list(locked), caller.org_id)

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
        done.skill = SkillRepository(session).get(skill.id, caller.org_id) or skill
    decided = repository.some([one.id for one in left], caller.org_id)
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
