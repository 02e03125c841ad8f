"""Who goes first where requests share a process: plain ones, before what takes many times as long (docs/adr/0065)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from skillroute.core.time.counted import CountedTime
from skillroute.core.time.deadline import Deadline

_GIVEN_S = 0.05
"""The most that heavy work waits at one of its steps."""

_GIVEN_IN_ALL_S = 8.0
"""And at all of them: it must come to an end beside any number of plain requests."""


class _Patience:
    """When a heavy request has waited enough for others: only its waits count."""

    __slots__ = ("deadline", "waited")

    def __init__(self) -> None:
        self.waited = CountedTime()
        self.deadline = Deadline(_GIVEN_IN_ALL_S, self.waited)


class Turns:
    """Counts the plain requests that are worked on; heavy work asks before each of its steps whether there are any.

    Threads take turns at the interpreter every few milliseconds, and so a search beside a batch would take several
    times as long. Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._plain = 0
        self._none_left = threading.Condition()
        self._patience: ContextVar[_Patience | None] = ContextVar("patience", default=None)

    @property
    def is_heavy(self) -> bool:
        """Whether the work of this thread gives way."""
        return self._patience.get() is not None

    @contextmanager
    def plain(self) -> Iterator[None]:
        """Go first within this block. What waits for a thread may be counted: heavy work holds none of theirs."""
        with self._none_left:
            self._plain += 1
        try:
            yield
        finally:
            with self._none_left:
                self._plain -= 1
                if not self._plain:
                    self._none_left.notify_all()

    @contextmanager
    def heavy(self) -> Iterator[None]:
        """Give way, within this block."""
        token = self._patience.set(_Patience())
        try:
            yield
        finally:
            self._patience.reset(token)

    def give_way(self) -> None:
        """Wait until no plain request is worked on, for a moment at most; do not where this work is plain itself."""
        if not self._plain or (patience := self._patience.get()) is None or patience.deadline.is_over:
            return
        with patience.waited.counting(), self._none_left:
            self._none_left.wait_for(lambda: not self._plain, min(_GIVEN_S, patience.deadline.remaining_s()))
