"""Carrying changes of PostgreSQL over to an index. Every step may be repeated without harm."""

from __future__ import annotations

from collections.abc import Iterable

from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.model import Change, Collection, IndexFilter
from skillroute.core.documents.replica_port import ChangeFeed

# Larger than any index this serves; `match` wants a limit.
_EVERYTHING = 10_000_000


def apply_changes(feed: ChangeFeed, index: VectorIndex, changes: Iterable[Change]) -> None:
    """Write the current state of every changed item to the index, or remove it."""
    keys: dict[Collection, list[str]] = {}
    for change in changes:
        keys.setdefault(change.collection, []).append(change.key)
    for collection, changed in keys.items():
        records = feed.load(collection, changed)
        if records:
            index.upsert(collection, records)
        gone = set(changed) - {record.key for record in records}
        if gone:
            index.delete(collection, sorted(gone))


def load_everything(feed: ChangeFeed, index: VectorIndex) -> None:
    """Fill an empty index."""
    for collection in Collection:
        for records in feed.load_all(collection):
            index.upsert(collection, records)


def refresh_everything(feed: ChangeFeed, index: VectorIndex) -> None:
    """Write every item anew and remove what should not be there, while the index goes on answering."""
    for collection in Collection:
        stray = set(index.match(collection, where=IndexFilter(), limit=_EVERYTHING))
        for records in feed.load_all(collection):
            index.upsert(collection, records)
            stray.difference_update(record.key for record in records)
        if stray:
            index.delete(collection, sorted(stray))
