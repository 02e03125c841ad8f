"""How many processes run the tests side by side, and which tests each: those of a file, or all that ask one server."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import psutil
from xdist.scheduler import LoadFileScheduling

_ROOT = Path(__file__).parents[1]
_TAKES_BYTES = 2 << 30
"""What a process takes at most, with its servers and what these keep in memory."""


def count_of_processes() -> int:
    """Return one more than there are processors, since a fifth of what tests take is waiting; as many as have room."""
    asked = os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS")
    if asked is not None:
        return int(asked)
    processors = psutil.cpu_count() or 1
    return min(processors + 1, max(processors, psutil.virtual_memory().available // _TAKES_BYTES))


class FilesOfAServer(LoadFileScheduling):
    """Keeps the files together whose tests take the fixture `running`.

    Its server takes 10 s of a processor to start, and a thirtieth of one for as long as it runs, in each process.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid.split("::", 1)[0])


@cache
def scope_of(file: str) -> str:
    """Return what names the tests that a file's tests run with: the file, or the server that they ask."""
    return "running" if "running: Up" in (_ROOT / file).read_text(encoding="utf-8") else file
