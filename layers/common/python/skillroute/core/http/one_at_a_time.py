"""Batches of a process, one at a time, on a separate thread (docs/adr/0065)."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from skillroute.core.caller import Caller
from skillroute.core.errors.model import BudgetSpent

T = TypeVar("T")

MAX_PER_ORGANISATION = 4
"""Batches of one organisation that run or wait in a process: more of them would be in the way of the next one's."""


class OneAtATime:
    """Runs what takes long so that plain requests keep all threads of theirs."""

    def __init__(self) -> None:
        self._limiter: CapacityLimiter | None = None
        self._lock = threading.Lock()
        self._under_way: Counter[str | None] = Counter()

    async def run(self, caller: Caller, work: Callable[[], T]) -> T:
        """Return what `work` returns, on another thread, when those before it are through.

        Raises
        ------
        BudgetSpent
            So many of the caller's organisation run or wait already.
        """
        with self._lock:
            if self._under_way[caller.org_id] >= MAX_PER_ORGANISATION:
                raise BudgetSpent(
                    f"{MAX_PER_ORGANISATION} batches of this organisation are under way: try again in a second", 1
                )
            self._under_way[caller.org_id] += 1
            if self._limiter is None:
                self._limiter = CapacityLimiter(1)
        try:
            return await to_thread.run_sync(work, limiter=self._limiter)
        finally:
            with self._lock:
                self._under_way[caller.org_id] -= 1
                if not self._under_way[caller.org_id]:
                    del self._under_way[caller.org_id]
