"""Learning, as it is measured by the searches of this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from skillroute.core.settings import LearningScheduleSettings
from skillroute.wiring.parts import CoreParts

if TYPE_CHECKING:
    from skillroute.core.embedding.model import EmbeddingModel, Vector
    from skillroute.learning.learn.learn import Learn
    from skillroute.learning.learn.measure import Ask, HeldOut
    from skillroute.search.learned import LearnedRequests


def make_learn(core: CoreParts) -> Learn:
    """Return what learns for an organisation, measured by the searches of this process."""
    from skillroute.learning.learn.learn import Learn

    return Learn(core.database, core.query_embedder.model, lambda org_id, model: _ask_as(core, org_id, model))


def queues_due(core: CoreParts) -> Mapping[str, Callable[[], int]]:
    """Return the relay's step that queues the learning of organisations; none without queues."""
    every_h = core.of(LearningScheduleSettings).learn_every_h
    if core.queue is None or every_h == 0:
        return {}
    from skillroute.learning.learn.runs import QueueLearning

    return {"queue learning": QueueLearning(core.storage, every_h=every_h)}


def _ask_as(core: CoreParts, org_id: str | None, model: EmbeddingModel) -> Ask:
    from skillroute.core.caller import Caller, Scope
    from skillroute.core.embedding.query import QueryEmbedder
    from skillroute.core.errors.model import DependencyUnavailable
    from skillroute.core.recent_searches import RecentSearches
    from skillroute.search.model import SearchRequest
    from skillroute.wiring.search import make_tool_search

    caller = Caller(org_id=org_id, scopes=frozenset({Scope.SEARCH}))

    def ask(searched: HeldOut, learned: LearnedRequests | None) -> Sequence[str]:
        # Where texts are left out, meaning alone is measured: a word that is in no tool stands for the text.
        text = searched.text or "\N{WORD JOINER}0"
        embedder = core.query_embedder if searched.text else QueryEmbedder(_Known(model, list(searched.vector)))
        search = make_tool_search(core, RecentSearches(), None, _Fixed(learned), embedder)
        request = SearchRequest(query=text[:1000], limit=5, include_schemas=False)
        found = search.search(request, caller, door=None)
        if degraded := set(found.metadata.degraded) - {"index_stale"}:
            # One half of a measurement by words and the other by both would compare these.
            raise DependencyUnavailable(f"a search that is measured degraded: {', '.join(sorted(degraded))}")
        return [tool.id for tool in found.tools]

    return ask


class _Fixed:
    """`Learned` that is the same for all callers."""

    def __init__(self, learned: LearnedRequests | None) -> None:
        self._learned = learned

    def of(self, caller: object, model: object) -> LearnedRequests | None:
        return self._learned


class _Known:
    """`Embedder` of one vector, which every text has."""

    def __init__(self, model: EmbeddingModel, vector: Vector) -> None:
        self.model = model
        self._vector = vector

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        return [self._vector for _ in texts]
