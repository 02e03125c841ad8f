"""Which tests run in one process where the tests run side by side: those of a file, and all that ask one server."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling

_ROOT = Path(__file__).parents[1]


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
