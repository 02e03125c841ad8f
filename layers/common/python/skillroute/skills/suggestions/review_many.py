"""People's decisions on many suggestions in one call: groups of one name, or some that are named by their ids.

Each decision is a transaction of its own, so what is wrong with one never keeps the others from being carried out.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from skillroute.core.answer_size import MAX_ANSWER_BYTES
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict, DatabaseUnavailable, InvalidInput, NotBegun, SkillrouteError
from skillroute.core.input.json_input import check_json
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database
from skillroute.core.time.clock import Clock
from skillroute.core.time.deadline import Deadline
from skillroute.skills.create import PreparedSkill, PrepareSkill
from skillroute.skills.suggestions.decide_group import decide, open_suggestions
from skillroute.skills.suggestions.group_decisions import DecisionOutcome, GroupDecision, ReviewAction
from skillroute.skills.suggestions.model import Suggestion, SuggestionKind
from skillroute.skills.suggestions.resolve import skill_of
from skillroute.skills.suggestions.review import ReviewSuggestions

MAX_DECISIONS = 100
"""Decisions of one call."""

_ROOM = MAX_ANSWER_BYTES // 2
"""Bytes of the answer after which no decision is begun: on as many suggestions as there may be, one takes 2.5 MB."""


class ReviewMany:
    """`POST /api/v1/skills/suggestions/review`.

    Parameters
    ----------
    review : ReviewSuggestions
        Decides on suggested descriptions, of which each is a skill's own.
    within_s : float
        No decision is begun after so many seconds.
    room : int
        Nor after so many bytes of the answer.
    """

    def __init__(
        self,
        database: Database,
        prepare: PrepareSkill,
        review: ReviewSuggestions,
        *,
        within_s: float = 15.0,
        room: int = _ROOM,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._prepare = prepare
        self._review = review
        self._within_s = within_s
        self._room = room
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
        with self._database.together():
            return self._carried_out(decisions, caller)

    def _carried_out(self, decisions: Sequence[GroupDecision], caller: Caller) -> list[DecisionOutcome]:
        deadline = Deadline(self._within_s, self._clock)
        outcomes: list[DecisionOutcome] = []
        stopped: NotBegun | None = None
        room = self._room
        for decision in decisions:
            if deadline.is_over or room <= 0:
                stopped = NotBegun()
            outcome = DecisionOutcome(decision, error=stopped)
            outcomes.append(outcome)
            if stopped is not None:
                continue
            try:
                self._decide(outcome, caller, deadline)
            except DatabaseUnavailable as error:
                if len(outcomes) == 1:
                    raise
                outcome.error = error
                stopped = NotBegun()
            except SkillrouteError as error:
                outcome.error = error
                if error.code is ErrorCode.INTERNAL_ERROR:
                    logger.exception("decision on suggestions failed")
            room -= outcome.answer_bytes
        return outcomes

    def _decide(self, outcome: DecisionOutcome, caller: Caller, deadline: Deadline) -> None:
        decision = outcome.decision
        check_json({"name": decision.name, "reason": decision.reason}, whole="decision")
        wanted = self._database.read(lambda session: open_suggestions(session, outcome, caller))
        described = [one for one in wanted if one.kind is SuggestionKind.DESCRIPTION]
        if decision.action is not ReviewAction.REJECT:
            wanted = [one for one in wanted if one.kind is SuggestionKind.NEW_SKILL]
        if wanted:
            prepared = self._prepared(wanted, decision, caller)
            done = self._database.transact(lambda session: decide(session, decision, wanted, prepared, caller))
            outcome.decided, outcome.skill, outcome.also_resolved = done.decided, done.skill, done.also_resolved
            outcome.failed |= done.failed
        if decision.action is not ReviewAction.REJECT:
            self._decide_descriptions(outcome, described, caller, deadline)

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

    def _decide_descriptions(
        self, outcome: DecisionOutcome, described: Sequence[Suggestion], caller: Caller, deadline: Deadline
    ) -> None:
        """Accept suggested descriptions, each in a transaction of its own, which embeds its skill."""
        stopped: NotBegun | None = None
        for one in described:
            if deadline.is_over:
                stopped = NotBegun()
            if stopped is not None:
                outcome.failed[one.id] = stopped
                continue
            try:
                if outcome.decision.action is ReviewAction.MERGE:
                    raise Conflict(
                        f"suggestion {one.id} is a description: approve or reject it", ErrorCode.NOT_A_NEW_SKILL
                    )
                reviewed = self._review.approve(one.id, outcome.decision.edits, caller)
            except DatabaseUnavailable as error:
                if not outcome.decided:
                    raise
                outcome.failed[one.id] = error
                stopped = NotBegun()
            except SkillrouteError as error:
                outcome.failed[one.id] = error
            else:
                outcome.decided.append(reviewed.suggestion)
                outcome.skill = outcome.skill or reviewed.skill
