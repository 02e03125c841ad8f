"""Shows the standard error of an MCP server's program, and keeps its end for messages."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

from skillroute_local.terminal_text import harmless

_LINES = 20
_MAX_LINE_BYTES = 2_000
_CHUNK_BYTES = 64 * 1024
_MOMENT_S = 0.2
_WINDOW_S = 1.0
_PAUSE_S = 0.01
"""After a piece of which lines were left out: else the thread would keep the loop waiting for each piece."""

MAX_LINES = 50
"""That are shown of a second."""


class StderrTail:
    """A pipe for a program's standard error, read by a thread of its own until every writer has closed it.

    Parameters
    ----------
    show : callable or None
        Called with each line as it comes, of a second with so many at most, then with how many were left out.
    clock : callable
        Seconds; they only grow.
    """

    def __init__(self, show: Callable[[str], None] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._show = show
        self._clock = clock
        self._began = clock()
        self._room = MAX_LINES
        self._left_out = 0
        self._lines: deque[str] = deque(maxlen=_LINES)
        reader, writer = os.pipe()
        self.file = os.fdopen(writer, "w", encoding="utf-8")
        self._thread = threading.Thread(target=self._read, args=(reader,), name="stderr", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        """Close this process's end; the thread ends with the last writer."""
        self.file.close()

    def last(self) -> str:
        """Return the last line that says something, empty when there was none."""
        return next((line for line in reversed(list(self._lines)) if line.strip()), "").strip()

    def last_of_ended(self) -> str:
        """Return the same of a program that has ended, whose last line may not have been read yet."""
        self.file.close()
        self._thread.join(_MOMENT_S)  # longer only where a program that it has started writes on
        return self.last()

    def _read(self, descriptor: int) -> None:
        rest = b""
        try:
            while piece := os.read(descriptor, _CHUNK_BYTES):
                whole, newline, rest = (rest + piece).rpartition(b"\n")
                if newline and not self._take(whole):
                    time.sleep(_PAUSE_S)
                if len(rest) > _MAX_LINE_BYTES:
                    rest = rest[:_MAX_LINE_BYTES]
            if rest:
                self._take(rest)
            self._tell_left_out()
        finally:
            os.close(descriptor)

    def _take(self, whole: bytes) -> bool:
        """Keep the last lines of a piece and show its first ones; return whether none was left out."""
        self._begin_window()
        count = whole.count(b"\n") + 1
        shown = whole.split(b"\n", self._room)[: self._room]
        for line in whole.rsplit(b"\n", _LINES)[-_LINES:]:
            self._lines.append(_as_text(line))
        if self._show is not None:
            for line in shown:
                self._show(_as_text(line))
        self._room -= len(shown)
        self._left_out += count - len(shown)
        return count == len(shown)

    def _begin_window(self) -> None:
        if self._clock() - self._began >= _WINDOW_S:
            self._tell_left_out()
            self._began, self._room = self._clock(), MAX_LINES

    def _tell_left_out(self) -> None:
        if self._left_out and self._show is not None:
            self._show(f"({self._left_out} more lines are not shown)")
        self._left_out = 0


def _as_text(line: bytes) -> str:
    return harmless(line[:_MAX_LINE_BYTES].decode("utf-8", "replace").rstrip())
