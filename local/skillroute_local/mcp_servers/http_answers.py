"""Answers over HTTP that are read to a bound, as those of programs are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2


class AnswerTooLongError(httpx2.StreamError):
    """An answer, or a line of a stream of events, has more bytes than are read."""


class Bounded(httpx2.AsyncByteStream):
    """The bytes of a response, up to a bound.

    Parameters
    ----------
    stream : asynchronous stream of bytes
    most_bytes : int
        Of a whole answer, or of one line where it is a stream of events, which may go on for ever.
    """

    def __init__(self, stream: Any, most_bytes: int, *, by_line: bool) -> None:
        self._stream = stream
        self._most_bytes = most_bytes
        self._by_line = by_line

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield the bytes as they come. Raises `AnswerTooLongError` beyond the bound."""
        size = 0
        async for piece in self._stream:
            at = piece.rfind(b"\n") if self._by_line else -1
            size = size + len(piece) if at < 0 else len(piece) - at - 1
            if size > self._most_bytes:
                raise AnswerTooLongError(
                    f"more than {self._most_bytes / 1e6:g} MB: ask for less at once, or allow more by --max-answer-mb"
                )
            yield piece

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()
