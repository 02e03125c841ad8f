"""Trying again what failed in a way that may pass: how often, how far apart, and until when."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import TypeVar

from skillroute.core.errors.model import DependencyUnavailable, SkillrouteError
from skillroute.core.time.clock import Clock
from skillroute.core.time.deadline import Deadline

T = TypeVar("T")


class TransientFailure(DependencyUnavailable):
    """An attempt failed in a way that another attempt may not. Within a deadline `Retry.run` lets none of them out.

    Parameters
    ----------
    message : str
        A sentence that says what failed.
    retry_after_s : float or None
        How long the server asked to be left alone, in seconds.
    """

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


def is_transient_failure(error: SkillrouteError) -> bool:
    """Return whether an error is a `TransientFailure`."""
    return isinstance(error, TransientFailure)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Exponential backoff with full jitter.

    The pause before attempt n + 1 is uniform in [0, min(`cap_s`, `base_s` * 2 ** (n - 1))], so that callers who failed
    together do not come back together. What the server asks for in ``Retry-After`` is added to it.

    Parameters
    ----------
    attempts : float
        How often something is tried at most, the first time included; infinite where the attempt itself gives up.
    base_s, cap_s : float
        The widest first pause and the widest pause at all, in seconds.
    patience_s : float
        A server that asks for a longer pause, in seconds, is not asked again.
    sleep, clock, uniform : callable
        Replaced in tests, which neither wait nor throw dice.

    Examples
    --------
    >>> Retry(attempts=2, base_s=0.0).run(lambda: 7)
    7
    """

    attempts: float = 5
    base_s: float = 0.2
    cap_s: float = 5.0
    patience_s: float = math.inf
    sleep: Callable[[float], None] = time.sleep
    clock: Clock = time.monotonic
    uniform: Callable[[float, float], float] = random.uniform

    @classmethod
    def every(cls, pause_s: float) -> Retry:
        """Return one that pauses for as long each time and never gives up: the attempt does."""
        return cls(attempts=math.inf, base_s=pause_s, cap_s=pause_s, uniform=lambda _, high: high)

    def run(
        self,
        attempt: Callable[[], T],
        *,
        again: Callable[[SkillrouteError], bool] = is_transient_failure,
        deadline: Deadline | None = None,
    ) -> T:
        """Call `attempt` until it returns, fails for good, or no attempt or time is left.

        Parameters
        ----------
        again : callable
            Returns whether another attempt may not fail as this one did.
        deadline : Deadline or None
            No pause is begun that would end after it.

        Raises
        ------
        SkillrouteError
            The last attempt's failure. Within a deadline, of those that may pass, the callee's error instead: the
            failure, and why there was no further attempt.
        """
        for number in count(1):
            if deadline is not None:
                deadline.check()
            try:
                return attempt()
            except SkillrouteError as error:
                if not again(error):
                    raise
                pause_s = self._pause_s(number, error)
                why = self._why_not_again(number, pause_s, deadline)
                if why is not None and deadline is None:
                    raise
                if why is not None and deadline is not None:
                    raise deadline.callee.error(f"{error} (attempt {number}{why})") from error
            self.sleep(pause_s)
        raise AssertionError("count() does not end")

    def _why_not_again(self, number: int, pause_s: float, deadline: Deadline | None) -> str | None:
        """Return why attempt `number` was the last one; None when it was not."""
        if number >= self.attempts:
            return ", the last"
        if pause_s > self.patience_s:
            return f"; the next would be in {pause_s:.0f} s"
        if deadline is not None and pause_s >= deadline.remaining_s():
            return f"; none further fits into {deadline.timeout_s:g} s"
        return None

    def _pause_s(self, number: int, error: SkillrouteError) -> float:
        # Doubled some 30 times any pause is at its cap, and a float still holds it.
        widest_s = min(self.cap_s, self.base_s * 2 ** min(number - 1, 30))
        asked_s = error.retry_after_s if isinstance(error, TransientFailure) else None
        return self.uniform(0.0, widest_s) + (asked_s or 0.0)


DEFAULT_RETRY = Retry()
