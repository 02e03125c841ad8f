"""Work that follows a commit, done during the next batch."""

from __future__ import annotations

import threading
from collections.abc import Callable

from skillroute.core.observability import logger


class Background:
    """Does something in a thread of its own when it is asked to, once for all that asked while it was busy.

    Parameters
    ----------
    work : callable
        What is done. What it raises is logged.
    """

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._asked = threading.Event()
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)
        self._thread.start()

    def __call__(self) -> None:
        """Ask for the work, and return at once."""
        self._asked.set()

    def _run(self) -> None:
        while True:
            self._asked.wait()
            # Cleared before it is done: a caller meanwhile may have committed too late for this time.
            self._asked.clear()
            try:
                self._work()
            except Exception:  # noqa: BLE001 (logged; the relay does what was not done)
                logger.exception("background work failed")
