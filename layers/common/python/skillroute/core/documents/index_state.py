"""Which model the stored vectors are of."""

from __future__ import annotations

from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.postgres.database import Session


class IndexStateRepository:
    """Which model the stored vectors are of."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def model(self) -> EmbeddingModel | None:
        """Return the model and hold it: nobody can switch it until the transaction ends."""
        _, name, dimension = self._run("index_state")[0]
        return None if name is None else EmbeddingModel(name, dimension)

    def stored_model(self) -> EmbeddingModel | None:
        """Return the model as it is now, holding nothing."""
        name, dimension = self._run("stored_model")[0]
        return None if name is None else EmbeddingModel(name, dimension)

    def claim(self, model: EmbeddingModel) -> None:
        """Make `model` the model of an empty database; without effect when there is one already."""
        if self._run("claim_model", name=model.name, dimension=model.dimension):
            self._run("await_vectors", name=model.name, dimension=model.dimension)

    def switch(self, model: EmbeddingModel) -> None:
        """Make `model` the model, and tell every index to read everything anew."""
        self._run("switch_model", name=model.name, dimension=model.dimension)

    def prune(self, *, older_than_s: float) -> int:
        """Forget changes of items that are long gone; return how many."""
        count: int = self._run("prune_changes", older_than_s=older_than_s)[0][0]
        return count
