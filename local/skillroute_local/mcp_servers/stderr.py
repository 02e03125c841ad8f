"""What the program of an MCP server writes to its standard error: shown, and the end of it kept for messages."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

_LINES = 20
_MAX_LINE_BYTES = 2_000
_MOMENT_S = 0.2


class StderrTail:
    """A pipe for a program's standard error, read by a thread of its own until every writer has closed it.

    Parameters
    ----------
    show : callable or None
        Called with each line as it comes.
    """

    def __init__(self, show: Callable[[str], None] | None = None) -> None:
        self._show = show
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
        with os.fdopen(descriptor, "rb") as pipe:
            while line := pipe.readline(_MAX_LINE_BYTES):
                text = line.decode("utf-8", "replace").rstrip()
                self._lines.append(text)
                if self._show is not None:
                    self._show(text)
