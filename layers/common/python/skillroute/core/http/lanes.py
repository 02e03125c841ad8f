"""On which threads requests are answered: heavy ones keep off those that plain ones share (docs/adr/0065)."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

from skillroute.core.caller import Caller
from skillroute.core.rationing.work import HEAVY_UNITS, Work

T = TypeVar("T")

HEAVY_THREADS = 2
WAITING_THREADS = 200
"""More than organisations at once have calls under way, each within its limit."""


class _Heavy:
    """The threads of heavy requests. Of an organisation no more than these wait for one: others come between."""

    def __init__(self) -> None:
        self.threads = CapacityLimiter(HEAVY_THREADS)
        self._of: dict[str | None, CapacityLimiter] = {}
        self._under_way: Counter[str | None] = Counter()

    @asynccontextmanager
    async def place_of(self, org_id: str | None) -> AsyncIterator[None]:
        """Wait for the others of the organisation."""
        self._under_way[org_id] += 1
        try:
            async with self._of.setdefault(org_id, CapacityLimiter(HEAVY_THREADS)):
                yield
        finally:
            self._under_way[org_id] -= 1
            if not self._under_way[org_id]:
                del self._under_way[org_id], self._of[org_id]


class Lanes:
    """Has requests answered on threads: what is heavy waits there for plain ones, which so must not wait for it."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._heavy: RunVar[_Heavy] = RunVar("heavy")  # of an event loop, as limiters are
        self._waiting: RunVar[CapacityLimiter] = RunVar("waiting")

    async def charged(self, caller: Caller, units: float, work: Callable[[], T]) -> T:
        """Return what `work` returns, which costs so many units.

        Raises
        ------
        BudgetSpent
            The caller has none of its budget left, or its organisation.
        """

        def begun() -> T:
            with self._work(caller, units):
                return work()

        return await self.run(caller, units, begun)

    async def waiting(self, work: Callable[[], T]) -> T:
        """Return what `work` returns, which waits for others most of its time: on threads that no search needs."""
        threads = self._waiting.get(None)
        if threads is None:
            self._waiting.set(threads := CapacityLimiter(WAITING_THREADS))
        return await to_thread.run_sync(work, limiter=threads)

    async def run(self, caller: Caller, units: float, work: Callable[[], T]) -> T:
        """Return what `work` returns, which charges for itself about so many units."""
        if units < HEAVY_UNITS:
            with self._work.turns.plain():  # on the ways to the thread and back, too, which are slow beside heavy work
                return await to_thread.run_sync(work)
        heavy = self._heavy.get(None)
        if heavy is None:
            self._heavy.set(heavy := _Heavy())
        async with heavy.place_of(caller.org_id):
            return await to_thread.run_sync(work, limiter=heavy.threads)
