"""Proposing skills for the tools that are there, and applying a proposal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from skillroute.catalogue.model import Item, ItemFilter
from skillroute.catalogue.repository import ItemRepository
from skillroute.core.caller import Caller
from skillroute.core.chat.port import ChatModel
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.errors.model import Conflict
from skillroute.core.postgres.database import Database, Session
from skillroute.core.queue.outbox import OutboxRepository
from skillroute.core.ranking.k_means import Matrix
from skillroute.core.rights.decide import EVERYTHING
from skillroute.skills.assignments.repository import AssignmentRepository
from skillroute.skills.classification.repository import ClassificationRepository
from skillroute.skills.model import NewSkill, Skill
from skillroute.skills.queues import CLASSIFY

from skillroute_local.proposing.clusters import NONE, Clustering, cluster, damped
from skillroute_local.proposing.deeds import covered, deeds_of
from skillroute_local.proposing.naming import names_of, vocabulary_of
from skillroute_local.proposing.proposal import Applied, Proposal, ProposedSkill, Report, Wanted
from skillroute_local.proposing.wording import Topic, Worded, word
from skillroute_local.proposing.words import ToolText, examples_of, keywords_of

_PAGE = 500
_PURPOSE = 0.5
_MAX_DESCRIPTION_LENGTH = 1000  # only its first sentence is read


@dataclass(slots=True)
class _Tools:
    """The tools that are grouped, with their vectors, and those that are not."""

    texts: list[ToolText]
    vectors: Matrix
    weights: Matrix
    without_embedding: int
    without_skill: list[int]
    with_skill: list[int]


def propose(
    database: Database,
    chat: ChatModel | None,
    wanted: Wanted,
    *,
    timeout_s: float = 10.0,
    report: Report = lambda what, done, total: None,
) -> Proposal:
    """Group the tools by their vectors and make a skill of each group; nothing is written.

    Without a language model only groups whose name says what half of their tools are about: for the others somebody
    would have to find out what they are for.

    The same tools give the same groups. Raises `DatabaseUnavailable`.
    """
    tools = _read(database, wanted, partial(report, "reading tools"))
    found = cluster(
        tools.vectors,
        tools.weights,
        min_size=wanted.min_tools,
        count=wanted.skills,
        step=partial(report, "grouping"),
    )
    groups = [[tools.texts[i] for i in np.flatnonzero(found.labels == c)] for c in range(found.count)]
    topics = _topics(tools, found, groups)
    kept = [c for c, topic in enumerate(topics) if chat is not None or covered(groups[c], topic.title) >= _PURPOSE]
    loose = [len(group) for c, group in enumerate(groups) if c not in kept]
    worded, problems = word([topics[c] for c in kept], chat, timeout_s=timeout_s, step=partial(report, "naming"))
    cohesions = found.cohesions()
    ids = [wording.skill.id for wording in worded]
    existing = database.read(lambda session: AssignmentRepository(session).keys_of_skills(ids, wanted.org_id))
    return Proposal(
        skills=tuple(
            _proposed(wording, groups[c], cohesions[c], existing) for wording, c in zip(worded, kept, strict=True)
        ),
        tool_count=len(tools.texts),
        fits_none=tuple(tools.texts[i].name for i in np.flatnonzero(found.labels == NONE)),
        without_embedding=tools.without_embedding,
        silhouette=round(found.silhouette, 3),
        without_skill=tuple(tools.without_skill),
        problems=tuple(problems),
        with_skill=tuple(tools.with_skill),
        loose_groups=len(loose),
        loose_tools=sum(loose),
        by_words=chat is None,
    )


def apply(
    proposal: Proposal,
    database: Database,
    create_skill: Callable[[NewSkill, Caller], Skill],
    dispatch: Callable[[], object],
    caller: Caller,
    *,
    report: Report = lambda what, done, total: None,
) -> Applied:
    """Create the skills that are not there yet, and let the tools without any be classified, with the new ones too."""
    created, skipped = [], []
    for done, proposed in enumerate(proposal.skills, 1):
        try:
            created.append(create_skill(proposed.skill, caller).id)
        except Conflict as error:
            skipped.append(str(error))
        report("creating skills", done, len(proposal.skills))

    def queue(session: Session) -> list[int]:
        forgotten = ClassificationRepository(session).forget_unassigned(caller.org_id)
        waiting = sorted({*forgotten, *proposal.without_skill})
        OutboxRepository(session).enqueue(CLASSIFY, [str(id_) for id_ in waiting])
        return waiting

    queued = database.transact(queue)
    dispatch()
    return Applied(tuple(created), tuple(skipped), tuple(queued))


def _read(database: Database, wanted: Wanted, step: Callable[[int, int], object]) -> _Tools:
    model = database.read(lambda session: IndexStateRepository(session).models().current)
    texts, sources, vectors, missing = list[ToolText](), list[object](), list[Matrix](), 0
    without_skill, with_skill = list[int](), list[int]()
    for item, vector in _items(database, wanted.org_id, model, step):
        (with_skill if item.skill_ids else without_skill).append(item.id)
        if item.skill_ids and not wanted.all_tools:
            continue
        if vector is None:
            missing += 1
            continue
        content = item.content
        server = content.key.server or None
        texts.append(ToolText(content.key.name, content.description[:_MAX_DESCRIPTION_LENGTH], server))
        sources.append(server or item.id)
        vectors.append(np.array(vector, np.float32))
    matrix = np.stack(vectors) if vectors else np.zeros((0, 1), np.float32)
    weights = damped(sources)
    texts = [replace(tool, weight=float(weight)) for tool, weight in zip(texts, weights, strict=True)]
    return _Tools(texts, matrix, weights, missing, without_skill, with_skill)


def _items(
    database: Database, org_id: str | None, model: EmbeddingModel | None, step: Callable[[int, int], object]
) -> Iterator[tuple[Item, Vector | None]]:
    """Yield the organisation's own active items with their vectors, a page at a time: what is read is let go again."""
    offset, total = 0, 1
    while offset < total:

        def page(session: Session, offset: int = offset) -> tuple[int, int, list[tuple[Item, Vector | None]]]:
            items, total = ItemRepository(session).page(
                ItemFilter(), org_id, limit=_PAGE, offset=offset, rights=EVERYTHING
            )
            own = [item for item in items if item.org_id == org_id and item.is_active]
            profiles = ClassificationRepository(session).tools([item.id for item in own], model)
            vectors = {id_: profile.tool.embedding for id_, profile in profiles.items()}
            return len(items), total, [(item, vectors.get(item.id)) for item in own]

        number, total, own = database.read(page)
        yield from own
        offset += number or total  # a page may end before its limit, by its bytes; an empty one is the end
        step(min(offset, total), total)


def _topics(tools: _Tools, found: Clustering, groups: list[list[ToolText]]) -> list[Topic]:
    keywords = keywords_of(groups)
    names = names_of(groups, keywords, vocabulary_of(tools.texts))
    topics = []
    for c, (name, words) in enumerate(zip(names, keywords, strict=True)):
        members = np.flatnonzero(found.labels == c)
        nearest = examples_of((tools.texts[i], float(found.similarity[i])) for i in members)
        topics.append(Topic(name, tuple(words), tuple(nearest), deeds_of(groups[c])))
    return topics


def _proposed(worded: Worded, group: list[ToolText], cohesion: float, existing: Collection[str]) -> ProposedSkill:
    return ProposedSkill(
        skill=worded.skill,
        tool_count=len(group),
        server_count=len({text.server for text in group}),
        cohesion=round(cohesion, 3),
        worded_by=worded.by,
        exists=worded.skill.id in existing,
    )
