"""How much time the current Lambda invocation has left: no wait below it may last longer.

A context variable, because the code that waits (a database connection) lies far below the code that has Lambda's
context. A new thread starts without it: background work is not limited by the invocation that started it. Work that
belongs to the invocation is started with ``contextvars.copy_context().run``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from skillroute.core.time.deadline import Deadline

_ANSWER_S = 0.5
"""Reserved for the answer itself, which must leave before Lambda ends the invocation."""

_MIN_WAIT_S = 0.25
"""The least that is waited, even at the end: a healthy dependency answers in a few milliseconds."""

_deadline: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


def left_ms(context: Any) -> float | None:
    """Return the milliseconds that Lambda gives an invocation yet; None where no Lambda counts (a laptop)."""
    remaining_ms = getattr(context, "get_remaining_time_in_millis", None)
    return None if remaining_ms is None else float(remaining_ms())


@contextmanager
def ending_with(context: Any) -> Iterator[None]:
    """Limit the waits in this block to a Lambda invocation.

    Parameters
    ----------
    context : object
        Lambda's context. Where it does not know the time left (None, a laptop), there is no limit.
    """
    left = left_ms(context)
    token = _deadline.set(None if left is None else Deadline(left / 1000.0 - _ANSWER_S))
    try:
        yield
    finally:
        _deadline.reset(token)


def left_s() -> float | None:
    """Return the seconds that the invocation has left, its answer aside; None where there is no limit."""
    deadline = _deadline.get()
    return None if deadline is None else deadline.remaining_s()


def at_most_s(seconds: float) -> float:
    """Return how long to wait for something that may take that many seconds: no longer than the invocation has left."""
    deadline = _deadline.get()
    return seconds if deadline is None else min(seconds, max(_MIN_WAIT_S, deadline.remaining_s()))
