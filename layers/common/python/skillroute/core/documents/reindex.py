"""Moving a database to another embedding model, and telling every index to read everything again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillroute.core.documents.check_points import mend_points
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.embed import BATCH, embed_rows
from skillroute.core.documents.index_state import IndexStateRepository, renumber
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.documents.upkeep import mend_documents
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.embedding.port import Embedder
from skillroute.core.errors.model import EmbeddingModelMismatch
from skillroute.core.postgres.database import Database, Session

_ROUNDS = 5
"""Looks at what was written while the last look was embedded."""


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """How many documents of each collection were embedded."""

    embedded: Counter[Collection]


class Reindex:
    """Moves a database to the configured model, and makes every index rebuild.

    Parameters
    ----------
    database
        One whose commits are not followed up: what searches reads all that was embedded at the end.
    embedder
    refresh : sequence of callables
        Of slices: derive what their rows are found by where it is not what they say.
    derive : callable
        Computes the vectors of a model that are derived from those of other documents, once these are all there.
    finish : callable
        Called at the end; sends the work that this made, and brings an index server up to date.
    timeout_s : float
        The most that one batch may take.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        *,
        refresh: Sequence[Callable[[Database], None]] = (),
        derive: Callable[[EmbeddingModel], None] = lambda _: None,
        finish: Callable[[], object] = lambda: None,
        timeout_s: float = 60.0,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._finish = finish
        self._timeout_s = timeout_s
        self._refresh = refresh
        self._derive = derive

    def remaining(self) -> int:
        """Return how many documents have no vector of the configured model yet."""
        model = self._embedder.model
        return self._database.read(
            lambda session: sum(
                DocumentRepository(session, collection).count_to_reembed(model) for collection in collections()
            )
        )

    def __call__(self, progress: Callable[[int], None] = lambda _: None) -> ReindexReport:
        """Embed all that has no vector of the model, then switch to it; searches go on meanwhile (decision 37).

        The old vectors are searched until all new ones are there, and afterwards by the processes that are still
        configured for the old model. What documents are found by, and by whom, is made right before, where it is not
        what their rows say. Interrupted, it goes on where it was when it is run again.

        Raises
        ------
        EmbeddingUnavailable, DatabaseUnavailable
        EmbeddingModelMismatch
            Another reindex, to another model, was begun meanwhile.
        """
        model = self._embedder.model
        for refresh in self._refresh:
            refresh(self._database)
        mend_documents(self._database)
        mend_points(self._database)
        self._database.transact(lambda session: _begin(session, model))
        number = self._embed_all(progress)
        self._derive(model)
        # What was written meanwhile, as far as it can be caught up with: what comes after waits as after any write.
        for _ in range(_ROUNDS):
            late = self._embed_all(progress)
            number += late
            if not late.total():
                break
        self._database.transact(lambda session: _switch(session, model))
        renumber(self._database)
        self._finish()
        return ReindexReport(number)

    def _embed_all(self, progress: Callable[[int], None]) -> Counter[Collection]:
        """Embed what has no vector of the model, and return how many documents of each collection that were."""
        return Counter({collection: len(self._embed(collection, progress)) for collection in collections()})

    def _embed(self, collection: Collection, progress: Callable[[int], None]) -> list[str]:
        model = self._embedder.model
        return embed_rows(
            self._database,
            self._embedder,
            collection,
            lambda repository, after: repository.to_reembed(model, after=after, limit=BATCH),
            timeout_s=self._timeout_s,
            progress=progress,
        )


def _begin(session: Session, model: EmbeddingModel) -> None:
    state = IndexStateRepository(session)
    state.claim(model)
    state.begin(model)


def _switch(session: Session, model: EmbeddingModel) -> None:
    state = IndexStateRepository(session)
    if not state.switch(model):
        raise EmbeddingModelMismatch(stored=str(state.models().next), configured=str(model))
