"""Time that counts only where it is spent on something: waits, between which there is work."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from skillroute.core.time.clock import Clock


class CountedTime:
    """A clock for a `Deadline` that only some of the time counts for. Not to be shared between threads.

    Examples
    --------
    >>> waited = CountedTime()
    >>> waited.add(1.5)
    >>> waited()
    1.5
    """

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._counted_s = 0.0

    def __call__(self) -> float:
        """Return the seconds that counted so far."""
        return self._counted_s

    def add(self, seconds: float) -> None:
        """Count some seconds."""
        self._counted_s += seconds

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count the time of a block, also when it raises."""
        begun_s = self._clock()
        try:
            yield
        finally:
            self.add(self._clock() - begun_s)
