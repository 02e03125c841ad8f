"""The change feed of PostgreSQL (docs/adr/0001)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillroute.core.documents.collection import Collection, collection_named, collections
from skillroute.core.documents.model import Change, FeedPage, IndexRecord, Models
from skillroute.core.documents.repository import to_record
from skillroute.core.documents.search_words import ToTerms
from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.postgres.connection import Connection
from skillroute.core.postgres.pool import Pool

# 500 records with vectors and descriptions are about 2 MB on the wire.
_PAGE = 500


class PostgresFeed:
    """`ChangeFeed` over the pool.

    Parameters
    ----------
    pool : Pool
    terms : mapping of Collection to callable
        Cut and weigh the words of collections that the index does not cut itself.
    """

    def __init__(self, pool: Pool, terms: Mapping[Collection, ToTerms] | None = None) -> None:
        self._pool = pool
        self._terms = terms or {}

    def poll(self, position: str) -> FeedPage:
        rows = self._pool.read(lambda c: c.run("poll_changes", position=position))
        epoch, model, dimension, previous, previous_dimension, next_position, is_complete = rows[0][:7]
        return FeedPage(
            epoch=epoch,
            models=Models(
                current=EmbeddingModel(model, dimension) if model else None,
                previous=EmbeddingModel(previous, previous_dimension) if previous else None,
            ),
            position=next_position,
            # A collection that this version does not know is one that it does not search: migrations go first.
            changes=[Change(collection_named(row[7]), row[8], int(row[9])) for row in rows if row[7] in _KNOWN],
            is_complete=is_complete,
        )

    def lag(self, position: str) -> int:
        number: int = self._pool.read(lambda c: c.run("count_changes", position=position))[0][0]
        return number

    def load(self, collection: Collection, keys: Sequence[str], model: EmbeddingModel) -> list[IndexRecord]:
        def read(connection: Connection, page: list[str]) -> list[list[Any]]:
            return connection.run("load_documents", **_in(collection, model), keys=page)

        terms = self._terms.get(collection)
        return [
            to_record(row, terms)
            for start in range(0, len(keys), _PAGE)
            for row in self._pool.read(lambda c, page=list(keys[start : start + _PAGE]): read(c, page))  # type: ignore[misc]
        ]

    def load_all(
        self, collection: Collection, model: EmbeddingModel, after: str | None = None
    ) -> Iterator[list[IndexRecord]]:
        def read(connection: Connection, after: str) -> list[list[Any]]:
            return connection.run("load_documents_after", **_in(collection, model), after=after, limit=_PAGE)

        after, terms = after or "", self._terms.get(collection)
        while rows := self._pool.read(lambda c, after=after: read(c, after)):  # type: ignore[misc]
            yield [to_record(row, terms) for row in rows]
            after = rows[-1][0]

    def count(self) -> int:
        number: int = self._pool.read(lambda c: c.run("count_documents"))[0][0]
        return number


def _in(collection: Collection, model: EmbeddingModel) -> dict[str, Any]:
    return {"collection": collection.value, "model": model.name, "dimension": model.dimension}


_KNOWN = frozenset(collection.value for collection in collections())
