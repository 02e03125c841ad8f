"""Helpers of all that calls a model: what servers say about trying again, and a few threads within a deadline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from skillroute.core.time.deadline import Deadline

A = TypeVar("A")
T = TypeVar("T")

_TRANSIENT_STATUSES = frozenset({408, 429})

MAX_MESSAGE_LENGTH = 300
"""How much of a server's error message is passed on, in characters: a proxy's may be a whole HTML page."""


def is_transient(status: int) -> bool:
    """Return whether a server that answers with this HTTP status may answer otherwise when it is asked again."""
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
    where its own timeout ends it. After an error the deadline is abandoned, so that calls under way stop; after
    success it serves for what comes next.

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
    except BaseException:
        deadline.abandon()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
