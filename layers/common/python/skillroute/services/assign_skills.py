"""Assigning items to skills: whole sets replaced at once, never a gap (skill-contract BR-003, decisions 15 and 19)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from skillroute.domain.caller import Caller
from skillroute.domain.skills import MAX_SKILLS_PER_TOOL, Assignment, AssignmentSource, in_rank_order
from skillroute.errors import InvalidInput, NotFound
from skillroute.ports import Database, Session
from skillroute.services.aggregate_skill import AggregateSkill


class AssignSkills:
    """Replaces the assignments of items and brings the embeddings of the skills concerned up to date."""

    def __init__(
        self, database: Database, aggregate: AggregateSkill, *, after_commit: Callable[[], None] = lambda: None
    ) -> None:
        self._database = database
        self._aggregate = aggregate
        self._after_commit = after_commit

    def __call__(
        self, assignments: Mapping[int, Sequence[Assignment]], source: AssignmentSource, caller: Caller
    ) -> set[str]:
        """Make these the only assignments of each item, all in one transaction.

        The items are the caller's own; the skills are global or the caller's own (decisions 26).

        Parameters
        ----------
        assignments : mapping of item id to assignments
            The one with the highest confidence becomes primary. No assignments leave the item without skills.

        Returns
        -------
        set of str
            The skills whose members changed; their embeddings are current when this returns.

        Raises
        ------
        InvalidInput
            More than five skills, a skill named twice, or a confidence outside 0..1.
        NotFound
            An item or a skill does not exist, or is not the caller's to use. Nothing was written.
        """
        for item_id, given in assignments.items():
            _check(item_id, given)
        ranked = {item_id: in_rank_order(list(given)) for item_id, given in assignments.items()}

        def assign(session: Session) -> set[str]:
            _require(set(ranked), session.skills.existing_items(list(ranked), caller.org_id), "item")
            named = sorted({assignment.skill_id for given in ranked.values() for assignment in given})
            _require(set(named), session.skills.existing(named, caller.org_id), "skill")
            return session.skills.assign(ranked, source)

        changed = self._database.transact(assign)
        for skill_id in sorted(changed):
            self._aggregate(skill_id)
        if changed:
            self._after_commit()
        return changed


def _check(item_id: int, given: Sequence[Assignment]) -> None:
    if len(given) > MAX_SKILLS_PER_TOOL:
        raise InvalidInput("skills", f"item {item_id}: {len(given)} skills; at most {MAX_SKILLS_PER_TOOL} are allowed")
    if len({assignment.skill_id for assignment in given}) < len(given):
        raise InvalidInput("skills", f"item {item_id}: a skill is named twice")
    for assignment in given:
        if not 0.0 <= assignment.confidence <= 1.0:
            raise InvalidInput("confidence", f"item {item_id}: {assignment.confidence} is not within 0..1")


def _require(wanted: set[int] | set[str], existing: set[int] | set[str], what: str) -> None:
    missing = sorted(map(str, wanted - existing))
    if missing:
        raise NotFound(f"no {what} with id {', '.join(missing)}")
