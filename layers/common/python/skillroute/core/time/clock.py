"""The clock that durations are measured by."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Seconds that only go forward; tests replace it."""

    def __call__(self) -> float: ...
