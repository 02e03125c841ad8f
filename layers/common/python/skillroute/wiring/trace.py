"""The trace: the recorder of events, spans, and the pruning of events that are too old."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillroute.core.http.traced import Watch
    from skillroute.core.trace.recorder import TraceRecorder
    from skillroute.core.tracing import Spans
    from skillroute.wiring.parts import CoreParts


class Tracing:
    """Events and spans of one process, each part made when it is first asked for; nothing is opened before an event."""

    def __init__(self, core: CoreParts) -> None:
        self._core = core

    @cached_property
    def events(self) -> TraceRecorder | None:
        """The recorder of events; None where none are kept."""
        settings = self._core.settings
        if settings.trace == "off":
            return None
        from skillroute.core.trace.recorder import TraceRecorder
        from skillroute.core.trace.repository import add_trace

        return TraceRecorder(
            lambda rows: add_trace(self._core.storage, rows),
            searches=settings.trace == "on",
            arguments=settings.trace_arguments,
        )

    @cached_property
    def spans(self) -> Spans | None:
        """The maker of spans; None where there are none. Raises `ConfigurationError`."""
        if not self._core.settings.otel:
            return None
        from skillroute.core.tracing import Spans

        return Spans()

    @cached_property
    def watch(self) -> Watch:
        """Both, as the middleware takes them."""
        from skillroute.core.http.traced import Watch

        return Watch(self.events, self.spans)

    def close(self) -> None:
        """Write the events that wait."""
        if "events" in vars(self) and self.events is not None:
            self.events.close()


def prune_trace(core: CoreParts) -> int:
    """Delete events that are too old; return how many went. Raises `DatabaseUnavailable`."""
    from skillroute.core.trace.repository import TraceRepository

    days = core.settings.trace_days
    return core.storage.transact(lambda session: TraceRepository(session).prune(days=days))
