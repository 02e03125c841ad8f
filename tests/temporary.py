"""Directories for the data of servers that tests start: in memory, where there is room for them.

A copy of the template database takes 0.04 s of a processor there and 0.2 s on ext4, and nothing waits for a disk. Other
users may enter both: root's PostgreSQL runs as one.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import psutil

_IN_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 6 << 30
"""Of three processes, each with a database server below 0.5 GB and six indexes of 0.2 GB, and some of what they take
themselves.

Docker gives a container 64 MB unless it is asked.
"""


def temporary_directory(prefix: str) -> tempfile.TemporaryDirectory[str]:
    """Make a directory that is removed at the end of a block.

    Not under pytest's own temporary directory: each pytest that starts closes that to other users.
    """
    return tempfile.TemporaryDirectory(prefix=prefix, dir=fastest_directory())


@cache
def fastest_directory() -> Path | None:
    """Return where files are kept in memory; None, the directory of the machine, where there is no room for them."""
    try:
        room = min(shutil.disk_usage(_IN_MEMORY).free, psutil.virtual_memory().available)
    except OSError:
        return None
    return _IN_MEMORY if room >= _ROOM_BYTES and os.access(_IN_MEMORY, os.W_OK | os.X_OK) else None
