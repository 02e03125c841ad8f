"""The sizes of what a home keeps, and the free space on its volume."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_KINDS = {"postgres": "database", "index": "index", "models": "models"}


@dataclass(frozen=True, slots=True)
class DiskUse:
    """The bytes of a home.

    Attributes
    ----------
    sizes : mapping of str to int
        By kind: database, index, models, history, logs, other.
    unread : int
        Folders and files that could not be read; they are not in the sizes.
    free, total : int
        Of the volume.
    """

    sizes: Mapping[str, int]
    unread: int
    free: int
    total: int


def disk_use(home: Path) -> DiskUse:
    """Return how much a home takes, by kind. Raises `OSError` where it is not there."""
    sizes = dict.fromkeys(("database", "index", "models", "history", "logs", "other"), 0)
    unread = 0
    for entry in os.scandir(home):
        size, failed = _size(Path(entry.path))
        sizes[_kind(entry.name)] += size
        unread += failed
    volume = shutil.disk_usage(home)
    return DiskUse(sizes, unread, volume.free, volume.total)


def _kind(name: str) -> str:
    if name.startswith("history."):
        return "history"
    if ".log" in name:
        return "logs"
    return _KINDS.get(name, "other")


def _size(path: Path) -> tuple[int, int]:
    """Return the bytes of a file or of all files below a folder, and how many could not be read."""
    failed: list[OSError] = []
    found = [path] if not path.is_dir() or path.is_symlink() else []
    for folder, _, names in os.walk(path, onerror=failed.append) if not found else ():
        found += [Path(folder, name) for name in names]
    size = 0
    for file in found:
        try:
            size += file.lstat().st_size
        except FileNotFoundError:
            continue  # PostgreSQL removed it meanwhile
        except OSError as error:
            failed.append(error)
    # What is gone meanwhile is not unreadable.
    return size, sum(not isinstance(error, FileNotFoundError) for error in failed)
