"""Decisions on the skills of items as part of their lines: source, confidence, and whether they still hold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from skillroute.core.caller import Caller
from skillroute.core.errors.codes import ErrorCode
from skillroute.core.errors.model import Conflict
from skillroute.core.errors.problems import FieldProblem
from skillroute.core.input.json_input import examined_json, together, validated
from skillroute.core.portable.model import Line, iso, shown_moment
from skillroute.core.postgres.database import Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.model import AssignmentSource, SkillKey, id_in_key, possible_keys
from skillroute.skills.portable_lines import Assigned, Decided, decided_warnings
from skillroute.skills.queues import CLASSIFY
from skillroute.skills.suggestions.repository import SuggestionRepository


class ItemDecisions:
    """`SkillsOfItems` for the slice of items."""

    def version(self, session: Session, org_id: str | None) -> str:
        found: str = session.run("version_of_decisions", org_id=org_id)[0][0]
        return found

    def shown(self, session: Session, item_ids: Sequence[int]) -> dict[int, Line]:
        return {id_: _line(decided) for id_, decided in self._stored(session, item_ids).items()}

    def read(self, raw: object) -> Decided:
        _, problems = examined_json(raw, whole="skills")
        return together(problems, lambda: validated(Decided, raw, whole="assigned"))

    def warnings(self, raw: object) -> Iterator[FieldProblem]:
        return decided_warnings(raw)

    def unknown(self, session: Session, decided: Sequence[Decided], caller: Caller) -> list[FieldProblem | None]:
        known = AssignmentRepository(session).keys_of_skills(_named(decided), caller.org_id)
        return [
            next(
                (
                    FieldProblem(f"assigned.{place}.skill_id", f"there is no skill {skill.skill_id}")
                    for place, skill in enumerate(one.assigned)
                    if skill.skill_id not in known
                ),
                None,
            )
            for one in decided
        ]

    def write(self, session: Session, decided: Mapping[int, Decided], caller: Caller) -> set[int]:
        """Store decisions; see `SkillsOfItems`.

        Raises
        ------
        Conflict
            A skill was deleted at this moment, or has as many tools as it may have.
        """
        ids = list(decided)
        assignments = AssignmentRepository(session)
        assignments.lock_items(ids, caller.org_id)
        assignments.lock_memberships(
            possible_keys(_named(decided.values()), caller.org_id) | assignments.of_items(ids), caller.org_id
        )
        stored = self._stored(session, ids)
        differing = {id_: one for id_, one in decided.items() if id_ in stored and not one.same_as(stored[id_])}
        if differing:
            keys = _keys(session, differing, caller)
            _store(session, differing, keys)
        _take_off(session, [id_ for id_, one in decided.items() if not one.waits])
        return set(differing)

    @staticmethod
    def _stored(session: Session, item_ids: Sequence[int]) -> dict[int, Decided]:
        rows = session.run("decisions_on_items", ids=list(item_ids))
        return {row[0]: _to_decided(*row[1:]) for row in rows}


def _keys(session: Session, decided: Mapping[int, Decided], caller: Caller) -> dict[str, SkillKey]:
    """Return the keys of all skills that are named, which have room for the items. Raises `Conflict`."""
    named = _named(decided.values())
    keys = AssignmentRepository(session).keys_of_skills(named, caller.org_id)
    if missing := sorted(named - keys.keys()):
        raise Conflict(f"skill {missing[0]} was deleted meanwhile: import the lines again", ErrorCode.CHANGED_MEANWHILE)
    room = AssignmentRepository(session).room(keys.values(), list(decided), caller.org_id)
    wanted = Counter(skill.skill_id for one in decided.values() for skill in one.assigned)
    if full := sorted(skill_id for skill_id, number in wanted.items() if number > room[keys[skill_id]]):
        raise Conflict(f"{full[0]}: the skill has as many tools as it may have", ErrorCode.SKILL_FULL)
    return keys


def _store(session: Session, decided: Mapping[int, Decided], keys: Mapping[str, SkillKey]) -> None:
    rows = json.dumps(
        [
            {
                "tool_id": item_id,
                "skill_key": keys[skill.skill_id],
                "confidence": skill.confidence,
                "is_primary": skill.is_primary,
                "source": skill.source.value,
                "reasoning": skill.reasoning,
                "assigned_at": iso(skill.assigned_at),
            }
            for item_id, one in decided.items()
            for skill in one.assigned
        ]
    )
    session.run("delete_assignments", tool_ids=sorted(decided), rows=rows)
    session.run("demote_primaries", rows=rows)
    session.run("restore_assignments", rows=rows)
    by_somebody = [
        {
            "tool_id": item_id,
            "input_hash": one.input_hash,
            "classifier": one.decided_by,
            "classified_at": iso(one.decided_at),
        }
        for item_id, one in decided.items()
        if one.decided_by is not None
    ]
    session.run("restore_classifications", rows=json.dumps(by_somebody))
    ClassificationRepository(session).forget([id_ for id_, one in decided.items() if one.decided_by is None])
    SuggestionRepository(session).drop_of([id_ for id_, one in decided.items() if one.assigned])


def _take_off(session: Session, item_ids: Sequence[int]) -> None:
    """Take items off the queue of those that are to be classified: what was decided on them holds."""
    outbox = OutboxRepository(session)
    if waiting := outbox.versions(CLASSIFY, [str(id_) for id_ in item_ids]):
        outbox.done(CLASSIFY, waiting)


def _named(decided: Iterable[Decided]) -> set[str]:
    return {skill.skill_id for one in decided for skill in one.assigned}


def _to_decided(
    classifier: str | None, at: datetime | None, input_hash: str | None, waits: bool, assigned: list[list[Any]] | None
) -> Decided:
    return Decided.model_construct(
        decided_by=classifier,
        decided_at=at,
        input_hash=input_hash,
        waits=waits,
        assigned=tuple(
            Assigned.model_construct(
                skill_id=id_in_key(key),
                confidence=float(confidence),
                is_primary=is_primary,
                source=AssignmentSource(source),
                reasoning=reasoning,
                assigned_at=datetime.fromisoformat(assigned_at),
            )
            for key, confidence, is_primary, source, reasoning, assigned_at in assigned or ()
        ),
    )


def _line(decided: Decided) -> dict[str, Any]:
    return {
        "decided_by": decided.decided_by,
        "decided_at": shown_moment(decided.decided_at),
        "input_hash": decided.input_hash,
        "waits": decided.waits,
        "assigned": [
            {
                "skill_id": skill.skill_id,
                "confidence": skill.confidence,
                "is_primary": skill.is_primary,
                "source": skill.source.value,
                "reasoning": skill.reasoning,
                "assigned_at": shown_moment(skill.assigned_at),
            }
            for skill in decided.assigned
        ],
    }
