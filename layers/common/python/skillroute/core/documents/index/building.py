"""Building an index in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

from skillroute.core.errors.model import SkillrouteError
from skillroute.core.observability import logger
from skillroute.core.time.clock import Clock
from skillroute.core.time.cooldown import Cooldown

_AGAIN_AFTER_S = 30.0


class Building:
    """At most one thread that builds; what has just failed is not begun again at once."""

    def __init__(self, clock: Clock) -> None:
        self._failed = Cooldown(_AGAIN_AFTER_S, clock)
        self._thread: threading.Thread | None = None

    @property
    def is_under_way(self) -> bool:
        """Whether there is a thread that builds."""
        return self._thread is not None and self._thread.is_alive()

    def begin(self, work: Callable[[], None]) -> None:
        """Start a thread that does the work, unless there is one or the last has just failed."""
        if self.is_under_way or self._failed.failure() is not None:
            return
        self._thread = threading.Thread(target=self._do, args=(work,), name="index-rebuild", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Return when no thread builds."""
        if self._thread is not None:
            self._thread.join()

    def _do(self, work: Callable[[], None]) -> None:
        try:
            work()
        except SkillrouteError as error:
            # Searches go on as they do, and a later one begins another attempt.
            self._failed.failed(str(error))
            logger.warning("index rebuild failed", extra={"reason": str(error)})
