"""Skills on trial: searches are measured before and after, and what makes them worse is taken back."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from skillroute.core.caller import Caller
from skillroute.core.errors.model import NotFound
from skillroute.core.postgres.database import Database, Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.model import HUMAN
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.model import Assignment, AssignmentSource, in_rank_order
from skillroute.skills.queues import CLASSIFY

_EVERY_S = 0.5

Step = Callable[[int, int], object]
"""Called with how many tools are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A tool's skills by a classifier's decision, as they were."""

    tool_id: int
    input_hash: str
    classifier: str
    source: AssignmentSource
    assignments: tuple[Assignment, ...]


def remember(database: Database, tool_ids: Sequence[int]) -> list[Kept]:
    """Return what classifiers decided on tools, to be restored with `take_back`."""

    def read(session: Session) -> list[Kept]:
        kept = []
        for id_, seen in ClassificationRepository(session).tools(tool_ids, None).items():
            assigned = AssignmentRepository(session).of_item(id_, seen.tool.org_id, rights=EVERYTHING)
            if seen.decided_by in (None, HUMAN) or seen.decided_hash is None or not assigned:
                continue
            ranked = in_rank_order([Assignment(own.skill_id, own.confidence, own.reasoning) for own in assigned])
            kept.append(Kept(id_, seen.decided_hash, str(seen.decided_by), assigned[0].source, tuple(ranked)))
        return kept

    return database.read(read)


def wait_until_classified(
    database: Database,
    tool_ids: Sequence[int],
    *,
    within_s: float,
    step: Step = lambda done, total: None,
    pause: Callable[[float], object] = time.sleep,
) -> bool:
    """Wait until no tool waits to be classified; False when that takes longer than `within_s` seconds."""
    keys = [str(id_) for id_ in tool_ids]
    for _ in range(max(1, round(within_s / _EVERY_S))):
        waiting = len(database.read(lambda session: OutboxRepository(session).versions(CLASSIFY, keys)))
        step(len(keys) - waiting, len(keys))
        if not waiting:
            return True
        pause(_EVERY_S)
    return False


def take_back(
    database: Database,
    created: Iterable[str],
    kept: Sequence[Kept],
    delete_skill: Callable[[str, Caller], object],
    dispatch: Callable[[], object],
    caller: Caller,
) -> None:
    """Delete the skills that were created, and give tools the skills that they had.

    What a person decided meanwhile stays. Tools that had no skill before are classified again, as after any deletion.
    """
    for skill_id in created:
        try:
            delete_skill(skill_id, caller)
        except NotFound:  # another request was faster
            continue

    def restore(session: Session) -> None:
        ids = [tool.tool_id for tool in kept]
        ClassificationRepository(session).lock(ids)
        now = ClassificationRepository(session).tools(ids, None)
        by_source: dict[AssignmentSource, dict[int, Sequence[Assignment]]] = defaultdict(dict)
        restored = [tool for tool in kept if tool.tool_id in now and now[tool.tool_id].decided_by != HUMAN]
        named = {assignment.skill_id for tool in restored for assignment in tool.assignments}
        assignments = AssignmentRepository(session)
        keys = assignments.keys_of_skills(named, caller.org_id)
        assignments.lock_memberships({*keys.values(), *assignments.of_items(ids)}, caller.org_id)
        for tool in restored:
            by_source[tool.source][tool.tool_id] = [a for a in tool.assignments if a.skill_id in keys]
        for source, of_tools in by_source.items():
            assignments.replace(of_tools, keys, source)
        for tool in restored:
            ClassificationRepository(session).record({tool.tool_id: tool.input_hash}, tool.classifier)

    if kept:
        database.transact(restore)
    dispatch()
