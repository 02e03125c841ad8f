"""Recording without letting a request wait: a bounded buffer, and one thread that writes what has gathered."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.observability import Metric, count, logger
from skillroute.core.time.clock import Clock

T = TypeVar("T")

BUFFERED = 2000
"""Rows that wait at most."""

_GATHERED = 200
_AT_ONCE = 500
_EVERY_S = 1.0
_WARN_EVERY_S = 60.0
_CLOSE_S = 2.0

Write = Callable[[Sequence[Mapping[str, Any]]], object]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The name of what is recorded, in the log and of its thread, and how it is counted; None: what is not."""

    name: str
    written: Metric | None
    dropped: Metric


class Recorder(Generic[T]):
    """Takes over what is to be written, and has a thread of its own write it, which the first of it starts.

    It writes at once where it last did so a second ago, or else when the second is over or 200 have gathered. After a
    failure they are tried once more, with what came meanwhile; after another they are lost. So are the oldest beyond
    `most`: both are counted.

    Parameters
    ----------
    recorded : Recorded
    make_row : callable
        Returns the columns of one. It runs in the thread.
    write : callable
        Writes rows. Raises `DatabaseUnavailable`.
    most : int
        Rows that wait at most.
    starts : bool
        Start the thread. Without it `step` is called by a test.
    """

    def __init__(
        self,
        recorded: Recorded,
        make_row: Callable[[T], Mapping[str, Any]],
        write: Write,
        *,
        most: int = BUFFERED,
        starts: bool = True,
        clock: Clock = time.monotonic,
    ) -> None:
        self._recorded = recorded
        self._make_row = make_row
        self._write = write
        self._most = most
        self._starts = starts
        self._clock = clock
        self._changed = threading.Condition()
        self._buffer: deque[T] = deque()
        self._thread: threading.Thread | None = None
        self._taken_at = -_EVERY_S
        self._warned_at = -_WARN_EVERY_S
        self._has_failed = False
        self._noted = self._done = 0
        self._wanted = 0  # all that was noted up to here is to be written without a wait
        self._is_closed = False

    def note(self, *rows: T) -> None:
        """Take some over; what has no room any more is lost, the oldest first."""
        with self._changed:
            if self._is_closed:
                return
            was_empty = not self._buffer
            before = len(self._buffer)
            self._buffer.extend(rows)
            self._noted += len(rows)
            self._drop(len(self._buffer) - self._most)
            if self._thread is None and self._starts:
                self._start()
            elif was_empty or before < _GATHERED <= len(self._buffer):
                self._changed.notify_all()

    def step(self) -> float | None:
        """Write what is to be written now; return the seconds until the next step, None until something is noted."""
        with self._changed:
            wait_s = self._wait_s()
            if wait_s != 0.0:
                return wait_s
            rows = [self._buffer.popleft() for _ in range(min(_AT_ONCE, len(self._buffer)))]
            self._taken_at = self._clock()
        try:
            self._write([self._make_row(one) for one in rows])
        except DatabaseUnavailable as error:
            self._failed(rows, error)
        except Exception as error:  # noqa: BLE001 (what comes next is still to be written)
            logger.exception("%s lost", self._recorded.name)
            self._failed(rows, error, may_retry=False)
        else:
            if self._recorded.written is not None:
                count(self._recorded.written, len(rows))
            with self._changed:
                self._has_failed = False
                self._done += len(rows)
                self._changed.notify_all()
        return 0.0

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until all that was noted is written or lost; return whether that was so in time."""
        with self._changed:
            wanted = self._wanted = self._noted
            self._changed.notify_all()
            return self._changed.wait_for(lambda: self._done >= wanted, timeout_s)

    def close(self) -> None:
        """Write what waits, for two seconds at most, and end the thread; what comes later is lost."""
        with self._changed:
            is_idle = self._thread is None
        if not is_idle:
            self.flush(_CLOSE_S)
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(0.1)

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name=self._recorded.name, daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no thread can be had, as at the end of a process: the next one tries again
            logger.debug("no thread", extra={"recorded": self._recorded.name, "reason": str(error)})
            return
        self._thread = thread

    def _run(self) -> None:
        while True:
            wait_s = self.step()
            if wait_s == 0.0:
                continue
            with self._changed:
                if self._is_closed:
                    return
                wait_s = self._wait_s()  # something may have come since
                if wait_s != 0.0:
                    self._changed.wait(wait_s)

    def _wait_s(self) -> float | None:
        """Return the seconds until the buffer is to be written; None where it is empty."""
        if not self._buffer:
            return None
        is_asked_for = self._wanted > self._done or len(self._buffer) >= _GATHERED
        if is_asked_for and not self._has_failed:
            return 0.0
        return max(0.0, self._taken_at + _EVERY_S - self._clock())

    def _failed(self, rows: Sequence[T], error: Exception, *, may_retry: bool = True) -> None:
        with self._changed:
            may_retry = may_retry and not self._has_failed
            self._has_failed = may_retry
            if may_retry:
                self._buffer.extendleft(reversed(rows))
                self._drop(len(self._buffer) - self._most)
            else:
                self._lost(len(rows))
            self._changed.notify_all()
            is_to_warn = self._clock() - self._warned_at >= _WARN_EVERY_S
            if is_to_warn:
                self._warned_at = self._clock()
        if is_to_warn:
            logger.warning("%s not written", self._recorded.name, extra={"rows": len(rows), "reason": str(error)})

    def _drop(self, rows: int) -> None:
        """Lose the oldest, where there are more than have room."""
        if rows > 0:
            for _ in range(rows):
                self._buffer.popleft()
            self._lost(rows)

    def _lost(self, rows: int) -> None:
        self._done += rows
        count(self._recorded.dropped, rows)
