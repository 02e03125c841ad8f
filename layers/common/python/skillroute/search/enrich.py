"""Stage 3: schemas for what is returned, in one query, remembered by content hash (search-contract BR-004)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from skillroute.domain.items import ItemSchemas
from skillroute.ports import Database

CacheKey = tuple[int, str]
"""An item's id and the content hash that the index has of it."""


class SchemaLoader:
    """Loads schemas from the database.

    Parameters
    ----------
    database : Database
    cache_size : int
        Items remembered; the least recently used goes first. A changed item has another hash, so nothing stale is
        served.
    """

    def __init__(self, database: Database, *, cache_size: int = 4096) -> None:
        self._database = database
        self._cache_size = cache_size
        self._cache: OrderedDict[CacheKey, ItemSchemas] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, wanted: Sequence[CacheKey]) -> dict[int, ItemSchemas]:
        """Return the schemas by id; items that are gone are left out.

        Raises
        ------
        DatabaseUnavailable
            The schemas that are not remembered could not be loaded.
        """
        found: dict[int, ItemSchemas] = {}
        with self._lock:
            for key in wanted:
                if key in self._cache:
                    self._cache.move_to_end(key)
                    found[key[0]] = self._cache[key]
        missing = [key for key in wanted if key[0] not in found]
        if missing:
            loaded = self._database.read(lambda session: session.items.schemas([id_ for id_, _ in missing]))
            # Under the hash that came with them: the item may have changed since the index saw it.
            self._remember([((id_, content_hash), schemas) for id_, (content_hash, schemas) in loaded.items()])
            found |= {id_: schemas for id_, (_, schemas) in loaded.items()}
        return found

    def _remember(self, loaded: list[tuple[CacheKey, ItemSchemas]]) -> None:
        with self._lock:
            self._cache.update(loaded)
            while len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)
