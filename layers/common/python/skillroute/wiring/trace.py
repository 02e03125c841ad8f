"""The trace: its recorder, and the pruning of events that are too old."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillroute.wiring.parts import CoreParts

if TYPE_CHECKING:
    from skillroute.core.trace.recorder import TraceRecorder


def make_trace(core: CoreParts) -> TraceRecorder | None:
    """Return what records events; None where none are kept. Nothing is opened before the first of them."""
    settings = core.settings
    if settings.trace == "off":
        return None
    from skillroute.core.trace.recorder import TraceRecorder
    from skillroute.core.trace.repository import add_trace

    return TraceRecorder(
        lambda rows: add_trace(core.storage, rows),
        searches=settings.trace == "on",
        arguments=settings.trace_arguments,
    )


def prune_trace(core: CoreParts) -> int:
    """Delete events that are too old; return how many went. Raises `DatabaseUnavailable`."""
    from skillroute.core.trace.repository import TraceRepository

    days = core.settings.trace_days
    return core.storage.transact(lambda session: TraceRepository(session).prune(days=days))
