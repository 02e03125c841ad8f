"""The history as the console asks for it, wherever it is kept."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import Any, Literal, Protocol

from skillroute_local.history.figures import in_steps, series_of
from skillroute_local.history.ring import HistoryFile

Range = Literal["1h", "24h", "7d", "30d"]
STEPS: dict[Range, tuple[int, int]] = {"1h": (60, 60), "24h": (300, 288), "7d": (3600, 168), "30d": (14400, 180)}
"""The seconds of a step, and the number of steps, of each range: few enough for a chart and a table."""


class HistoryUnavailable(Exception):
    """The history cannot be read.

    Attributes
    ----------
    remedy : str
        What helps.
    """

    def __init__(self, detail: str, remedy: str) -> None:
        super().__init__(detail)
        self.remedy = remedy


class History(Protocol):
    """Keeps figures of hours and days."""

    def series(self, range_: Range) -> dict[str, Any]:
        """Return `step_s` and each figure as a list, up to now. Raises `HistoryUnavailable`."""
        ...


class FileHistory:
    """The history of a Skillroute on this machine.

    Parameters
    ----------
    file : HistoryFile
    now : callable
        Seconds of the epoch.
    """

    def __init__(self, file: HistoryFile, now: Callable[[], float] = time.time) -> None:
        self._file, self._now = file, now

    def series(self, range_: Range) -> dict[str, Any]:
        """Return `step_s` and each figure as a list, up to now. Raises `HistoryUnavailable`."""
        start, step_s, steps = window(range_, self._now())
        try:
            rows = self._file.read(start, start + step_s * steps, step_s)
        except sqlite3.Error as error:
            raise HistoryUnavailable(
                f"{self._file.path.name} cannot be read: {error}",
                "Stop Skillroute, delete the file in SKILLROUTE_HOME, and start again: it is made anew.",
            ) from error
        return {"step_s": step_s, "series": series_of(in_steps(rows, start, step_s, steps), start, step_s)}


def window(range_: Range, now: float) -> tuple[int, int, int]:
    """Return where a range begins, the seconds of a step, and how many steps there are: the last one has `now`."""
    step_s, steps = STEPS[range_]
    return int(now) - int(now) % step_s - step_s * (steps - 1), step_s, steps
