"""How long each stage took (search-contract BR-007)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Measures stages by name, in milliseconds of wall clock; a stage that runs twice adds up."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._stages_ms: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Measure the block as part of a stage, also when it raises."""
        started = time.perf_counter()
        try:
            yield
        finally:
            elapsed_ms = (time.perf_counter() - started) * 1000.0
            self._stages_ms[name] = self._stages_ms.get(name, 0.0) + elapsed_ms

    def ms(self, name: str) -> float:
        """Return the milliseconds of a stage; 0 when it did not run."""
        return round(self._stages_ms.get(name, 0.0), 3)

    def us(self, name: str) -> int | None:
        """Return the microseconds of a stage; None when it did not run."""
        return round(self._stages_ms[name] * 1000.0) if name in self._stages_ms else None

    def total_ms(self) -> float:
        """Return the milliseconds since the stopwatch was made."""
        return round((time.perf_counter() - self._started) * 1000.0, 3)
