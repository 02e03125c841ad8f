"""Which models the stored vectors are of, and what keeps the change feed short."""

from __future__ import annotations

from typing import Any

from skillroute.core.documents.model import HEAD, Models
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.observability import Metric, event
from skillroute.core.postgres.database import Database, Session

_PAGE = 5_000
"""Vectors deleted at once."""


class IndexStateRepository:
    """Which models the stored vectors are of."""

    def __init__(self, connection: Session) -> None:
        self._run = connection.run

    def locked_models(self) -> Models:
        """Return the models and lock them: no other transaction can switch them before this one ends."""
        return _models(self._run("locked_models"))

    def models(self) -> Models:
        """Return the models as they are now, without a lock."""
        return _models(self._run("models"))

    def awaited(self) -> dict[EmbeddingModel, int]:
        """Return how many vectors of each model are yet to be computed; models that lack none are left out."""
        return {EmbeddingModel(name, dimension): count for name, dimension, count in self._run("count_awaited_vectors")}

    def epoch(self) -> str:
        """Return what changes when every index must read everything again."""
        return str(self._run("poll_changes", position=HEAD)[0][0])

    def claim(self, model: EmbeddingModel) -> None:
        """Make `model` the model of an empty database; without effect when there is one already."""
        if self._run("claim_model", name=model.name, dimension=model.dimension):
            self._run("await_vectors", name=model.name, dimension=model.dimension)

    def begin(self, model: EmbeddingModel) -> None:
        """Keep vectors of `model` from now on; once all are there, `switch` to it."""
        self._run("begin_model", name=model.name, dimension=model.dimension)
        self._run("wait_for_writers")

    def switch(self, model: EmbeddingModel) -> bool:
        """Make `model` the model, and have every index read everything again. False: another one was begun since."""
        return bool(self._run("switch_model", name=model.name, dimension=model.dimension))

    def prune_models(self, *, older_than_s: float) -> None:
        """Stop to search a model so long after it was switched from; the next calls delete its vectors."""
        # In this order: a process that searched these vectors a moment ago has noticed by the next call.
        self._run("prune_vectors", limit=_PAGE)
        self._run("retire_model", older_than_s=older_than_s)

    def renumber(self) -> int | None:
        """Make changes that a dump of another server brought count as seen; every index then reads everything again.

        Returns how many there were; None when there was no trace of another server.
        """
        rows = self._run("renumber_changes")
        return rows[0][0] if rows else None

    def prune(self, *, older_than_s: float) -> int:
        """Forget changes of items that are long gone; return how many."""
        count: int = self._run("prune_changes", older_than_s=older_than_s)[0][0]
        return count


def _models(rows: list[list[Any]]) -> Models:
    names, dimensions = rows[0][::2], rows[0][1::2]
    return Models(*(EmbeddingModel(*pair) if pair[0] else None for pair in zip(names, dimensions, strict=True)))


def renumber(database: Database) -> None:
    """Look for what a dump of another server brought into the feed, and take it out of the way (docs/adr/0034)."""
    changes = database.transact(lambda session: IndexStateRepository(session).renumber())
    if changes is not None:
        event("index.feed.renumbered", Metric.INDEX_FEED_RENUMBERED, changes=changes)
