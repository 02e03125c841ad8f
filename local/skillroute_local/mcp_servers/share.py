"""A server's share of the event loop, which all servers and the agent have together."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

_PART = 0.2
_AT_ONCE_S = 0.005


class Share:
    """The share of time that reading one server's messages may take: a fifth, after a moment that is free.

    Reading holds the whole process, in a thread as well. So a server that writes without end is read more slowly, and
    waits at its full pipe; one that answers calls never gets there.

    Parameters
    ----------
    clock : callable
        Seconds; they only grow.
    sleep : callable
        Waits for so many seconds.
    """

    def __init__(
        self, clock: Callable[[], float] = anyio.current_time, sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._owed_s = 0.0
        self._at = clock()

    async def spend(self, seconds: float) -> None:
        """Note that reading has taken so long, and wait where it was more than the share."""
        now = self._clock()
        self._owed_s = max(0.0, self._owed_s - (now - self._at) * _PART) + seconds
        self._at = now
        if self._owed_s > _AT_ONCE_S:
            await self._sleep(self._owed_s / _PART)
