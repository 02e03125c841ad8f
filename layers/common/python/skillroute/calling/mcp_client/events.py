"""Server-sent events, read as their bytes come (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """An event: its name, ``message`` where none is given, and its data."""

    name: str
    data: bytes


class EventReader:
    """Puts events together. What it holds is bounded by who counts the bytes.

    Examples
    --------
    >>> reader = EventReader()
    >>> [*reader.feed(b"event: endpoint\\ndata: /messa"), *reader.feed(b"ges\\r\\n\\r\\n")]
    [Event(name='endpoint', data=b'/messages')]
    """

    def __init__(self) -> None:
        self._pending: list[bytes] = []
        self._name = "message"
        self._data: list[bytes] = []
        self._is_first = True

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """Yield the events that end in a chunk."""
        for raw in self._lines(chunk):
            line = raw.removeprefix(b"\xef\xbb\xbf") if self._is_first else raw
            self._is_first = False
            if line:
                self._field(line)
                continue
            if self._data:
                yield Event(self._name, b"\n".join(self._data))
            self._name, self._data = "message", []

    def _field(self, line: bytes) -> None:
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value[:100].decode("utf-8", "replace") or "message"

    def _lines(self, chunk: bytes) -> list[bytes]:
        """Return the lines that end in a chunk; a CR at its end waits for the LF that may follow."""
        has_cr = bool(self._pending) and self._pending[-1].endswith(b"\r")
        self._pending.append(chunk)
        if not has_cr and b"\n" not in chunk and b"\r" not in chunk:
            return []
        text = b"".join(self._pending)
        end = max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1
        self._pending = [text[end:]] if end < len(text) else []
        return text[:end].splitlines()
