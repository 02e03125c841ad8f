"""The last searches of this process: how long their stages took, and what found nothing. Nothing of it is stored."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from skillroute.core.caller import Caller

SEARCHES_KEPT = 500
REQUESTS_KEPT = 50


@dataclass(frozen=True, slots=True)
class StageTimes:
    """How long a stage took in the searches in which it ran, in milliseconds of wall clock."""

    searches: int
    p50_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class FoundNothing:
    """A request that nothing seemed to fit.

    Attributes
    ----------
    times : int
        How often it came.
    last_at : datetime
        UTC.
    """

    query: str
    times: int
    last_at: datetime


def _now() -> datetime:
    return datetime.now(UTC)


class RecentSearches:
    """Remembers the last 500 searches, and the last 50 requests that found nothing."""

    def __init__(self, now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._stages_ms: deque[Mapping[str, float]] = deque(maxlen=SEARCHES_KEPT)
        self._nothing: OrderedDict[str, FoundNothing] = OrderedDict()

    def note(self, stages_ms: Mapping[str, float], *, unserved: Iterable[str], caller: Caller) -> None:
        """Remember a search.

        Parameters
        ----------
        stages_ms : mapping of str to float
            By the names of stages; 0 where one did not run.
        unserved : iterable of str
            The texts that nothing seemed to fit: its query, or some of its needs.
        caller : Caller
            What members of an organisation ask for is theirs: of their requests the times alone are remembered.
        """
        with self._lock:
            self._stages_ms.append(stages_ms)
            if caller.org_id is not None:
                return
            for text in unserved:
                before = self._nothing.pop(text, None)
                self._nothing[text] = FoundNothing(text, before.times + 1 if before else 1, self._now())
                if len(self._nothing) > REQUESTS_KEPT:
                    self._nothing.popitem(last=False)

    def latency(self) -> dict[str, StageTimes]:
        """Return how long each stage took that ran at all."""
        with self._lock:
            searches = list(self._stages_ms)
        times: dict[str, list[float]] = {}
        for stages in searches:
            for stage, took in stages.items():
                if took > 0:
                    times.setdefault(stage, []).append(took)
        return {stage: _times(sorted(took)) for stage, took in times.items()}

    def found_nothing(self) -> list[FoundNothing]:
        """Return the requests that found nothing, the last one first."""
        with self._lock:
            return list(reversed(self._nothing.values()))


def _times(took: list[float]) -> StageTimes:
    return StageTimes(len(took), _percentile(took, 50), _percentile(took, 95))


def _percentile(ordered: list[float], percent: int) -> float:
    """Return the smallest value that at least so many percent do not exceed."""
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]
