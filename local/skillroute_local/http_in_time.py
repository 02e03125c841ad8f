"""Requests that come in time: uvicorn waits for ever for the rest of one that is half sent."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

_Base: Any = AutoHTTPProtocol


class RequestsInTime(_Base):  # type: ignore[misc]
    """The protocol of a connection, for uvicorn's `http`; it ends one whose request is not whole in time.

    An answer may take as long as it wants, and so may the client with its next request, within uvicorn's own limit.
    """

    request_s = 30.0
    """From the connection, or from the first byte of a further request, to the last byte of its body."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Wait on where a request is not whole yet."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._rest()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if not self._waits():
            self._rest()
        elif self._late is None:
            self._late = self.loop.call_later(self.request_s, self._end)

    def _rest(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _waits(self) -> bool:
        """Return whether there is no request, none but the one that was answered, or one without all of its body."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    def _end(self) -> None:
        self._late = None
        if self._waits():
            self.transport.close()
