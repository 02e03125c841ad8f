"""Embedding what has no vector of the current model, and telling every index to read everything anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skillroute.ports import Database, Embedder
from skillroute.services.aggregate_skill import AggregateSkill
from skillroute.services.embedding import BATCH, Rows, check_model, claim_model, embed_rows


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """How many items and skills were embedded."""

    items: int
    skills: int


class Reindex:
    """Moves a database to the configured model, and makes every index rebuild.

    Parameters
    ----------
    database, embedder, aggregate
    after_commit : callable
        Brings an index server up to date where there is one.
    timeout_s : float
        The most that one batch may take.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        aggregate: AggregateSkill,
        *,
        after_commit: Callable[[], None] = lambda: None,
        timeout_s: float = 60.0,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._aggregate = aggregate
        self._after_commit = after_commit
        self._timeout_s = timeout_s

    def remaining(self) -> int:
        """Return how many items have no vector of the configured model yet."""
        model = self._embedder.model
        return self._database.read(lambda session: session.items.count_to_reembed(model))

    def __call__(self, progress: Callable[[int], None] = lambda _: None) -> ReindexReport:
        """Embed all that is of another model or of none, then switch.

        Interrupted, it goes on where it was when it is run again. Until it is through, processes that run on the old
        model find the items it has done by their words only, and processes on the new model refuse to search.

        Raises
        ------
        EmbeddingUnavailable, DatabaseUnavailable
        """
        model = self._embedder.model
        items = self._embed(lambda session: session.items, progress)
        skills = self._embed(lambda session: session.skills, progress)
        self._database.transact(lambda session: session.index_state.switch(model))
        # What was written on the old model between the last batch and the switch.
        items += self._embed(lambda session: session.items, progress)
        skills += self._embed(lambda session: session.skills, progress)
        # A skill's vector is the mean of its tools', so each is made anew once they are all there.
        for skill_id in self._database.read(lambda session: session.skills.ids()):
            self._aggregate(skill_id)
        self._after_commit()
        return ReindexReport(len(items), len(skills))

    def _embed(self, rows: Rows, progress: Callable[[int], None]) -> list[str]:
        model = self._embedder.model
        return embed_rows(
            self._database,
            self._embedder,
            rows,
            lambda repository, after: repository.to_reembed(model, after=after, limit=BATCH),
            timeout_s=self._timeout_s,
            progress=progress,
        )


class EmbedMissing:
    """Gives vectors to items and skills that were written while the model was away."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        aggregate: AggregateSkill,
        *,
        after_commit: Callable[[], None] = lambda: None,
        timeout_s: float = 60.0,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._aggregate = aggregate
        self._after_commit = after_commit
        self._timeout_s = timeout_s

    def __call__(self) -> int:
        """Embed what waits and return how many rows that were.

        Raises
        ------
        EmbeddingUnavailable, EmbeddingModelMismatch, DatabaseUnavailable
        """
        waiting = self._database.read(
            lambda s: bool(s.items.to_embed(after="", limit=1) or s.skills.to_embed(after="", limit=1))
        )
        if not waiting:
            return 0
        model = self._embedder.model
        self._database.transact(lambda session: claim_model(session, model))
        items = self._embed(lambda session: session.items)
        skills = self._embed(lambda session: session.skills)
        affected = self._database.read(lambda session: session.skills.of_items([int(id_) for id_ in items]))
        for skill_id in sorted(affected | set(skills)):
            self._aggregate(skill_id)
        self._after_commit()
        return len(items) + len(skills)

    def _embed(self, rows: Rows) -> list[str]:
        return embed_rows(
            self._database,
            self._embedder,
            rows,
            lambda repository, after: repository.to_embed(after=after, limit=BATCH),
            timeout_s=self._timeout_s,
            # A reindex may switch the model while this embeds; its vectors must not be overwritten by ours.
            check=lambda session: check_model(session, self._embedder.model),
        )
