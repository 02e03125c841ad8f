"""When something must have ended, however many steps, attempts and threads it takes."""

from __future__ import annotations

import time
from dataclasses import dataclass

from skillroute.core.errors.model import DependencyUnavailable
from skillroute.core.time.clock import Clock


@dataclass(frozen=True, slots=True)
class Callee:
    """The part that is waited for.

    Attributes
    ----------
    name : str
        As a message names it.
    error : type
        What the caller is to see when there is no answer.
    late : type or None
        What it is to see when the time is up; None where that is `error`, too.
    thread_name : str
        What the threads are called that wait.
    """

    name: str
    error: type[DependencyUnavailable]
    late: type[DependencyUnavailable] | None = None
    thread_name: str = "call"


SOMETHING = Callee("what was called", DependencyUnavailable)


class Deadline:
    """The moment by which something must have ended. Safe to share between threads.

    Parameters
    ----------
    timeout_s : float
        Seconds from now.
    callee : Callee
        Of `left_s` and `check`, which raise.

    Examples
    --------
    >>> deadline = Deadline(2.0, clock=lambda: 0.0)
    >>> deadline.remaining_s(), deadline.is_over
    (2.0, False)
    """

    def __init__(self, timeout_s: float, clock: Clock = time.monotonic, *, callee: Callee = SOMETHING) -> None:
        self.timeout_s = timeout_s
        self.callee = callee
        self._clock = clock
        self._begun_s = clock()
        self._abandoned = False

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return self.remaining_s() <= 0.0

    def remaining_s(self) -> float:
        """Return the seconds that are left; zero when the time is up, or no caller waits for the answer any more."""
        return 0.0 if self._abandoned else max(0.0, self.timeout_s - (self._clock() - self._begun_s))

    def left_s(self) -> float:
        """Return the seconds that are left, more than zero. Raises the callee's error when there are none."""
        left_s = self.remaining_s()
        if left_s <= 0.0:
            raise self.passed()
        return left_s

    def check(self) -> None:
        """Raise the callee's error when no time is left."""
        self.left_s()

    def passed(self) -> DependencyUnavailable:
        """Return the error that says that the time is up."""
        error = self.callee.late or self.callee.error
        return error(f"{self.callee.name} did not answer within {self.timeout_s:g} s")

    def abandon(self) -> None:
        """Note that no caller waits any more, so that work under way stops at its next look at the deadline."""
        self._abandoned = True
