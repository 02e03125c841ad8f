"""Storing what classifiers answered: assignments replaced, suggestions queued, work taken off, all at once (BR-003)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillroute.core.observability import logger
from skillroute.core.postgres.database import Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.classifiers.port import Classifier
from skillroute.skills.classification.model import (
    HUMAN,
    Classification,
    Decision,
    Outcome,
    Settled,
    SkillDraft,
    ToolProfile,
    settle,
)
from skillroute.skills.classification.repository import ClassificationRepository, ToClassify
from skillroute.skills.model import Assignment, AssignmentSource, SkillKey
from skillroute.skills.queues import CLASSIFY
from skillroute.skills.suggestions.drafts import draft_for
from skillroute.skills.suggestions.repository import SuggestionRepository


@dataclass(frozen=True, slots=True)
class Answer:
    """A classifier's answer, the tool as it was asked about, and the keys of the skills that it could choose from."""

    seen: ToClassify
    classification: Classification
    offered: Mapping[str, SkillKey]

    @property
    def tool(self) -> ToolProfile:
        """The tool that was asked about."""
        return self.seen.tool


@dataclass(frozen=True, slots=True)
class Suggested:
    """A suggestion that was made, `is_first` when no other of its name was open."""

    id: int
    draft: SkillDraft
    tool: ToolProfile
    is_first: bool


@dataclass(frozen=True, slots=True)
class Stored:
    """The result of storing the answers."""

    outcomes: list[Outcome]
    suggested: list[Suggested]


