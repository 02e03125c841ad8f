"""Which model the stored vectors are of, as writers ask (docs/adr/0035)."""

from __future__ import annotations

from collections.abc import Sequence

from skillroute.core.documents.index_state import IndexStateRepository
from skillroute.core.documents.model import Models
from skillroute.core.embedding.model import EmbeddingModel, Vector
from skillroute.core.embedding.port import Embedder, message_embedder
from skillroute.core.errors.model import EmbeddingModelMismatch
from skillroute.core.postgres.database import Database, Session


class StoredModelEmbedder:
    """An `Embedder` for documents: one whose model's vectors are not stored counts as away (docs/adr/0035).

    The first that embeds makes its model the one of the stored vectors, in a transaction of its own: a writer that did
    so within its own would hold up all others until its end, and wait for what they have locked.

    Parameters
    ----------
    embedder : Embedder
    database : Database
        Asked before every call which models are in use.
    """

    def __init__(self, embedder: Embedder, database: Database) -> None:
        self._embedder = embedder
        self._database = database

    @property
    def model(self) -> EmbeddingModel:
        """That of the embedder."""
        return self._embedder.model

    def for_messages(self) -> StoredModelEmbedder:
        """Return the embedder of messages."""
        return StoredModelEmbedder(message_embedder(self._embedder), self._database)

    def embed(self, texts: Sequence[str], *, timeout_s: float) -> list[Vector]:
        """Embed texts. Raises `EmbeddingModelMismatch`, `DatabaseUnavailable`, and what the embedder raises."""
        model = self._embedder.model
        models = self._database.read(lambda session: require_in_use(session, model))
        vectors = self._embedder.embed(texts, timeout_s=timeout_s)
        if models.current is None:
            self._database.transact(lambda session: claim_model(session, model))
        return vectors


def require_in_use(session: Session, model: EmbeddingModel) -> Models:
    """Return the models in use. Raises `EmbeddingModelMismatch` where vectors of `model` are not stored."""
    models = IndexStateRepository(session).models()
    if not models.takes(model):
        raise EmbeddingModelMismatch(stored=" and ".join(map(str, models.kept)), configured=str(model))
    return models


def claim_model(session: Session, model: EmbeddingModel) -> None:
    """Make `model` that of the stored vectors, within a transaction, where there are none of any yet."""
    IndexStateRepository(session).claim(model)
