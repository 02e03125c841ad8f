"""Embedding what was written while the model was away."""

from __future__ import annotations

import time

from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.embed import BATCH, embed_rows
from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.model import Models
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.documents.stored_model import claim_model, require_in_use
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.embedding.port import Embedder
from skillroute.core.postgres.database import Database, Session
from skillroute.core.time.clock import Clock
from skillroute.core.time.deadline import Deadline

_AT_ONCE = 3 * BATCH
"""Looked up at once, since that takes a look at all that waits; the others wait for as many at most."""


class EmbedMissing:
    """Gives vectors to items, skills, servers, agents and mail that have none.

    Parameters
    ----------
    timeout_s : float
        The most that one batch may take.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        *,
        timeout_s: float = 60.0,
        clock: Clock = time.monotonic,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._timeout_s = timeout_s
        self._clock = clock

    def __call__(self, within_s: float = 30.0) -> int:
        """Embed what waits, as far as that goes within some seconds, and return how many rows got a vector.

        Kinds take turns, and within a kind organisations do, so that none waits for the whole backlog of another.

        Raises
        ------
        EmbeddingUnavailable, DatabaseUnavailable
        EmbeddingModelMismatch
            Vectors of the embedder's model are not stored.
        """
        models = self._database.read(lambda session: IndexStateRepository(session).models())
        if not self._database.read(lambda session: _is_anything_left(session, models)):
            return 0
        model = self._embedder.model
        self._database.transact(lambda session: _claimed(session, model))
        with self._database.together():
            return self._embed_all(Deadline(within_s, self._clock))

    def _embed_all(self, deadline: Deadline) -> int:
        embedded, waiting = 0, list(collections())
        while waiting and not deadline.is_over:
            collection = waiting.pop(0)
            count, is_anything_done = self._embed(collection, deadline)
            if is_anything_done:
                waiting.append(collection)
            embedded += count
        return embedded

    def _embed(self, collection: Collection, deadline: Deadline) -> tuple[int, bool]:
        """Embed some of what waits; return how many got a vector, and whether any were done with, refused or not."""
        done_with: list[int] = []
        model = self._embedder.model
        tasks = self._database.read(
            lambda session: DocumentRepository(session, collection).to_embed(model, limit=_AT_ONCE)
        )
        batches = iter([tasks[start : start + BATCH] for start in range(0, len(tasks), BATCH)])
        done = embed_rows(
            self._database,
            self._embedder,
            collection,
            lambda _repository, _after: [] if deadline.is_over else next(batches, []),
            timeout_s=self._timeout_s,
            progress=done_with.append,
        )
        return len(done), bool(done_with)


def _claimed(session: Session, model: EmbeddingModel) -> None:
    claim_model(session, model)
    require_in_use(session, model)


def _is_anything_left(session: Session, models: Models) -> bool:
    # Until somebody says of which model vectors are, documents wait without a row for one.
    if models.current is None:
        return any(DocumentRepository(session, collection).keys(after="", limit=1) for collection in collections())
    return any(
        DocumentRepository(session, collection).to_embed(model, limit=1)
        for model in models.kept
        for collection in collections()
    )
