"""A cache that is bounded in bytes as well as in entries: what strangers wrote decides how large an entry is."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Remembers what was used last. Safe to use from several threads.

    Parameters
    ----------
    max_entries : int
        0 remembers nothing.
    max_bytes : int
        Of all entries together. One that is larger by itself is not remembered.

    Examples
    --------
    >>> cache = BoundedCache(max_entries=10, max_bytes=100)
    >>> cache.put("a", 1, 60)
    >>> cache.put("b", 2, 60)
    >>> cache.get("a"), cache.get("b")
    (None, 2)
    """

    def __init__(self, *, max_entries: int, max_bytes: int) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return what is remembered under a key, None when nothing is."""
        with self._lock:
            found = self._entries.get(key)
            if found is None:
                return None
            self._entries.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Remember a value of so many bytes; those that were not used for longest go."""
        with self._lock:
            _, before = self._entries.pop(key, (None, 0))
            self._bytes -= before
            if size > self._max_bytes or self._max_entries <= 0:
                return
            self._entries[key] = (value, size)
            self._bytes += size
            while self._bytes > self._max_bytes or len(self._entries) > self._max_entries:
                _, (_, gone) = self._entries.popitem(last=False)
                self._bytes -= gone
