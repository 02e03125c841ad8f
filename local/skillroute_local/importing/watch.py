"""When a source changes: files are looked at every second, MCP servers are listed again now and then."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOK_EVERY_S = 1.0
"""Seconds between looks at files: at their sizes and times, not at what is in them."""

RETRY_AFTER_S = 10.0
"""Seconds after which an import that failed is made again, unless its source changes before."""

_MAX_FILES = 50_000

Signature = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Watched:
    """A source that is watched: its path, and after how many seconds it is due though it did not change."""

    path: Path | None
    every_s: float | None = None


class Watch:
    """Watches sources from now on.

    Parameters
    ----------
    sources : sequence of Watched
    sleep, clock : callable
    """

    def __init__(
        self,
        sources: Sequence[Watched],
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sources = sources
        self._sleep = sleep
        self._clock = clock
        self._known = [signature(source.path) for source in sources]
        self._last = [clock()] * len(sources)
        self._retry: dict[int, float] = {}

    def run(self, import_: Callable[[Sequence[int]], bool]) -> None:
        """Import all sources, and from then on for ever those that changed.

        Parameters
        ----------
        import_ : callable
            Takes the places of sources; returns False where their import failed, which is then made again.
        """
        every = range(len(self._sources))
        if not import_(every):
            self.failed(every)
        for place in self.changes():
            if not import_([place]):
                self.failed([place])

    def failed(self, places: Iterable[int]) -> None:
        """Take note that the import of these failed: they are due again soon, though nothing changes by then."""
        self._retry.update(dict.fromkeys(places, self._clock() + RETRY_AFTER_S))

    def changes(self) -> Iterator[int]:
        """Yield the places of sources that changed or are due, for ever. A file that is away is waited for."""
        while True:
            self._sleep(LOOK_EVERY_S)
            for place, source in enumerate(self._sources):
                now = signature(source.path)
                is_due = source.every_s is not None and self._clock() - self._last[place] >= source.every_s
                is_due = is_due or self._clock() >= self._retry.get(place, math.inf)
                is_there = source.path is None or bool(now)
                if is_there and (is_due or now != self._known[place]):
                    self._known[place] = now
                    self._retry.pop(place, None)
                    yield place
                    self._last[place] = self._clock()


def signature(path: Path | None) -> Signature:
    """Return what differs once a file, or one of a folder's, has changed; `()` while there is none."""
    if path is None:
        return ()
    return _of_files(_files(path) if path.is_dir() else [path])


def _files(root: Path) -> Iterator[Path]:
    seen: set[str] = set()
    for folder, folders, names in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:  # a link that leads back
            folders.clear()
            continue
        seen.add(real)
        yield from (Path(folder) / name for name in names)


def _of_files(paths: Iterable[Path]) -> Signature:
    found: list[tuple[str, int, int]] = []
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((str(path), status.st_mtime_ns, status.st_size))
        if len(found) >= _MAX_FILES:
            break
    return tuple(sorted(found))
