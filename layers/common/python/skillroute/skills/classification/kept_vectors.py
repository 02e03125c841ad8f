"""Vectors of skills' texts in PostgreSQL: what one environment has embedded, the next one reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from skillroute.core.embedding.model import EmbeddingModel, to_bytes
from skillroute.core.errors.model import SkillrouteError
from skillroute.core.hashing import text_hash
from skillroute.core.observability import logger
from skillroute.core.postgres.database import Database, Session

_AT_ONCE = 2_000
"""Vectors of one statement: 3 MB of them, twice that on their way."""
_DAYS = 30
_PRUNED_AT_ONCE = 10_000


class KeptVectors:
    """Keeps vectors by model and text. Without PostgreSQL, or with an older schema, there are none: nothing fails.

    Parameters
    ----------
    database : Database
        The one whose commits are not followed up: nothing that is searched changes.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, model: EmbeddingModel, texts: Sequence[str]) -> dict[str, bytes]:
        """Return the vectors that are kept, by text, each as `to_bytes` packs it."""
        text_of = {text_hash(text): text for text in texts}
        found: dict[str, bytes] = {}
        try:
            for hashes in _parts(text_of):
                rows = self._database.read(
                    lambda session, hashes=hashes: session.run("kept_text_vectors", hashes=hashes, **_of(model))  # type: ignore[misc]
                )
                found |= {text_of[hash_]: vector for hash_, vector in rows}
        except SkillrouteError as error:
            logger.warning("vectors of skills not read", extra={"reason": str(error)})
        return found

    def keep(self, model: EmbeddingModel, vectors: Mapping[str, Sequence[float]]) -> None:
        """Keep vectors by text; those that are there stay."""
        rows = json.dumps(
            [{"text_hash": text_hash(text), "embedding": to_bytes(vector).hex()} for text, vector in vectors.items()]
        )
        try:
            # One statement and one round trip. It may run twice, as what only reads.
            self._database.read(lambda session: session.run("keep_text_vectors", rows=rows, **_of(model)))
        except SkillrouteError as error:
            logger.warning("vectors of skills not kept", extra={"reason": str(error)})


def prune_text_vectors(session: Session) -> int:
    """Delete vectors that were made 30 days ago, and so many at most; return how many went.

    Who needs them is not counted: what is still needed is embedded once more.
    """
    [[gone]] = session.run("prune_text_vectors", days=_DAYS, limit=_PRUNED_AT_ONCE)
    return int(gone)


def _of(model: EmbeddingModel) -> dict[str, object]:
    return {"model": model.name, "dimension": model.dimension}


def _parts(hashes: Mapping[str, str]) -> Iterator[list[str]]:
    rest = iter(hashes)
    while part := list(islice(rest, _AT_ONCE)):
        yield part
