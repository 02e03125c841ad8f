"""Tools that the classifier would decide on differently today, and classifying these again through the queue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.postgres.database import Database, Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.classifiers.port import Classifier
from skillroute.skills.classification.model import HUMAN, SkillProfile, settle
from skillroute.skills.classification.profiles import SkillProfiles
from skillroute.skills.classification.repository import ClassificationRepository, ToClassify
from skillroute.skills.model import NewSkill
from skillroute.skills.queues import CLASSIFY

_BATCH = 500

Step = Callable[[int, int], object]
"""Called with how many tools are done, and of how many."""


@dataclass(frozen=True, slots=True)
class Move:
    """A tool whose primary skill would be another one, or none: `after` is None where no skill fits well enough."""

    tool_id: int
    tool: str
    before: str
    after: str | None
    confidence: float


def find_moves(
    database: Database,
    classifier: Classifier,
    tool_ids: Sequence[int],
    proposed: Sequence[NewSkill],
    org_id: str | None,
    *,
    timeout_s: float,
    step: Step = lambda done, total: None,
) -> list[Move]:
    """Ask the classifier about tools that a classifier gave a skill, with the proposed skills too; write nothing.

    Tools that a person decided on are not asked about.

    Raises
    ------
    ClassifierUnavailable
        The classifier failed.
    """
    model = database.read(lambda session: IndexStateRepository(session).models().current)
    existing = SkillProfiles(database)(org_id, model)
    known = {skill.id for skill in existing}
    offered = [*existing, *(_profile(skill, org_id) for skill in proposed if skill.id not in known)]
    ids = {skill.id for skill in offered}
    moves = []
    for done, (seen, before) in enumerate(_decided_by_classifier(database, tool_ids, model), 1):
        answer = classifier.classify(seen.tool, offered, timeout_s=timeout_s)
        settled = settle(answer.assignments, ids).assignments
        after = settled[0].skill_id if settled else None
        if after != before:
            name = f"{seen.tool.server}/{seen.tool.name}" if seen.tool.server else seen.tool.name
            moves.append(Move(seen.tool.id, name, before, after, settled[0].confidence if settled else 0.0))
        step(done, len(tool_ids))
    step(len(tool_ids), len(tool_ids))
    return moves


def queue_again(database: Database, tool_ids: Sequence[int], *, step: Step = lambda done, total: None) -> int:
    """Let tools be classified again; until that is done they keep what they have. Return how many.

    What a person decided meanwhile stays: the classifier leaves it alone (decision 18).
    """
    for start in range(0, len(tool_ids), _BATCH):
        batch = sorted(tool_ids)[start : start + _BATCH]

        def queue(session: Session, batch: Sequence[int] = batch) -> None:
            ClassificationRepository(session).forget(batch)
            OutboxRepository(session).enqueue(CLASSIFY, [str(id_) for id_ in batch])

        database.transact(queue)
        step(min(start + _BATCH, len(tool_ids)), len(tool_ids))
    return len(tool_ids)


def _decided_by_classifier(
    database: Database, tool_ids: Sequence[int], model: EmbeddingModel | None
) -> Iterator[tuple[ToClassify, str]]:
    """Yield tools that have skills by a classifier's decision, with their primary skill."""
    for start in range(0, len(tool_ids), _BATCH):
        batch = tool_ids[start : start + _BATCH]

        def read(session: Session, batch: Sequence[int] = batch) -> list[tuple[ToClassify, str]]:
            found = ClassificationRepository(session).tools(batch, model)
            pairs = []
            for seen in (found[id_] for id_ in batch if id_ in found):
                if seen.decided_by == HUMAN:
                    continue
                assigned = AssignmentRepository(session).of_item(seen.tool.id, seen.tool.org_id, rights=EVERYTHING)
                primary = next((assignment.skill_id for assignment in assigned if assignment.is_primary), None)
                if primary is not None:
                    pairs.append((seen, primary))
            return pairs

        yield from database.read(read)


def _profile(skill: NewSkill, org_id: str | None) -> SkillProfile:
    """Return a proposed skill as a classifier would see it: without tools that people gave it."""
    return SkillProfile(
        id=skill.id,
        org_id=org_id,
        name=skill.name,
        description=skill.description,
        keywords=tuple(skill.keywords),
        examples=tuple(skill.examples),
        description_embedding=None,
        centroid=None,
        fingerprint=f"proposed:{skill.model_dump_json()}",
    )
