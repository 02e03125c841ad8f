"""An index that remembers what searches look up again and again: records by their keys, and counts.

A search looks up the skills of its candidates and counts the tools of the skills that match, which were a third of its
processor time at 10,000 tools. Whatever is written is forgotten, so that nothing here is ever older than the index.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from skillroute.core.bounded_cache import BoundedCache
from skillroute.core.documents.collection import Collection, collections
from skillroute.core.documents.index.guarded import GuardedIndex
from skillroute.core.documents.index.port import VectorIndex
from skillroute.core.documents.model import IndexFilter, IndexRecord
from skillroute.core.embedding.model import EmbeddingModel

_MAX_PAYLOADS = 20_000
_MAX_COUNTS = 4_096
_OF_A_PAYLOAD = 1_000
"""Bytes other than its description."""

_Payload = Mapping[str, Any]


def _size(payload: _Payload) -> int:
    return _OF_A_PAYLOAD + 4 * len(payload.get("description") or "")


class RememberingIndex(GuardedIndex):
    """A guarded index in this process, which no other process writes to. Safe to use from several threads."""

    def __init__(self, inner: VectorIndex, model: EmbeddingModel) -> None:
        super().__init__(inner, model)
        self._lock = threading.Lock()
        self._writes: Counter[Collection] = Counter()
        self._payloads: dict[Collection, BoundedCache[str, _Payload]] = {
            collection: BoundedCache(max_entries=_MAX_PAYLOADS, max_bytes=collection.remembered_bytes, size_of=_size)
            for collection in collections()
            if collection.remembered_bytes
        }
        self._counts: dict[Any, int] = {}

    def upsert(self, collection: Collection, records: Sequence[IndexRecord]) -> None:
        """Pass on to the engine, and forget what was known."""
        try:
            super().upsert(collection, records)
        finally:
            self._forget(collection, [record.key for record in records])

    def delete(self, collection: Collection, keys: Sequence[str]) -> None:
        """Pass on to the engine, and forget what was known."""
        try:
            super().delete(collection, keys)
        finally:
            self._forget(collection, keys)

    def payloads(self, collection: Collection, keys: Sequence[str]) -> dict[str, _Payload]:
        """Return the payloads of the records that exist, by key, in the order of `keys`; those not known are read."""
        remembered = self._payloads.get(collection)
        if remembered is None:
            return super().payloads(collection, keys)
        writes = self._writes[collection]
        known = remembered.get_all(keys)
        missing = [key for key in keys if key not in known]
        if not missing:
            return known
        read = super().payloads(collection, missing)
        with self._lock:
            if self._writes[collection] == writes:  # else what was read may be older than what is there now
                for key, payload in read.items():
                    remembered.put(key, payload)
        known |= read
        return {key: known[key] for key in keys if key in known}

    def count(self, collection: Collection, *, where: IndexFilter | None = None) -> int:
        """Return how many records pass the filter."""
        if where is None or where.keys is not None or collection not in self._payloads:
            return super().count(collection, where=where)
        writes, name = self._writes[collection], (collection, _conditions(where))
        if (known := self._counts.get(name)) is not None:
            return known
        counted = super().count(collection, where=where)
        with self._lock:
            if self._writes[collection] == writes:
                if len(self._counts) >= _MAX_COUNTS:
                    self._counts.clear()
                self._counts[name] = counted
        return counted

    def _forget(self, collection: Collection, keys: Sequence[str]) -> None:
        with self._lock:
            self._writes[collection] += 1
            self._counts = {name: counted for name, counted in self._counts.items() if name[0] is not collection}
            if (remembered := self._payloads.get(collection)) is not None:
                for key in keys:
                    remembered.forget(key)


def _conditions(where: IndexFilter) -> tuple[Any, ...]:
    """Return the conditions of a filter as something that can be looked up."""
    groups = (where.any_of, where.all_of, where.none_of)
    named = tuple(tuple(sorted((name, tuple(values)) for name, values in group.items())) for group in groups)
    alternatives = tuple(
        None if filters is None else tuple(_conditions(each) for each in filters)
        for filters in (where.either, where.neither)
    )
    return (*named, tuple(sorted(where.between.items())), alternatives)
