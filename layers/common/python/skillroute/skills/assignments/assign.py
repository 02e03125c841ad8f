"""Assigning items to skills by hand: whole sets replaced at once, never a gap (BR-003, BR-006, decisions 15 to 19)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from skillroute.catalogue.access import own_item, visible_item
from skillroute.core.access import not_found
from skillroute.core.bulk.versions import Expected, check_version
from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode, Kind
from skillroute.core.errors.model import Conflict, InvalidInput
from skillroute.core.input.json_input import check_json
from skillroute.core.postgres.database import Database, Session
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.model import HUMAN
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.model import (
    MAX_SKILLS_PER_TOOL,
    MAX_TOOLS_PER_SKILL,
    Assignment,
    AssignmentSource,
    SkillKey,
    SkillsOfItem,
    in_rank_order,
    possible_keys,
)
from skillroute.skills.suggestions.repository import SuggestionRepository


class AssignSkills:
    """Replaces the assignments of items by what a person decides. Classifiers leave them alone from then on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def __call__(
        self,
        assignments: Mapping[int, Sequence[Assignment]],
        caller: Caller,
        source: AssignmentSource | None = None,
    ) -> set[SkillKey]:
        """Make these the only assignments of each item, all in one transaction.

        The items are the caller's own; the skills are global or the caller's own (decision 26).

        Parameters
        ----------
        assignments : mapping of item id to assignments
            The one with the highest confidence becomes primary. No assignments leave the item without skills, and a
            classifier gives it none either.
        source : AssignmentSource, optional
            `HUMAN_MANUAL` or `HUMAN_OVERRIDE`; by default an override where a classifier's assignments are replaced.

        Returns
        -------
        set of SkillKey
            The skills whose members changed; their embeddings follow through the queue.

        Raises
        ------
        InvalidInput
            More than five skills, a skill named twice, a confidence outside 0..1, or a text with NUL in it.
        NotFound
            An item or a skill does not exist, or is not the caller's to use. Nothing was written.
        Conflict
            A skill has as many tools that the caller sees as a skill may. Nothing was written.
        """
        for item_id, given in assignments.items():
            _check(item_id, given)
        ranked = {item_id: in_rank_order(list(given)) for item_id, given in assignments.items()}
        return self._database.transact(lambda session: assign(session, ranked, caller, source))

    def of_item(self, item_id: int, caller: Caller) -> SkillsOfItem:
        """Return an item's skills, inactive ones too. Raises `NotFound`."""

        def read(session: Session) -> SkillsOfItem:
            visible_item(session, item_id, caller)
            return _skills_of(session, item_id, caller)

        return self._database.read(read)

    def of_tool(
        self,
        item_id: int,
        given: Sequence[Assignment],
        caller: Caller,
        source: AssignmentSource | None = None,
        *,
        as_read: Sequence[object] | None = None,
        expected: Expected | None = None,
    ) -> SkillsOfItem:
        """Replace the skills of one item, and return them.

        Parameters
        ----------
        as_read : sequence, optional
            The sources of those given, where they are put back as they were read. If they are the same still, no person
            has decided anything, and nothing is written.
        expected : Expected, optional
            The version of the item's skills that the caller has read.

        Raises
        ------
        InvalidInput, NotFound, Conflict
            As `__call__` does.
        Forbidden
            The item is not the caller's.
        VersionConflict
            It is not the version that is expected.
        """
        _check(item_id, given)
        ranked = in_rank_order(list(given))

        def replace(session: Session) -> SkillsOfItem:
            own_item(session, item_id, caller)
            AssignmentRepository(session).lock_items([item_id], caller.org_id)
            before = _skills_of(session, item_id, caller)
            check_version(expected, before.version, f"the skills of item {item_id}")
            if as_read is not None and before.are(given, as_read):
                return before
            assign(session, {item_id: ranked}, caller, source)
            return _skills_of(session, item_id, caller)

        return self._database.transact(replace)


def _skills_of(session: Session, item_id: int, caller: Caller) -> SkillsOfItem:
    return SkillsOfItem(tuple(AssignmentRepository(session).of_item(item_id, caller.org_id, rights=caller.rights)))


def assign(
    session: Session,
    ranked: Mapping[int, Sequence[Assignment]],
    caller: Caller,
    source: AssignmentSource | None = None,
) -> set[SkillKey]:
    """Replace, within a transaction, the assignments of items by what a person decided; see `AssignSkills`."""
    assignments = AssignmentRepository(session)
    _require(set(ranked), assignments.lock_items(list(ranked), caller.org_id), "item")
    named = {assignment.skill_id for given in ranked.values() for assignment in given}
    # Whichever of them it turns out to be, as soon as they are locked.
    touched = possible_keys(named, caller.org_id) | assignments.of_items(list(ranked))
    assignments.lock_memberships(touched, caller.org_id)
    keys = assignments.keys_of_skills(named, caller.org_id)
    _require(named, set(keys), "skill")
    wanted = Counter(assignment.skill_id for given in ranked.values() for assignment in given)
    room = assignments.room(keys.values(), list(ranked), caller.org_id)
    full = [skill_id for skill_id, number in wanted.items() if number > room[keys[skill_id]]]
    if full:
        raise Conflict(
            f"{', '.join(sorted(full))}: a skill has at most {MAX_TOOLS_PER_SKILL} tools", ErrorCode.SKILL_FULL
        )
    tools = ClassificationRepository(session).tools(list(ranked), None)
    changed: set[SkillKey] = set()
    for chosen, items in _by_source(ranked, source, {id_: seen.decided_by for id_, seen in tools.items()}).items():
        changed |= assignments.replace(items, keys, chosen)
    ClassificationRepository(session).record({id_: seen.tool.input_hash for id_, seen in tools.items()}, HUMAN)
    SuggestionRepository(session).drop_of(list(ranked))
    session.note_news()
    return changed


def _by_source(
    ranked: Mapping[int, Sequence[Assignment]], source: AssignmentSource | None, decided_by: Mapping[int, str | None]
) -> dict[AssignmentSource, dict[int, Sequence[Assignment]]]:
    groups: dict[AssignmentSource, dict[int, Sequence[Assignment]]] = {}
    for item_id, given in ranked.items():
        by_people = decided_by.get(item_id) in {None, HUMAN}
        chosen = source or (AssignmentSource.HUMAN_MANUAL if by_people else AssignmentSource.HUMAN_OVERRIDE)
        groups.setdefault(chosen, {})[item_id] = given
    return groups


def _check(item_id: int, given: Sequence[Assignment]) -> None:
    if len(given) > MAX_SKILLS_PER_TOOL:
        raise InvalidInput("skills", f"item {item_id}: {len(given)} skills; at most {MAX_SKILLS_PER_TOOL} are allowed")
    if len({assignment.skill_id for assignment in given}) < len(given):
        raise InvalidInput("skills", f"item {item_id}: a skill is named twice")
    for assignment in given:
        if not 0.0 <= assignment.confidence <= 1.0:
            raise InvalidInput("confidence", f"item {item_id}: {assignment.confidence} is not within 0..1")
        check_json({"reasoning": assignment.reasoning})


def _require(wanted: set[int] | set[str], existing: set[int] | set[str], kind: Kind) -> None:
    missing = sorted(map(str, wanted - existing))
    if missing:
        raise not_found(kind, ", ".join(missing))
