"""A cache that is bounded in bytes as well as in entries: what strangers wrote decides how large an entry is."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from cachetools import LRUCache

K = TypeVar("K")
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Remembers what was used last. Safe to use from several threads, which cachetools by itself is not.

    Parameters
    ----------
    max_entries : int
        0 remembers nothing.
    max_bytes : int
        Of all entries together. One that is larger by itself is not remembered.
    size_of : callable
        Returns the bytes of a value.

    Examples
    --------
    >>> cache = BoundedCache(max_entries=10, max_bytes=100, size_of=len)
    >>> cache.put("a", "-" * 60)
    >>> cache.put("b", "-" * 50)
    >>> cache.get("a"), len(cache.get("b"))
    (None, 50)
    """

    def __init__(self, *, max_entries: int, max_bytes: int, size_of: Callable[[V], int]) -> None:
        self._max_entries = max_entries
        self._entries: LRUCache[K, V] = LRUCache(max_bytes, getsizeof=size_of)
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return what is remembered under a key, None when nothing is."""
        with self._lock:
            return self._entries.get(key)

    def get_all(self, keys: Iterable[K]) -> dict[K, V]:
        """Return what is remembered of some keys, by key, in their order."""
        with self._lock:
            entries = self._entries
            return {key: entries[key] for key in keys if key in entries}

    def forget(self, key: K) -> None:
        """Remember nothing under a key any more."""
        with self._lock:
            self._entries.pop(key, None)

    def put(self, key: K, value: V) -> None:
        """Remember a value; those that were not used for longest go."""
        with self._lock:
            try:
                self._entries[key] = value
            except ValueError:  # it is larger than all of them may be
                self._entries.pop(key, None)
            while len(self._entries) > self._max_entries:
                self._entries.popitem()
