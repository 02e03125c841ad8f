"""Files that hold a secret: only those are read that their owner alone can read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from skillroute.core.errors.model import SecretUnavailable

MAX_BYTES = 65_536


def read_private(path: Path) -> bytes:
    """Return what a file holds. Raises `SecretUnavailable` where others than its owner may read it, with the remedy."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise SecretUnavailable(f"{path} cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        # Of the file that is open: a path may be another file by now.
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise SecretUnavailable(f"{path} is not a file")
        if about.st_mode & 0o077:
            raise SecretUnavailable(f"{path} can be read by others than its owner: chmod 600 {path}")
        if hasattr(os, "geteuid") and about.st_uid not in {os.geteuid(), 0}:
            raise SecretUnavailable(f"{path} belongs to another user: make a file of your own")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise SecretUnavailable(f"{path} is larger than {MAX_BYTES} bytes")
    return data
