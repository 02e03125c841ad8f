"""Carrying changes of PostgreSQL over to an index. Every step may be repeated without harm."""

from __future__ import annotations

from collections.abc import Iterable

from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.model import Collection
from skillroute.core.documents.replica_port import ChangeFeed
from skillroute.core.embedding.model import EmbeddingModel


def apply_changes(
    feed: ChangeFeed, index: VectorIndex, model: EmbeddingModel, changes: Iterable[tuple[Collection, str]]
) -> None:
    """Write the current state of every changed item to the index, with its vector of a model, or remove it."""
    keys: dict[Collection, list[str]] = {}
    for collection, key in changes:
        keys.setdefault(collection, []).append(key)
    for collection, changed in keys.items():
        records = feed.load(collection, changed, model)
        if records:
            index.upsert(collection, records)
        gone = set(changed) - {record.key for record in records}
        if gone:
            index.delete(collection, sorted(gone))


def load_everything(feed: ChangeFeed, index: VectorIndex, model: EmbeddingModel) -> None:
    """Fill an empty index, with vectors of a model."""
    for collection in Collection:
        for records in feed.load_all(collection, model):
            index.upsert(collection, records)
