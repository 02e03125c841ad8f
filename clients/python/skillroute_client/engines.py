"""The two ways to make a call: blocking, and on an event loop. All else they share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

import httpx

from skillroute_client.calls import Call, Calls
from skillroute_client.connection import Connection
from skillroute_client.exchange import Exchange, Outcome, Pause, exchange, exchange_all
from skillroute_client.pages import AsyncPages, Listing, Pages
from skillroute_client.retrying import Retry

T = TypeVar("T")


class Sync:
    """Marks what blocks."""


class Async:
    """Marks what is awaited."""


M = TypeVar("M", Sync, Async)


class Engine(Generic[M]):
    """Makes calls."""

    def __init__(self, connection: Connection, retry: Retry) -> None:
        self._connection = connection
        self._retry = retry

    def run(self, call: Call[Any] | Calls[Any]) -> Any:
        """Make a call, or several, and return the result, or a coroutine of it."""
        raise NotImplementedError

    def pages(self, listing: Listing[Any]) -> Any:
        """Return the pages of a list, of which none is asked for yet."""
        raise NotImplementedError

    def _exchange(self, call: Call[T] | Calls[T]) -> Exchange[T]:
        if isinstance(call, Call):
            return exchange(call, self._connection, self._retry)
        return exchange_all(call, self._connection, self._retry)


class SyncEngine(Engine[Sync]):
    """Makes calls and blocks meanwhile."""

    def __init__(self, http: httpx.Client, connection: Connection, retry: Retry, sleep: Callable[[float], Any]) -> None:
        super().__init__(connection, retry)
        self._http = http
        self._sleep = sleep

    def run(self, call: Call[T] | Calls[T]) -> T:
        """Make a call, or several, and return the result."""
        steps = self._exchange(call)
        outcome: Outcome = None
        try:
            while True:
                step = steps.send(outcome)
                if isinstance(step, Pause):
                    outcome = self._sleep(step.seconds)
                    continue
                try:
                    outcome = self._http.send(step, follow_redirects=False)
                except httpx.TransportError as error:
                    outcome = error
        except StopIteration as end:
            result: T = end.value
            return result

    def pages(self, listing: Listing[T]) -> Pages[T]:
        """Return the pages of a list, of which none is asked for yet."""
        return Pages(self.run, listing)


class AsyncEngine(Engine[Async]):
    """Makes calls on an event loop."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        connection: Connection,
        retry: Retry,
        sleep: Callable[[float], Awaitable[Any]],
    ) -> None:
        super().__init__(connection, retry)
        self._http = http
        self._sleep = sleep

    async def run(self, call: Call[T] | Calls[T]) -> T:
        """Make a call, or several, and return the result."""
        steps = self._exchange(call)
        outcome: Outcome = None
        try:
            while True:
                step = steps.send(outcome)
                if isinstance(step, Pause):
                    outcome = await self._sleep(step.seconds)
                    continue
                try:
                    outcome = await self._http.send(step, follow_redirects=False)
                except httpx.TransportError as error:
                    outcome = error
        except StopIteration as end:
            result: T = end.value
            return result

    def pages(self, listing: Listing[T]) -> AsyncPages[T]:
        """Return the pages of a list, of which none is asked for yet."""
        return AsyncPages(self.run, listing)
