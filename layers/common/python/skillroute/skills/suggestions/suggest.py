"""Telling people of suggested skills, and creating those that were suggested often enough (BR-005, decision 21)."""

from __future__ import annotations

import time
from collections.abc import Sequence

from skillroute.core.errors.model import SkillrouteError
from skillroute.core.input.json_input import validated
from skillroute.core.notification.port import Notifier
from skillroute.core.observability import Metric, count, logger
from skillroute.core.postgres.database import Database, Session
from skillroute.core.rights.decide import EVERYTHING
from skillroute.core.time.clock import Clock
from skillroute.core.time.deadline import Deadline
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.classification.store import Suggested
from skillroute.skills.create import PreparedSkill, PrepareSkill, store
from skillroute.skills.model import Assignment, AssignmentSource, NewSkill, Skill
from skillroute.skills.repository import SkillRepository
from skillroute.skills.suggestions.model import SuggestionStatus, skill_id_of
from skillroute.skills.suggestions.repository import SuggestionRepository

AUTO_APPROVER = "auto-approval"
"""Stands as the reviewer of what nobody reviewed."""

_APPROVED_CONFIDENCE = 0.8
"""Of a tool in the skill that a language model suggested for it: the least of a strong match."""


class SuggestSkills:
    """Acts on the skills that a classifier suggested.

    Parameters
    ----------
    approve_after : int
        From how many different tools a language model must have suggested the same name for the skill to be created
        without a person; 0 never does. The drafts of `similarity` do not count: it knows that nothing fits, not what
        would (skill-contract BR-005 speaks of the LLM).
    """

    def __init__(
        self,
        database: Database,
        prepare: PrepareSkill,
        notifier: Notifier,
        *,
        approve_after: int = 3,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._prepare = prepare
        self._notifier = notifier
        self._approve_after = approve_after
        self._clock = clock

    def announce(self, suggested: Sequence[Suggested]) -> None:
        """Notify people of suggestions with a new name, and approve those that were made often enough."""
        for suggestion in suggested:
            count(Metric.SUGGESTIONS_CREATED)
            if suggestion.is_first:
                self._notifier.notify(
                    "suggestion_created",
                    f"Skill suggested: {suggestion.draft.name}",
                    {
                        "suggestion_id": suggestion.id,
                        "suggested_name": suggestion.draft.name,
                        "suggested_description": suggestion.draft.description,
                        "reasoning": suggestion.draft.reasoning,
                        "tool_id": suggestion.tool.id,
                        "tool_name": suggestion.tool.name,
                        "server": suggestion.tool.server,
                        "approve": f"POST /api/v1/skills/suggestions/{suggestion.id}/approve",
                        "reject": f"POST /api/v1/skills/suggestions/{suggestion.id}/reject",
                    },
                )
        if self._approve_after > 0:
            for name, org_id in sorted(
                {(suggestion.draft.name, suggestion.tool.org_id) for suggestion in suggested},
                key=lambda pair: (pair[0], pair[1] or ""),
            ):
                self._approve_if_often(name, org_id)

    def approve_waiting(self, *, within_s: float = 5.0) -> None:
        """Approve what was suggested often enough, and was not at once, as when a process was killed.

        Organisations take turns, and none begins after `within_s` seconds: the next run takes up what is left.
        """
        if self._approve_after == 0:
            return
        deadline = Deadline(within_s, self._clock)
        for name, org_id in self._database.read(
            lambda session: SuggestionRepository(session).often(self._approve_after)
        ):
            if deadline.is_over:
                return
            self._approve_if_often(name, org_id)

    def _approve_if_often(self, name: str, org_id: str | None) -> None:
        try:
            same = self._database.read(lambda session: self._often(session, name, org_id))
            if not same:
                return
            first = self._database.read(
                lambda session: SuggestionRepository(session).get(same[0][0], org_id, rights=EVERYTHING)
            )
            skill_id = skill_id_of(name)
            # A skill that is there already has room for these tools: whether they fit is for people to decide.
            if first is None or self._database.read(
                lambda session: SkillRepository(session).get(skill_id, org_id, rights=EVERYTHING)
            ):
                return
            fields = {
                "id": skill_id,
                "org_id": org_id,
                "name": first.suggested_name,
                "description": enough(first.suggested_description, first.suggested_name),
            }
            new = validated(NewSkill, fields, whole="skill")
            prepared = self._prepare(new)
            tool_ids = sorted({tool_id for _, tool_id, _ in same if tool_id is not None})
            skill, tools = self._database.transact(
                lambda session: self._approve(session, prepared, name, org_id, tool_ids)
            )
        except SkillrouteError as error:
            # It stays pending, for people; the next suggestion of the name tries again.
            logger.warning("suggestion not approved by itself", extra={"suggested_name": name, "reason": str(error)})
            return
        if skill is None:
            return
        self._notifier.notify(
            "skill_auto_approved",
            f"Skill created: {skill.name}",
            {
                "skill_id": skill.id,
                "name": skill.name,
                "description": skill.description,
                "tool_ids": tools,
                "undo": f"DELETE /api/v1/skills/{skill.id}",
            },
        )

    def _often(
        self, session: Session, name: str, org_id: str | None, *, lock: bool = False
    ) -> list[tuple[int, int | None, AssignmentSource]]:
        """Return the open suggestions of a name when a language model made them for enough tools; else nothing.

        A name that a person refused, by rejecting it or by deleting the skill that came of it, is left to people.
        """
        same = [
            suggestion
            for suggestion in SuggestionRepository(session).same_name(name, org_id, lock=lock)
            if suggestion[1] is not None and suggestion[2] is AssignmentSource.LLM_AUTO
        ]
        enough_tools = len({tool_id for _, tool_id, _ in same}) >= self._approve_after
        return same if enough_tools and not SuggestionRepository(session).was_refused(name, org_id) else []

    def _approve(
        self, session: Session, prepared: PreparedSkill, name: str, org_id: str | None, tool_ids: Sequence[int]
    ) -> tuple[Skill | None, list[int]]:
        ClassificationRepository(session).lock(tool_ids)  # before suggestions are, as classifying does
        same = self._often(session, name, org_id, lock=True)
        if not same:
            return None, []
        tools = sorted({tool_id for _, tool_id, _ in same if tool_id is not None})
        locked = sorted(AssignmentRepository(session).lock_items(tools, org_id))
        skill = store(session, prepared)
        AssignmentRepository(session).lock_memberships(
            {skill.key} | AssignmentRepository(session).of_items(locked), org_id
        )
        bare = {id_: [Assignment(skill.id, _APPROVED_CONFIDENCE)] for id_ in locked}
        AssignmentRepository(session).replace(bare, {skill.id: skill.key}, AssignmentSource.LLM_AUTO)
        SuggestionRepository(session).review(
            [id_ for id_, _, _ in same],
            SuggestionStatus.APPROVED,
            skill_key=skill.key,
            reviewer=AUTO_APPROVER,
            reason=f"suggested for {len(tools)} tools",
        )
        return SkillRepository(session).get(skill.id, org_id, rights=EVERYTHING), locked


def enough(description: str, name: str) -> str:
    """Return a description that a skill may have: one of ten characters at least."""
    return description if len(description.strip()) >= 10 else f"Tools for {name}. {description}".strip()
