"""Whether a request leads to its tool: none may be nearer to another tool that its organisation sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillroute.catalogue.collection import TOOL_DOCUMENTS
from skillroute.core.caller import Caller
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.model import IndexFilter, IndexHit
from skillroute.core.documents.replica_port import LendsIndex
from skillroute.core.documents.visibility import visible_to
from skillroute.core.embedding.model import EmbeddingModel, Vector, blend, dot, weighted_mean
from skillroute.core.embedding.query import QueryEmbedder
from skillroute.core.embedding.views import HARMLESS, REQUESTS_WEIGHT, VIEW_WEIGHTS
from skillroute.core.errors.model import TextRefused
from skillroute.core.postgres.database import Database
from skillroute.skills.classification.model import ToolProfile
from skillroute.skills.classification.repository import ClassificationRepository

_RIVALS = 5
_SAME = 0.001
"""Of cosines: vectors are kept as float32, or halves, and computed here as doubles."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The requests of a tool that lead to it, and how many do not, or cannot be embedded."""

    kept: tuple[str, ...]
    strays: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class _Own:
    """The vector of a tool's own texts, and the one that it would have with the requests that are judged."""

    alone: Vector
    with_requests: Vector

    def loses(self, vector: Vector, hit: IndexHit, others: Mapping[str, bool]) -> bool:
        """Return whether a request is nearer to another tool: like is compared with like, or who has requests wins."""
        has_requests = others.get(hit.key)
        if has_requests is None:
            return False
        return hit.score > dot(vector, self.with_requests if has_requests else self.alone) + _SAME


class NearestTools:
    """Compares requests with the tools of the index.

    Parameters
    ----------
    replica : LendsIndex
        Only what an organisation sees is asked of it: global tools, and its own (decision 26).
    embedder : QueryEmbedder
    database : Database
    """

    def __init__(self, replica: LendsIndex, embedder: QueryEmbedder, database: Database) -> None:
        self._database = database
        self._replica = replica
        self._embedder = embedder

    def require_ready(self) -> None:
        """See that the index and the embedding model answer. Raises as a call does."""
        with self._replica.current() as index:
            self._embedder.embed(HARMLESS, index.model)

    def __call__(self, asked: Sequence[tuple[ToolProfile, Sequence[str]]], org_id: str | None) -> list[Judged]:
        """Return which requests of an organisation's tools are as near to their own tool as to any other.

        Requests that the own tool has now are no evidence for others: its vector is made of its texts, and compared
        with a tool that has requests, of those that are judged, too. Else whoever got requests first would keep the
        others from any.
        Tools of the same name and description are one tool to a request, whichever server offers them.

        Raises
        ------
        EmbeddingUnavailable, IndexUnavailable, DatabaseUnavailable
            Nothing was compared.
        """
        with self._replica.current() as index:
            return [self._judged(index, tool, texts, org_id) for tool, texts in asked]

    def _judged(self, index: LentIndex, tool: ToolProfile, texts: Sequence[str], org_id: str | None) -> Judged:
        vectors = self._vectors(texts, index.model)
        own = self._own(tool, vectors, index.model)
        if not vectors or own is None:
            return Judged((), refused=len(texts))
        where = IndexFilter({**visible_to(Caller(org_id=org_id)).any_of, "type": ["tool"]})
        found = index.search_each(TOOL_DOCUMENTS, list(vectors.values()), where=where, limit=_RIVALS)
        rivals = {
            text: [hit for hit in hits if hit.key != str(tool.id) and hit.score > dot(vector, own.alone) + _SAME]
            for (text, vector), hits in zip(vectors.items(), found, strict=True)
        }
        keys = sorted({hit.key for hits in rivals.values() for hit in hits})
        others = self._others(index, keys, tool) if keys else {}
        kept = tuple(
            text for text, vector in vectors.items() if not any(own.loses(vector, hit, others) for hit in rivals[text])
        )
        return Judged(kept, strays=len(vectors) - len(kept), refused=len(texts) - len(vectors))

    def _others(self, index: LentIndex, keys: Sequence[str], tool: ToolProfile) -> dict[str, bool]:
        """Return the tools among these that are others than this one, and whether each has requests."""
        payloads = index.payloads(TOOL_DOCUMENTS, keys)
        ids = [int(key) for key in keys]
        with_requests = self._database.read(lambda session: ClassificationRepository(session).with_requests(ids))
        return {
            key: int(key) in with_requests
            for key, payload in payloads.items()
            if (payload["name"], payload.get("description", "")) != (tool.name, tool.description)
        }

    def _vectors(self, texts: Sequence[str], model: EmbeddingModel) -> dict[str, Vector]:
        """Embed texts; those that the model does not take are left out."""
        try:
            return dict(zip(texts, self._embedder.embed_all(texts, model), strict=True))
        except TextRefused:
            if len(texts) == 1:
                return {}
            return {text: vector for one in texts for text, vector in self._vectors([one], model).items()}

    def _own(self, tool: ToolProfile, requests: Mapping[str, Vector], model: EmbeddingModel) -> _Own | None:
        """Return the vectors of a tool; None where the model does not take one of its texts, or there are none."""
        views = tool.embedding_texts[: len(VIEW_WEIGHTS)]
        vectors = self._vectors(list(dict.fromkeys(views)), model) if views else {}
        if not views or not all(view in vectors for view in views):
            return None
        alone = weighted_mean(zip((vectors[view] for view in views), VIEW_WEIGHTS, strict=False))
        theirs = weighted_mean((vector, 1.0) for vector in requests.values())
        if alone is None or theirs is None:
            return None
        return _Own(alone, blend(alone, theirs, REQUESTS_WEIGHT, unused=model.unused))
