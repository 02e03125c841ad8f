"""Embedding what has no vector of the current model, and telling every index to read everything anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skillroute.core.documents.checks import CheckRepository
from skillroute.core.documents.embed import ALL_ROWS, BATCH, EmbeddingJob, Rows, embed_rows
from skillroute.core.documents.index_state import IndexStateRepository, renumber
from skillroute.core.documents.model import Collection
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.documents.upkeep import mend_documents
from skillroute.core.embedding.port import Embedder
from skillroute.core.postgres.database import Database
from skillroute.mail.refresh import refresh_mail
from skillroute.registry.refresh import refresh_all
from skillroute.skills.aggregate import AggregateSkill
from skillroute.skills.repository import SkillRepository


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """How many items, skills, servers and agents, and documents of mail were embedded."""

    items: int
    skills: int
    entities: int
    mail: int


class Reindex(EmbeddingJob):
    """Moves a database to the configured model, and makes every index rebuild.

    Parameters
    ----------
    database, embedder, after_commit, timeout_s
        See `EmbeddingJob`.
    aggregate : AggregateSkill
        Makes the vectors of skills anew, at once: those of the old model are of no use.
    """

    def __init__(
        self,
        database: Database,
        embedder: Embedder,
        aggregate: AggregateSkill,
        *,
        after_commit: Callable[[], object] = lambda: None,
        timeout_s: float = 60.0,
    ) -> None:
        super().__init__(database, embedder, after_commit=after_commit, timeout_s=timeout_s)
        self._aggregate = aggregate

    def remaining(self) -> int:
        """Return how many items, servers, agents and documents of mail have no vector of the configured model yet."""
        model = self._embedder.model
        return self._database.read(
            lambda session: sum(
                DocumentRepository(session, collection).count_to_reembed(model) for collection in Collection
            )
        )

    def __call__(self, progress: Callable[[int], None] = lambda _: None) -> ReindexReport:
        """Embed all that is of another model or of none, then switch.

        What servers, agents and mail are found by, and by whom, is made right before, where it is not what they say.

        Interrupted, it goes on where it was when it is run again. Until it is through, processes that run on the old
        model find the items it has done by their words only, and processes on the new model refuse to search.

        Raises
        ------
        EmbeddingUnavailable, DatabaseUnavailable
        """
        model = self._embedder.model
        refresh_all(self._database)
        self._database.transact(lambda session: CheckRepository(session).mend_words())
        self._database.transact(lambda session: CheckRepository(session).mend_items())
        refresh_mail(self._database)
        mend_documents(self._database)
        before = self._embed_all(progress)
        self._database.transact(lambda session: IndexStateRepository(session).switch(model))
        renumber(self._database)
        # What was written on the old model between the last batch and the switch.
        late = self._embed_all(progress)
        # A skill's vector is the mean of its tools', so each is made anew once they are all there.
        for key in self._database.read(lambda session: SkillRepository(session).keys()):
            self._aggregate(key)
        self._after_commit()
        items, skills, entities, mail = (len(one) + len(other) for one, other in zip(before, late, strict=True))
        return ReindexReport(items, skills, entities, mail)

    def _embed_all(self, progress: Callable[[int], None]) -> list[list[str]]:
        return [self._embed(rows, progress) for rows in ALL_ROWS]

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
