"""Stage 3: schemas for what is returned, in one query, remembered by content hash (search-contract BR-004)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from skillroute.catalogue.model import ItemSchemas
from skillroute.catalogue.repository import ItemRepository, LoadedSchemas
from skillroute.core.bounded_cache import BoundedCache
from skillroute.core.postgres.database import Database

CacheKey = tuple[int, str]
"""An item's id and the content hash that the index has of it."""

CACHE_BYTES = 64 * 1024 * 1024
"""The memory that remembered schemas may take: some 10,000 of the usual 1.5 KB, or 20 of the largest."""

ANNOTATIONS_CACHE_BYTES = 4 * 1024 * 1024
"""The memory that remembered annotations may take: some 4,096 of the usual five hints."""

Cache = BoundedCache[CacheKey, LoadedSchemas]
Read = Callable[[ItemRepository, Sequence[int], int], dict[int, LoadedSchemas]]


@dataclass(frozen=True, slots=True)
class Schemas:
    """The schemas of items that are returned.

    Attributes
    ----------
    by_id : mapping of id to ItemSchemas
        Items that are gone are left out.
    size : int
        The bytes that they have together, as they are stored.
    left_out : set of id
        Those that are there and have no room.
    """

    by_id: dict[int, ItemSchemas]
    size: int = 0
    left_out: frozenset[int] = frozenset()


class SchemaLoader:
    """Loads schemas from the database.

    Parameters
    ----------
    database : Database
    cache_size : int
        Items remembered; the least recently used goes first. A changed item has another hash, so nothing stale is
        served.
    cache_bytes : int
        The memory that they may take, as `LoadedSchemas` counts it.
    """

    def __init__(self, database: Database, *, cache_size: int = 4096, cache_bytes: int = CACHE_BYTES) -> None:
        self._database = database
        self._cache = _cache(cache_size, cache_bytes)
        self._annotations = _cache(cache_size, ANNOTATIONS_CACHE_BYTES)

    def load(self, wanted: Sequence[CacheKey], *, room: int) -> Schemas:
        """Return the schemas of items in rank order: of the first ones, as many as have room together.

        What has room depends on the items alone, not on what is remembered of them.

        Parameters
        ----------
        room : int
            Bytes, as JSON.

        Raises
        ------
        DatabaseUnavailable
            The schemas that are not remembered could not be loaded.
        """
        return self._load(self._cache, lambda items, ids, room: items.schemas(ids, room=room), wanted, room)

    def load_annotations(self, wanted: Sequence[CacheKey], *, room: int) -> Schemas:
        """Return what `load` does, but annotations alone: 1 KB of an item's schemas would be read for 100 bytes."""
        return self._load(self._annotations, lambda items, ids, room: items.annotations(ids, room=room), wanted, room)

    def _load(self, cache: Cache, read: Read, wanted: Sequence[CacheKey], room: int) -> Schemas:
        found = {key[0]: known for key in wanted if (known := cache.get(key)) is not None}
        missing = [id_ for id_, _ in wanted if id_ not in found]
        if missing:
            loaded = self._database.read(lambda session: read(ItemRepository(session), missing, room))
            for id_, item in loaded.items():
                if item.schemas is not None:
                    # Under the hash that came with it: the item may have changed since the index saw it.
                    cache.put((id_, item.content_hash), item)
            found |= loaded
        there = [id_ for id_, _ in wanted if id_ in found]
        upto = dict(zip(there, accumulate(found[id_].size for id_ in there), strict=True))
        shown = {id_: item.schemas for id_, item in found.items() if item.schemas is not None and upto[id_] <= room}
        return Schemas(shown, sum(found[id_].size for id_ in shown), frozenset(there) - shown.keys())


def _cache(entries: int, memory: int) -> Cache:
    return BoundedCache(max_entries=entries, max_bytes=memory, size_of=lambda loaded: loaded.memory)
