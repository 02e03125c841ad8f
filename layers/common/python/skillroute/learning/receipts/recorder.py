"""Recording receipts: what searches hand over, written by a thread of its own (docs/adr/0071)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from skillroute.core.observability import Metric
from skillroute.core.recording import BUFFERED, Recorded, Recorder, Write
from skillroute.core.time.clock import Clock
from skillroute.learning.receipts.rows import Noted, noted
from skillroute.search.receipts import SearchReceipt

_RECEIPTS = Recorded("receipts of searches", Metric.RECEIPTS_WRITTEN, Metric.RECEIPTS_DROPPED)


class ReceiptRecorder:
    """Takes receipts over, and has them written text by text (`Recorder`).

    Parameters
    ----------
    make_row : callable
        Returns the columns of a text. It runs in the thread: 40 µs, half of it for masks.
    write : callable
        Writes rows. Raises `DatabaseUnavailable`.
    most : int
        Texts that wait at most: with vectors of 384 numbers 5 MB, of 3,072 26 MB.
    """

    def __init__(
        self,
        make_row: Callable[[Noted], Mapping[str, Any]],
        write: Write,
        *,
        most: int = BUFFERED,
        starts: bool = True,
        clock: Clock = time.monotonic,
    ) -> None:
        self._recorder = Recorder(_RECEIPTS, make_row, write, most=most, starts=starts, clock=clock)

    def note(self, receipt: SearchReceipt) -> None:
        """Take a receipt over; what has no room any more is lost, the oldest first."""
        self._recorder.note(*noted(receipt))

    def step(self) -> float | None:
        """Write what is to be written now; return the seconds until the next step, None until something is noted."""
        return self._recorder.step()

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until all that was noted is written or lost; return whether that was so in time."""
        return self._recorder.flush(timeout_s)

    def close(self) -> None:
        """Write what waits, for two seconds at most; what comes later is lost."""
        self._recorder.close()
