"""A vector index, as replicas and searches see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.model import IndexFilter, IndexHit, IndexRecord
from skillroute.core.embedding.model import EmbeddingModel

IndexKind = Literal["embedded", "server", "postgres"]
"""The indexes behind the port: a replica in the process, a Qdrant server, PostgreSQL itself."""


class SearchedIndex(Protocol):
    """Collections of records that are searched by vector or by words. Safe to call from several threads.

    Every method raises `IndexUnavailable` when the engine fails and `IndexTimeout` when it is too slow.
    """

    def search(
        self,
        collection: Collection,
        vector: Sequence[float],
        *,
        where: IndexFilter,
        limit: int,
        threshold: float | None = None,
    ) -> list[IndexHit]:
        """Return the records nearest by cosine, at least `threshold`, sorted by score descending, then by key."""
        ...

    def search_each(
        self, collection: Collection, vectors: Sequence[Sequence[float]], *, where: IndexFilter, limit: int
    ) -> list[list[IndexHit]]:
        """Return for each vector what `search` does, all of them in one call to the engine."""
        ...

    def search_text(self, collection: Collection, text: str, *, where: IndexFilter, limit: int) -> list[IndexHit]:
        """Return the records that share a word with `text`, by BM25 descending, then by key.

        The weights of words are fixed: a score depends on the two texts, and on no other record.
        """
        ...

    def search_terms(
        self, collection: Collection, weights: Mapping[str, float], *, where: IndexFilter, limit: int
    ) -> list[IndexHit]:
        """Return the records that have one of the terms, by the sum of weight times impact, then by key."""
        ...

    def match(self, collection: Collection, *, where: IndexFilter, limit: int) -> list[str]:
        """Return the keys of records that pass the filter, in key order, without ranking."""
        ...

    def payloads(self, collection: Collection, keys: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return the payloads of the records that exist, by key."""
        ...

    def count(self, collection: Collection, *, where: IndexFilter | None = None) -> int:
        """Return how many records pass the filter."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...


class VectorIndex(SearchedIndex, Protocol):
    """One that records are written to: all but PostgreSQL, whose rows are the index."""

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        """Write records, replacing those of the same key whole."""
        ...

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        """Remove records. Unknown keys are no error."""
        ...


class LentIndex(SearchedIndex, Protocol):
    """An index that a replica lends to a search."""

    @property
    def model(self) -> EmbeddingModel:
        """The model of its vectors."""
        ...

    @property
    def kind(self) -> IndexKind:
        """Which index it is, as answers say."""
        ...


def counts(index: SearchedIndex) -> dict[Collection, int]:
    """Return how many records each collection of an index has. Raises as the methods of `SearchedIndex` do."""
    return {collection: index.count(collection) for collection in collections()}