class StoreClassifications:
    """Stores answers for tools of one organisation within a transaction."""

    def __init__(self, classifier: Classifier, min_confidence: float) -> None:
        self._classifier = classifier
        self._min_confidence = min_confidence

    def __call__(self, session: Session, answers: Sequence[Answer], org_id: str | None, *, force: bool) -> Stored:
        """Replace the assignments of every tool that is still the one the classifier was asked about.

        What a person decided meanwhile stays: `force` overrules what was decided before it was asked for. Skills that
        were deleted or deactivated meanwhile, and such as have no room, are not assigned (skill-contract EC-002).
        """
        overtaken, current = self._still_current(session, answers, force=force)
        settled, keys = self._settle(session, current, org_id)
        assigned = {id_: chosen.assignments for id_, chosen in settled.items()}
        AssignmentRepository(session).replace(assigned, keys, self._classifier.source)
        ClassificationRepository(session).record(
            {answer.tool.id: answer.tool.input_hash for answer in current}, self._classifier.name
        )
        suggested = self._suggest(session, [answer for answer in current if not settled[answer.tool.id].assignments])
        SuggestionRepository(session).drop_of([id_ for id_, chosen in settled.items() if chosen.assignments])
        versions = {str(answer.tool.id): answer.seen.version for answer in answers}
        OutboxRepository(session).done(
            CLASSIFY, {key: version for key, version in versions.items() if version is not None}
        )
        session.note_news()
        drafts = {suggestion.tool.id: suggestion.draft for suggestion in suggested}
        outcomes = [
            Outcome(
                answer.tool.id,
                Decision.SUGGESTED if answer.tool.id in drafts else Decision.CLASSIFIED,
                answer.tool.name,
                settled[answer.tool.id].assignments,
                drafts.get(answer.tool.id),
            )
            for answer in current
        ]
        return Stored([*overtaken, *outcomes], suggested)

    @staticmethod
    def _still_current(
        session: Session, answers: Sequence[Answer], *, force: bool
    ) -> tuple[list[Outcome], list[Answer]]:
        """Lock the tools, and part those that changed, went, or were decided on by a person since they were read."""
        ids = [answer.tool.id for answer in answers]
        ClassificationRepository(session).lock(ids)
        found = ClassificationRepository(session).tools(ids, None)
        overtaken: list[Outcome] = []
        current: list[Answer] = []
        for answer in answers:
            now = found.get(answer.tool.id)
            if now is None:
                overtaken.append(Outcome(answer.tool.id, Decision.GONE, answer.tool.name))
            elif now.decided_by == HUMAN and not (force and now.decided_at == answer.seen.decided_at):
                assigned = current_assignments(session, now.tool)
                overtaken.append(Outcome(answer.tool.id, Decision.HUMAN, answer.tool.name, assigned))
            elif now.tool.input_hash != answer.tool.input_hash:
                overtaken.append(Outcome(answer.tool.id, Decision.OVERTAKEN, answer.tool.name))
            else:
                current.append(answer)
        return overtaken, current

    def _settle(
        self, session: Session, answers: Sequence[Answer], org_id: str | None
    ) -> tuple[dict[int, Settled], dict[str, SkillKey]]:
        """Decide on the answers; return also the keys of the skills that tools may be given, by id."""
        ids = [answer.tool.id for answer in answers]
        proposed = {
            p.skill_id: answer.offered[p.skill_id]
            for answer in answers
            for p in answer.classification.assignments
            if p.skill_id in answer.offered
        }
        AssignmentRepository(session).lock_memberships(
            {*proposed.values(), *AssignmentRepository(session).of_items(ids)}, org_id
        )
        now = AssignmentRepository(session).keys_of_skills(proposed.keys(), org_id, only_active=True)
        # Another skill of the same id, come meanwhile, is not the one that the classifier was shown.
        keys = {skill_id: key for skill_id, key in now.items() if key == proposed[skill_id]}
        room = AssignmentRepository(session).room(keys.values(), ids, org_id)
        settled: dict[int, Settled] = {}
        for answer in answers:
            open_ = {skill_id for skill_id, key in keys.items() if room[key] > 0}
            full = {p.skill_id for p in answer.classification.assignments} & (keys.keys() - open_)
            if full:
                extra = {"tool_id": answer.tool.id, "skill_ids": sorted(full)}
                logger.warning("skills have no room for more tools", extra=extra)
            chosen = settle(answer.classification.assignments, open_, min_confidence=self._min_confidence)
            for assignment in chosen.assignments:
                room[keys[assignment.skill_id]] -= 1
            _log(answer.tool.id, chosen)
            settled[answer.tool.id] = chosen
        return settled, keys

    def _suggest(self, session: Session, answers: Sequence[Answer]) -> list[Suggested]:
        suggested = []
        for answer in answers:
            draft = draft_for(answer.tool, answer.classification.suggestion)
            # What the classifier did not say itself is a draft of ours, and no language model's vote for a name.
            has_suggestion = answer.classification.suggestion is not None
            source = self._classifier.source if has_suggestion else AssignmentSource.SIMILARITY
            id_, is_first = SuggestionRepository(session).add(draft, answer.tool, source)
            suggested.append(Suggested(id_, draft, answer.tool, is_first))
        return suggested


def current_assignments(session: Session, tool: ToolProfile) -> tuple[Assignment, ...]:
    """Return the skills that a tool has, the primary one first."""
    assigned = AssignmentRepository(session).of_item(tool.id, tool.org_id, rights=EVERYTHING)
    ranked = sorted(
        assigned, key=lambda assignment: (not assignment.is_primary, -assignment.confidence, assignment.skill_id)
    )
    return tuple(Assignment(assignment.skill_id, assignment.confidence, assignment.reasoning) for assignment in ranked)


def _log(tool_id: int, settled: Settled) -> None:
    if settled.rejected:
        rejected = [(proposal.skill_id[:64], proposal.confidence) for proposal in settled.rejected]
        logger.warning("proposed skills rejected", extra={"tool_id": tool_id, "rejected": rejected})
    if settled.weak:
        weak = [(proposal.skill_id, round(proposal.confidence, 3)) for proposal in settled.weak]
        logger.info("weak matches not assigned", extra={"tool_id": tool_id, "weak": weak})
