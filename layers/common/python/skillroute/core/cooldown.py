"""A memory of failure: what has just failed is not tried by every caller, each with a wait of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Cooldown:
    """Remembers a failure. A caller asks `begin` before it tries, and reports the result.

    After a failure all callers are refused for `rest_s` seconds. Then one at a time may try, until one succeeds.
    Threads may share it.

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
        """Return why the caller must not try now, or None when it may.

        A caller that may try must report by `succeeded` or `failed`: until then the others are refused.
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
        """Forget the failure: all callers may try."""
        with self._lock:
            self._reason = None
            self._is_tried = False
