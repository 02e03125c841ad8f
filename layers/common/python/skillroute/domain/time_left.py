"""How long the invocation goes on that this thread works for: whoever waits for something waits no longer.

A context variable, because what waits (a database's connection) lies far below what knows (Lambda's context). Threads
have none of their own: work that outlives the invocation is not cut off with it, and work that belongs to it is
started with ``contextvars.copy_context().run``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_ANSWER_S = 0.5
"""Kept for the answer itself, which must be out before Lambda cuts the invocation off."""

_LEAST_S = 0.25
"""What may be waited for even then: a part that is well answers in a few milliseconds."""

_ends_at: ContextVar[float | None] = ContextVar("ends_at", default=None)


@contextmanager
def ending_with(context: Any) -> Iterator[None]:
    """Work for a Lambda invocation in this block.

    Parameters
    ----------
    context : object
        Lambda's context; what does not count the time that is left has no end.
    """
    left_ms = getattr(context, "get_remaining_time_in_millis", None)
    ends_at = None if left_ms is None else time.monotonic() + left_ms() / 1000.0 - _ANSWER_S
    token = _ends_at.set(ends_at)
    try:
        yield
    finally:
        _ends_at.reset(token)


def at_most_s(seconds: float) -> float:
    """Return how long to wait for what may take that many seconds: no longer than the invocation goes on."""
    ends_at = _ends_at.get()
    return seconds if ends_at is None else min(seconds, max(_LEAST_S, ends_at - time.monotonic()))
