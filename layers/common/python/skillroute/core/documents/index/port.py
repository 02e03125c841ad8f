"""A vector index, as replicas and searches see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from skillroute.core.documents.model import Collection, IndexFilter, IndexHit, IndexRecord
from skillroute.core.embedding.model import EmbeddingModel


class VectorIndex(Protocol):
    """Collections of records, searched by vector or by words. Safe to call from several threads.

    Every method raises `IndexUnavailable` when the engine fails and `IndexTimeout` when it is too slow.
    """

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        """Write records, replacing those of the same key whole."""
        ...

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        """Remove records. Unknown keys are no error."""
        ...

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


class LentIndex(VectorIndex, Protocol):
    """An index that a replica lends to a search."""

    @property
    def model(self) -> EmbeddingModel:
        """The model of its vectors."""
        ...


def counts(index: VectorIndex) -> dict[Collection, int]:
    """Return how many records each collection of an index has. Raises as the methods of `VectorIndex` do."""
    return {collection: index.count(collection) for collection in Collection}
