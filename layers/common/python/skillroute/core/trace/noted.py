"""Notes on a request while it is answered, for the events that it leaves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from skillroute.core.trace.model import TraceDoor


@dataclass(slots=True)
class NotedMessage:
    """A request of the agents' door, of which one HTTP request may have several.

    Attributes
    ----------
    tool : str or None
        The tool that it has called, of this server's own; None for any other request.
    arguments : object
        As they came.
    """

    tool: str | None = None
    arguments: object = None
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    took_ms: float = 0.0
    outcome: str = "ok"
    code: str | None = None
    search_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The request that a call is part of, for its event, in whichever process it is made."""

    door: TraceDoor = "mcp"
    request_id: str | None = None
    trace_id: str | None = None
    traceparent: str | None = None


@dataclass(slots=True)
class Noted:
    """Notes on an HTTP request."""

    request_id: str | None = None
    trace_id: str | None = None
    traceparent: str | None = None
    code: str | None = None
    search_id: UUID | None = None
    messages: list[NotedMessage] = field(default_factory=list)


_noted: ContextVar[Noted | None] = ContextVar("noted", default=None)
_message: ContextVar[NotedMessage | None] = ContextVar("noted_message", default=None)


def noted() -> Noted | None:
    """Return the notes on the request that is answered; None where no events are recorded of it."""
    return _noted.get()


def origin() -> Origin:
    """Return the request that is answered, as calls pass it on."""
    notes = noted()
    return Origin() if notes is None else Origin("mcp", notes.request_id, notes.trace_id, notes.traceparent)


@contextmanager
def noting(notes: Noted) -> Iterator[Noted]:
    """Have a block, and the threads that it has work done on, note what it does."""
    before = _noted.set(notes)
    try:
        yield notes
    finally:
        _noted.reset(before)


@contextmanager
def noting_message(tool: str | None, arguments: object) -> Iterator[NotedMessage]:
    """Have a request of the agents' door noted, with how long the block takes."""
    message = NotedMessage(tool, arguments)
    before, began = _message.set(message), time.perf_counter()
    try:
        yield message
    finally:
        _message.reset(before)
        message.took_ms = (time.perf_counter() - began) * 1000.0
        if (notes := noted()) is not None:
            notes.messages.append(message)


def note_code(code: str) -> None:
    """Note the code of the error that a request is answered with."""
    if (notes := noted()) is not None:
        notes.code = code


def note_search(search_id: UUID) -> None:
    """Note the id of the search that a request made: of a batch the last one's."""
    place = _message.get() or noted()
    if place is not None:
        place.search_id = search_id
