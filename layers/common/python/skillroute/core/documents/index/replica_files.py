"""Where embedded replicas live: a folder each, named after the process, and gone with the index.

A replica can always be built again from PostgreSQL, so nothing of it is worth keeping.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from pathlib import Path

from skillroute.core.documents.index.edge import EdgeIndex

_numbers = itertools.count()


def new_replica_dir(parent: Path | None) -> Path:
    """Make an empty folder ``replica-<pid>-<n>`` under `parent`, or a temporary one.

    The process is named so that what a killed one leaves behind can be told from what is in use.
    """
    if parent is None:
        return Path(tempfile.mkdtemp(prefix="skillroute-replica-"))
    while True:
        directory = parent / f"replica-{os.getpid()}-{next(_numbers)}"
        try:
            directory.mkdir(parents=True)
        except FileExistsError:
            continue  # left behind by a killed process of the same number, as in a container that starts again
        return directory


class ThrowawayEdgeIndex(EdgeIndex):
    """An `EdgeIndex` whose folder is removed when it is closed."""

    def close(self) -> None:
        """Let go of the files and remove them."""
        try:
            super().close()
        finally:
            shutil.rmtree(self._directory, ignore_errors=True)
