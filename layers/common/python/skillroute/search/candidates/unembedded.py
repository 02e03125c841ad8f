"""Documents that a search by meaning cannot find: they wait for a vector, or the model refuses their texts."""

from __future__ import annotations

from skillroute.core.documents.collection import Collection
from skillroute.core.documents.index.port import LentIndex
from skillroute.core.documents.model import IndexFilter
from skillroute.core.documents.repository import DocumentRepository
from skillroute.core.errors.model import EmbeddingUnavailable, SkillrouteError
from skillroute.core.postgres.database import Database
from skillroute.core.search_run import SearchRun

LOOKED_AT = 100
"""Of what matches by words, so many of the best are looked at."""


class MissingVectors:
    """Looks, where meaning found nothing, whether something was left out that has no vector."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def look(self, run: SearchRun, index: LentIndex, query: str, collection: Collection, *wheres: IndexFilter) -> None:
        """Let an answer that is empty say so when words would have found what has no vector.

        What words find is what the caller may see, so it reveals nothing of others (decision 30). Raises
        `IndexUnavailable`.
        """
        if run.search_mode not in ("semantic", "hybrid"):
            return
        found = [index.search_text(collection, query, where=where, limit=LOOKED_AT) for where in wheres]
        keys = sorted({hit.key for hits in found for hit in hits})
        if not keys:
            return
        documents = DocumentRepository.of(collection)
        try:
            missing = self._database.read(lambda session: documents(session).without_vector(keys, index.model))
        except SkillrouteError as error:
            run.degrade("vectors_missing", error)  # whether some are cannot be told
            return
        if missing:
            run.degrade("vectors_missing", EmbeddingUnavailable(f"{len(missing)} that match by words have no vector"))
