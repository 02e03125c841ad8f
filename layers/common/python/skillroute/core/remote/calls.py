"""What everybody who calls a model needs: a few threads, and retries, that respect a deadline."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from itertools import count
from typing import TypeVar

from skillroute.core.clock import Clock
from skillroute.core.deadline import Deadline
from skillroute.core.errors import DependencyUnavailable

A = TypeVar("A")
T = TypeVar("T")

_TRANSIENT_STATUSES = frozenset({408, 429})

MAX_MESSAGE_LENGTH = 300
"""How much of a server's error message is passed on, in characters: a proxy's may be a whole HTML page."""


class TransientFailure(DependencyUnavailable):
    """An attempt failed in a way that another attempt may not. `RetryPolicy.run` lets none of them out.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Exponential backoff with full jitter, inside a deadline.

    The pause before attempt n + 1 is uniform in [0, min(`cap_s`, `base_s` * 2 ** (n - 1))], so that callers who failed
    together do not come back together. What the server asks for in ``Retry-After`` is added to it.

    Parameters
    ----------
    attempts : int
        How often a call is made at most, the first included.
    base_s, cap_s : float
        The widest first pause and the widest pause at all, in seconds.
    patience_s : float
        A server that asks for a longer pause, in seconds, is not asked again.
    sleep, clock, uniform : callable
        Replaced in tests, which neither wait nor throw dice.
    """

    attempts: int = 5
    base_s: float = 0.2
    cap_s: float = 5.0
    patience_s: float = math.inf
    sleep: Callable[[float], None] = time.sleep
    clock: Clock = time.monotonic
    uniform: Callable[[float, float], float] = random.uniform

    def run(self, attempt: Callable[[], T], deadline: Deadline) -> T:
        """Call `attempt` until it returns, fails for good, or no attempt or time is left.

        Raises
        ------
        DependencyUnavailable
            The callee's error: the last attempt's failure, and why there was no further one.
        """
        for number in count(1):
            deadline.check()
            try:
                return attempt()
            except TransientFailure as error:
                pause_s = self._pause_s(number, error.retry_after_s)
                if (why := self._why_not_again(number, pause_s, deadline)) is not None:
                    raise deadline.callee.error(f"{error} (attempt {number}{why})") from error
            self.sleep(pause_s)
        raise AssertionError("count() does not end")

    def _why_not_again(self, number: int, pause_s: float, deadline: Deadline) -> str | None:
        """Say why attempt `number` was the last one; None when it was not."""
        if number >= self.attempts:
            return ", the last"
        if pause_s > self.patience_s:
            return f"; the next would be in {pause_s:.0f} s"
        if pause_s >= deadline.remaining_s():
            return f"; none further fits into {deadline.timeout_s:g} s"
        return None

    def _pause_s(self, number: int, retry_after_s: float | None) -> float:
        backoff_s = self.uniform(0.0, min(self.cap_s, self.base_s * 2 ** (number - 1)))
        return backoff_s + (retry_after_s or 0.0)


DEFAULT_RETRY = RetryPolicy()


def is_transient(status: int) -> bool:
    """Whether a server that answers with this HTTP status may answer otherwise when it is asked again."""
    return status in _TRANSIENT_STATUSES or status >= 500


def retry_after_s(header: str | None) -> float | None:
    """Read a ``Retry-After`` header, seconds or a date (RFC 9110 section 10.2.3); None when there is none to read."""
    if not header:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        at = parsedate_to_datetime(header)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())


def fan_out(function: Callable[[A], T], arguments: Sequence[A], *, workers: int, deadline: Deadline) -> list[T]:
    """Call `function` with each argument on a few threads, and return the results in order.

    The deadline holds for the caller whatever the calls do: one that is stuck in a socket is left behind on its thread,
    where its own timeout ends it.

    Raises
    ------
    DependencyUnavailable
        The time is up: the callee's error. An error of `function` is raised as it is, and what has not begun by
        then is not begun.
    """
    if not arguments:
        return []
    # A pool per call: a shared one would fill up with calls that are stuck, and starting a thread takes about 50 us.
    pool = ThreadPoolExecutor(min(workers, len(arguments)), thread_name_prefix=deadline.callee.thread_name)
    try:
        futures = [pool.submit(function, argument) for argument in arguments]
        done, pending = wait(futures, timeout=deadline.remaining_s(), return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        if pending:
            raise deadline.passed()
        return [future.result() for future in futures]
    finally:
        deadline.abandon()
        pool.shutdown(wait=False, cancel_futures=True)
