"""Leaving alone for a moment what has just failed, so that not everybody finds out by waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Cooldown:
    """The memory of a failure. Whoever wants to try asks `begin` first, and reports what came of it.

    After a failure nobody is let through for `rest_s` seconds; then one at a time is, until one succeeds. Safe to share
    between threads.

    Parameters
    ----------
    rest_s : float
        How long a failure is remembered, in seconds.
    clock : callable
        Seconds; replaced in tests.

    Examples
    --------
    >>> cooldown = Cooldown(rest_s=1.0, clock=lambda: 0.0)
    >>> cooldown.begin()
    >>> cooldown.failed("no answer")
    >>> cooldown.begin()
    'no answer'
    >>> cooldown.succeeded()
    >>> cooldown.begin()
    """

    def __init__(self, rest_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rest_s = rest_s
        self._clock = clock
        self._lock = threading.Lock()
        self._reason: str | None = None
        self._ends_at = 0.0
        self._is_tried = False

    def begin(self) -> str | None:
        """Return why the caller must not try now, or None where it may.

        Then it must end with `succeeded` or `failed`: as long as a failure is remembered, nobody else tries before.
        """
        with self._lock:
            if self._reason is not None:
                if self._is_tried or self._clock() < self._ends_at:
                    return self._reason
                self._is_tried = True
            return None

    def failed(self, reason: str) -> None:
        """Remember a failure from now on."""
        with self._lock:
            self._reason = reason
            self._ends_at = self._clock() + self._rest_s
            self._is_tried = False

    def succeeded(self) -> None:
        """Forget the failure: everybody may try."""
        with self._lock:
            self._reason = None
            self._is_tried = False
