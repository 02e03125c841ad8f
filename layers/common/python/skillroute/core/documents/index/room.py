"""Whether a disk has room for a replica, asked before one is written.

The engine writes into files that are mapped into memory and full of holes. Where a hole cannot be filled, the kernel
ends the whole process (SIGBUS), and nothing can catch that: so it must not come to it.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from skillroute.core.embedding.model import EmbeddingModel
from skillroute.core.errors.model import IndexNoRoom
from skillroute.core.observability import Metric, count, logger
from skillroute.core.time.cooldown import Cooldown

SPARE_BYTES = 64 * 2**20
"""The disk space that a replica leaves free: PostgreSQL may be on the same disk, and needs 16 MB a log file."""

# Measured with qdrant-edge-py 0.9: 0.5 MB of an empty replica, 188 MB where looking at a hole fills it, as in a tmpfs;
# 1.85 kB a record of 384 dimensions with one sentence of words. A payload and a long text are another 2 kB.
_EMPTY_BYTES = 4 * 2**20
_EMPTY_WHERE_HOLES_FILL_BYTES = 200 * 2**20
_RECORD_BYTES = 3 * 1024
_FLOAT_BYTES = 4
_HOLE_BYTES = 64 * 1024

_TELL_AGAIN_AFTER_S = 60.0


class Room:
    """The disk where replicas live.

    Parameters
    ----------
    parent : Path or None
        The folder of their folders; None for temporary ones.
    free : callable
        Returns the bytes that a disk has left; replaced in tests.
    """

    def __init__(self, parent: Path | None, free: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free):
        self._parent = parent or Path(tempfile.gettempdir())
        self._free = free
        self._told = Cooldown(_TELL_AGAIN_AFTER_S)

    def for_new(self, records: int, model: EmbeddingModel) -> None:
        """Raise `IndexNoRoom` unless a replica of so many records can be built."""
        needed = _EMPTY_BYTES + records * _size(model)
        self._require(needed)  # first: a hole of a full disk must not be looked at
        if self._fills_holes:
            self._require(needed + _EMPTY_WHERE_HOLES_FILL_BYTES)

    def for_more(self, records: int, model: EmbeddingModel) -> None:
        """Raise `IndexNoRoom` unless so many records more can be written to a replica."""
        self._require(records * _size(model))

    def _require(self, needed: int) -> None:
        free = self._free(self._nearest())
        if free >= needed + SPARE_BYTES:
            return
        count(Metric.INDEX_NO_ROOM)
        error = IndexNoRoom(
            f"{self._parent} has {_mb(free)} MB left, and the index needs {_mb(needed)} MB and {_mb(SPARE_BYTES)} MB "
            "to spare: make room there, or name another folder in SKILLROUTE_INDEX_DIR"
        )
        if self._told.failure() is None:  # it stays so until an operator acts
            self._told.failed(str(error))
            logger.warning("no room for the index", extra={"reason": str(error)})
        raise error

    def _nearest(self) -> Path:
        """Return the folder, or the nearest one above it that is there."""
        return next(path for path in (self._parent, *self._parent.absolute().parents) if path.exists())

    @cached_property
    def _fills_holes(self) -> bool:
        """Whether looking at a hole of a mapped file takes space."""
        with tempfile.TemporaryFile(dir=self._nearest()) as file:
            file.truncate(_HOLE_BYTES)
            with mmap.mmap(file.fileno(), _HOLE_BYTES, access=mmap.ACCESS_READ) as mapped:
                mapped[0]
                return os.fstat(file.fileno()).st_blocks > 0


def _size(model: EmbeddingModel) -> int:
    return _RECORD_BYTES + _FLOAT_BYTES * model.dimension


def _mb(size: int) -> int:
    return -(-size // 2**20)
