"""When a source changes: files are looked at every second, MCP servers are listed again now and then.

A file is read when two looks at it were equal, in size, time and content: one that is being written is waited for.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOOK_EVERY_S = 1.0
"""Seconds between looks at files: at their sizes and times, and at what is in those that changed."""

RETRY_AFTER_S = 10.0
"""Seconds after which an import that failed is made again, unless its source changes before."""

_MAX_FILES = 50_000

Signature = tuple[tuple[str, int, int], ...]
Look = tuple[Signature, bytes]
"""The state of a source: its signature, and a digest of all that is in it."""


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
        # None of them is read yet.
        self._known: list[Signature | None] = [() if source.path is None else None for source in sources]
        self._looks: dict[int, Look] = {}
        self._last = [-math.inf] * len(sources)
        self._retry: dict[int, float] = {}

    def run(self, import_: Callable[[Sequence[int]], bool]) -> None:
        """Import sources once none of them is being written, at first all, and then for ever those that changed.

        Parameters
        ----------
        import_ : callable
            Takes the places of sources; returns False where their import failed, which is then made again.
        """
        for places in self.changes():
            if not import_(places):
                self.failed(places)

    def failed(self, places: Iterable[int]) -> None:
        """Take note that the import of these failed: they are due again soon, though nothing changes by then."""
        self._retry.update(dict.fromkeys(places, self._clock() + RETRY_AFTER_S))

    def changes(self) -> Iterator[Sequence[int]]:
        """Yield the places of sources, at first all of them, then each that changed or is due, for ever.

        A file that is away is waited for, but at first: whoever reads it says so.
        """
        every = range(len(self._sources))
        while sum(self._is_settled(place) for place in every) < len(every):  # each is looked at
            self._sleep(LOOK_EVERY_S)
        yield list(every)
        self._last = [self._clock()] * len(self._sources)
        while True:
            self._sleep(LOOK_EVERY_S)
            for place in every:
                if self._is_due(place) and self._is_settled(place):
                    self._retry.pop(place, None)
                    yield [place]
                    self._last[place] = self._clock()

    def _is_due(self, place: int) -> bool:
        source, now = self._sources[place], signature(self._sources[place].path)
        if source.path is not None and not now:
            self._looks.pop(place, None)
            return False
        is_late = source.every_s is not None and self._clock() - self._last[place] >= source.every_s
        return is_late or self._clock() >= self._retry.get(place, math.inf) or now != self._known[place]

    def _is_settled(self, place: int) -> bool:
        """Look at a source, and return whether it was so at the last look, be it that after which it was read."""
        path = self._sources[place].path
        now = signature(path)
        if path is None or now == self._known[place]:
            self._looks.pop(place, None)
            return True
        look, before = (now, digest(path)), self._looks.get(place)
        self._looks[place] = look
        if look != before:
            return False
        del self._looks[place]
        self._known[place] = now
        return True


def signature(path: Path | None) -> Signature:
    """Return what differs once a file, or one of a folder's, has changed; `()` while there is none."""
    if path is None:
        return ()
    return _of_files(_files(path) if path.is_dir() else [path])


def digest(path: Path) -> bytes:
    """Return what differs once the content of a file, or of one of a folder's, has changed."""
    found = hashlib.blake2b()
    for file in sorted(_files(path) if path.is_dir() else [path])[:_MAX_FILES]:
        with suppress(OSError), file.open("rb") as opened:
            found.update(hashlib.file_digest(opened, hashlib.blake2b).digest())
    return found.digest()


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
