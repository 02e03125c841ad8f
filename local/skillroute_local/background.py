"""Work that follows a commit, done during the next batch."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property

from skillroute.core.observability import logger
from skillroute.wiring import Parts


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


class PumpParts(Parts):
    """Parts whose consumers do not wait while what their batch made room for is published (docs/adr/0028).

    Only where a process lives on: on Lambda nothing does once a batch is answered.
    """

    @cached_property
    def _background(self) -> Background:
        return Background(super().after_commit)

    def after_commit(self) -> None:
        """Ask for what follows a commit, and return at once."""
        self._background()
