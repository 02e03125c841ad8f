"""Load on a server: calls drawn by chance, and threads that call until a block ends."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import httpx

Calls = tuple[tuple[int, Callable[[], httpx.Response], set[int]], ...]
"""How often each call is made, compared with the others, and the statuses that it may have."""


class RandomCalls:
    """Makes one call after the other, by chance, and counts what was answered. Subclasses set `_calls`."""

    def __init__(self, http: httpx.Client, seed: int) -> None:
        self._http = http
        self._random = random.Random(seed)
        self._calls: Calls = ()
        self.statuses: Counter[tuple[str, int]] = Counter()
        self.wrong: list[str] = []

    def call_on(self, is_over: Callable[[], bool]) -> None:
        """Call until it is over."""
        weights = [weight for weight, _, _ in self._calls]
        with self._http:
            while not is_over():
                [(_, call, expected)] = self._random.choices(self._calls, weights)
                response = call()
                self.statuses[call.__name__, response.status_code] += 1
                if response.status_code not in expected:
                    self.wrong.append(f"{call.__name__}: {response.status_code} {response.text[:300]}")


def race(clients: Sequence[RandomCalls], changes: Iterable[str], *, often: int, for_s: float, at_most_s: float) -> None:
    """Let clients call at once until every change succeeded often enough; nothing may go wrong meanwhile."""
    began = time.monotonic()

    def too_seldom() -> list[str]:
        succeeded: Counter[str] = Counter()
        for client in clients:
            for (name, status), number in list(client.statuses.items()):
                succeeded[name] += number if status < 300 else 0
        return [each for each in changes if succeeded[each] < often]

    def is_over() -> bool:
        passed_s = time.monotonic() - began
        return passed_s > for_s and (passed_s > at_most_s or not too_seldom())

    with ThreadPoolExecutor(len(clients)) as pool:
        for done in [pool.submit(client.call_on, is_over) for client in clients]:
            done.result()

    statuses: Counter[tuple[str, int]] = sum((client.statuses for client in clients), Counter())
    sys.stdout.write(f"{statuses.total()} calls: {dict(sorted(statuses.items()))}\n")
    assert [wrong for client in clients for wrong in client.wrong] == []
    assert too_seldom() == []


class Threads:
    """A thread for each of `arguments`, from the start of a block to its end, when `_end` is set."""

    def __init__(self, call_on: Callable[..., None], arguments: Iterable[tuple[Any, ...]]) -> None:
        self._end = threading.Event()
        self._threads = [threading.Thread(target=call_on, args=given) for given in arguments]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for thread in self._threads:
            thread.join()
