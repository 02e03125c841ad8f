"""Which model the stored vectors are of, and what keeps the change feed short."""

from __future__ import annotations

from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.observability import Metric, event
from skillroute.core.postgres.database import Database, Session


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

    def renumber(self) -> int | None:
        """Make changes that a dump of another server brought count as seen; every index then reads everything anew.

        Returns how many there were; None when there was no trace of another server.
        """
        rows = self._run("renumber_changes")
        return rows[0][0] if rows else None

    def prune(self, *, older_than_s: float) -> int:
        """Forget changes of items that are long gone; return how many."""
        count: int = self._run("prune_changes", older_than_s=older_than_s)[0][0]
        return count


def renumber(database: Database) -> None:
    """Look for what a dump of another server brought into the feed, and take it out of the way (docs/adr/0034)."""
    changes = database.transact(lambda session: IndexStateRepository(session).renumber())
    if changes is not None:
        event("index.feed.renumbered", Metric.INDEX_FEED_RENUMBERED, changes=changes)
