"""Who goes first where requests share a process: plain ones, before what takes many times as long (docs/adr/0065)."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_GIVEN_S = 0.05
"""The most that heavy work waits at one of its steps."""

_GIVEN_IN_ALL_S = 8.0
"""And at all of them: it must come to an end beside any number of plain requests."""


class _Place:
    """The place of a plain request among those under way."""

    __slots__ = ("is_taken",)

    def __init__(self) -> None:
        self.is_taken = True


class _Patience:
    """How long a heavy request has yet to wait for others."""

    __slots__ = ("left_s",)

    def __init__(self) -> None:
        self.left_s = _GIVEN_IN_ALL_S


class Turns:
    """Counts the plain requests under way; heavy work asks before each of its steps whether there are any.

    Threads take turns at the interpreter every few milliseconds, and so a search beside a batch would take several
    times as long. Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._plain = 0
        self._none_left = threading.Condition()
        self._place: ContextVar[_Place | None] = ContextVar("place", default=None)
        self._patience: ContextVar[_Patience | None] = ContextVar("patience", default=None)

    @property
    def is_heavy(self) -> bool:
        """Whether the work of this thread gives way."""
        return self._patience.get() is not None

    @contextmanager
    def plain(self) -> Iterator[None]:
        """Go first within this block, unless what is done in it turns out to be heavy."""
        place = _Place()
        token = self._place.set(place)
        with self._none_left:
            self._plain += 1
        try:
            yield
        finally:
            self._leave(place)
            self._place.reset(token)

    def step_aside(self) -> None:
        """Go first no more: what this request is about is heavy, and may wait for others of its kind."""
        place = self._place.get()
        if place is not None:
            self._leave(place)

    @contextmanager
    def heavy(self) -> Iterator[None]:
        """Give way, within this block."""
        self.step_aside()
        token = self._patience.set(_Patience())
        try:
            yield
        finally:
            self._patience.reset(token)

    def give_way(self) -> None:
        """Wait until no plain request is under way, for a moment at most; do not where this work is plain itself."""
        if not self._plain or (patience := self._patience.get()) is None or patience.left_s <= 0.0:
            return
        begun = time.monotonic()
        with self._none_left:
            self._none_left.wait_for(lambda: not self._plain, min(_GIVEN_S, patience.left_s))
        patience.left_s -= time.monotonic() - begun

    def _leave(self, place: _Place) -> None:
        with self._none_left:
            if place.is_taken:
                place.is_taken = False
                self._plain -= 1
                if not self._plain:
                    self._none_left.notify_all()
