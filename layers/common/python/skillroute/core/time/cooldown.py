"""A memory of failure: what has just failed is not tried by every caller, each with a wait of its own."""

from __future__ import annotations

import math
import threading
import time

from skillroute.core.time.clock import Clock


class Cooldown:
    """Remembers a failure for `rest_s` seconds, in which callers do not try. Threads may share it.

    What may be tried by all at once afterwards asks `failure` before it tries. What should then be tried by one at a
    time, until one succeeds, asks `begin`. Both report the result.

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

    def __init__(self, rest_s: float, clock: Clock = time.monotonic) -> None:
        self._rest_s = rest_s
        self._clock = clock
        self._lock = threading.Lock()
        self._reason: str | None = None
        self._up_to_s = math.inf
        self._ends_at = 0.0
        self._is_tried = False

    def failure(self, timeout_s: float = 0.0) -> str | None:
        """Return why a caller who has `timeout_s` seconds must not try now, or None when it may."""
        with self._lock:
            rests = self._reason is not None and self._clock() < self._ends_at and timeout_s <= self._up_to_s
            return self._reason if rests else None

    def begin(self) -> str | None:
        """Return why the caller must not try now, or None when it may: after a failure one at a time.

        A caller that may try must report by `succeeded` or `failed`: until then the others are refused.
        """
        with self._lock:
            if self._reason is not None:
                if self._is_tried or self._clock() < self._ends_at:
                    return self._reason
                self._is_tried = True
            return None

    def failed(self, reason: str, *, up_to_s: float = math.inf) -> None:
        """Remember a failure from now on.

        Parameters
        ----------
        up_to_s : float
            A caller with more time than this may try all the same: the failure was for lack of time.
        """
        with self._lock:
            self._reason = reason
            self._up_to_s = up_to_s
            self._ends_at = self._clock() + self._rest_s
            self._is_tried = False

    def succeeded(self) -> None:
        """Forget the failure: all callers may try."""
        with self._lock:
            self._reason = None
            self._is_tried = False
