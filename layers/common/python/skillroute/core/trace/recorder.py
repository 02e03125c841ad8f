"""Recording events: searches by a thread of their own, all others before their answer is sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from skillroute.core.errors import outage
from skillroute.core.errors.model import DependencyUnavailable
from skillroute.core.observability import Metric, count, logger
from skillroute.core.recording import BUFFERED, Recorded, Recorder, Write
from skillroute.core.time.clock import Clock
from skillroute.core.trace.model import TraceEvent, shown_arguments

_SEARCHES = Recorded("trace of searches", None, Metric.TRACE_LOST)


class Traces(Protocol):
    """Takes events."""

    @property
    def searches(self) -> bool:
        """Whether searches are events."""
        ...

    def arguments(self, arguments: object) -> str | None:
        """Return arguments as an event may have them; None where they are left out."""
        ...

    def record(self, event: TraceEvent) -> None:
        """Take an event. One of a search is noted, any other is written. Raises nothing: what is lost is counted."""
        ...


class TraceRecorder:
    """Records events.

    Parameters
    ----------
    write : callable
        Writes rows. Raises `DatabaseUnavailable`.
    searches : bool
        Whether searches are events.
    arguments : bool
        Whether events have arguments, without secrets.
    most : int
        Searches that wait at most.
    starts : bool
        See `Recorder`.
    """

    def __init__(
        self,
        write: Write,
        *,
        searches: bool = True,
        arguments: bool = False,
        most: int = BUFFERED,
        starts: bool = True,
        clock: Clock = time.monotonic,
    ) -> None:
        self._write = write
        self._has_arguments = arguments
        self.searches = searches
        make_row: Callable[[TraceEvent], Mapping[str, Any]] = TraceEvent.row
        self._later = Recorder(_SEARCHES, make_row, write, most=most, starts=starts, clock=clock)

    def arguments(self, arguments: object) -> str | None:
        """Return arguments as an event may have them; None where they are left out."""
        return shown_arguments(arguments) if self._has_arguments else None

    def record(self, event: TraceEvent) -> None:
        """Take an event. One of a search is noted, any other is written. Raises nothing: what is lost is counted."""
        if event.kind == "search":
            if self.searches:
                self._later.note(event)
            return
        try:
            self._write([event.row()])
        except Exception as error:  # noqa: BLE001 (the work is done: its answer is not to change)
            if isinstance(error, DependencyUnavailable):
                outage.note(error)
            count(Metric.TRACE_LOST)
            lost = {"kind": event.kind, "what": event.what, "event_request_id": event.request_id}
            logger.error("trace lost", extra={**lost, "reason": str(error)})

    def step(self) -> float | None:
        """Write the searches that are to be written now (`Recorder.step`)."""
        return self._later.step()

    def flush(self, timeout_s: float = 10.0) -> bool:
        """Wait until all searches that were noted are written or lost; return whether that was so in time."""
        return self._later.flush(timeout_s)

    def close(self) -> None:
        """Write the searches that wait, for two seconds at most; what comes later is lost."""
        self._later.close()
