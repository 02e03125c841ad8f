"""Messages out of what a server's program writes, one a line: in linear time, and none longer than a bound."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_types import RequestId

TOO_LONG = object()
"""In the error that a call gets whose answer was not kept: it is too long, or has no form that is known."""

MAX_VALUES = 250_000
"""Of a message: a million small lists are 3 MB to send, and take a second and 100 MB of memory to read."""

_END_BYTES = 4_096
_ID = rb'"id"\s*:\s*(-?\d{1,19}|"(?:[^"\\]|\\.){0,200}")'
_JSONRPC = rb'"jsonrpc"\s*:\s*"2\.0"'
_ID_FIRST = re.compile(rb"\s*\{\s*(?:" + _JSONRPC + rb"\s*,\s*)?" + _ID + rb"\s*,")
_ID_LAST = re.compile(_ID + rb"\s*(?:,\s*" + _JSONRPC + rb"\s*)?\}\s*\Z")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_METHOD_FIRST = re.compile(rb"\s*\{\s*(?:" + _JSONRPC + rb'\s*,\s*)?"method"\s*:')


@dataclass(frozen=True, slots=True)
class TooLong:
    """A message that was not kept.

    Attributes
    ----------
    id : str, int or None
        Of the request that it answers; None where neither end of it says so.
    is_answer : bool
        False where it is a request or a notification of the server: no call waits for it.
    is_crowded : bool
        Whether it has too many values, and not too many bytes.
    """

    id: RequestId | None
    is_answer: bool
    is_crowded: bool = False


class Messages:
    """The lines of a program, put together from pieces. A line beyond the bound is read on and not kept.

    Parameters
    ----------
    most_bytes : int
        The longest line that is kept.

    Examples
    --------
    >>> lines = Messages(20)
    >>> [*lines.of(b'{"a":'), *lines.of(b'1}'), *lines.of(b' ' + bytes([10]) + b'{'), *lines.of(b'}' + bytes([10]))]
    [b'{"a":1} ', b'{}']
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._head = b""
        self._tail = b""
        self._is_told = False

    @property
    def size(self) -> int:
        """The bytes so far of the line that is not at its end."""
        return self._size

    def of(self, piece: bytes) -> Iterator[bytes | TooLong]:
        """Yield the lines that end with the next piece, and what is known of one that is too long: once, and early."""
        *ended, rest = piece.split(b"\n")
        for end in ended:
            if (early := self._add(end)) is not None:
                yield early
            if (line := self._take()) is not None:
                yield line
        if (early := self._add(rest)) is not None:
            yield early

    def _add(self, piece: bytes) -> TooLong | None:
        self._size += len(piece)
        if self._size <= self._most_bytes:
            self._pieces.append(piece)
            return None
        if self._pieces or not self._head:
            start = b"".join([*self._pieces, piece])
            self._pieces.clear()
            self._head, self._tail = start[:_END_BYTES], start[-_END_BYTES:]
            return self._early()
        self._tail = (self._tail + piece)[-_END_BYTES:]
        return None

    def _early(self) -> TooLong | None:
        if found := _ID_FIRST.match(self._head):
            self._is_told = True
            return TooLong(_id_of(found), is_answer=True)
        if _METHOD_FIRST.match(self._head):
            self._is_told = True
            return TooLong(None, is_answer=False)
        return None

    def _take(self) -> bytes | TooLong | None:
        """Return the line that has ended, and be ready for the next one."""
        whole = b"".join(self._pieces)
        line: bytes | TooLong | None = _crowded(whole) if _is_crowded(whole) else whole
        if self._size > self._most_bytes:
            line = None if self._is_told else TooLong(_id_of(_ID_LAST.search(self._tail)), is_answer=True)
        self._pieces, self._size, self._head, self._tail, self._is_told = [], 0, b"", b"", False
        return line


def _is_crowded(line: bytes) -> bool:
    """Return whether a line has more values than are read, told without reading it."""
    return len(line) > MAX_VALUES and _marks(line) > MAX_VALUES and _marks(_STRING.sub(b"", line)) > MAX_VALUES


def _marks(line: bytes) -> int:
    return line.count(b",") + line.count(b"[") + line.count(b"{")


def _crowded(line: bytes) -> TooLong:
    return TooLong(answered_id(line), _METHOD_FIRST.match(line[:_END_BYTES]) is None, is_crowded=True)


def answered_id(line: bytes) -> RequestId | None:
    """Return the id of the request that a line answers, by its beginning or its end; None where neither says so.

    Examples
    --------
    >>> answered_id(b'{"jsonrpc": "2.0", "id": 7, "result": 1}'), answered_id(b'{"method": "a", "id": 7}')
    (7, None)
    """
    head, tail = line[:_END_BYTES], line[-_END_BYTES:]
    if _METHOD_FIRST.match(head):
        return None
    return _id_of(_ID_FIRST.match(head) or _ID_LAST.search(tail))


def _id_of(found: re.Match[bytes] | None) -> RequestId | None:
    try:
        id_: RequestId | None = json.loads(found[1]) if found else None
    except ValueError:  # its escapes are none of JSON's
        return None
    return id_
