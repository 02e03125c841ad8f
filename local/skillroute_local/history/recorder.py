"""Recording, once a minute, what a process has counted since: searches themselves do nothing for it."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from skillroute.core.errors.model import SkillrouteError
from skillroute.core.observability import Metric, logger
from skillroute.core.observability import counts as counted
from skillroute.core.observability import take_search_times as taken_times
from skillroute.core.time.clock import Clock
from skillroute.skills.queues import CLASSIFY

from skillroute_local.history.figures import Counts, Span, Waiting, classes_of
from skillroute_local.history.ring import MINUTE_S, HistoryFile
from skillroute_local.queue_counts import messages_in, work_in

if TYPE_CHECKING:
    from types import TracebackType

    from skillroute.wiring import Parts

_WRITTEN = (
    *(Metric.ITEMS_WRITTEN, Metric.ENTITIES_WRITTEN, Metric.SKILLS_WRITTEN, Metric.AGENT_SKILLS_WRITTEN),
    *(Metric.MAIL_WRITTEN, Metric.SKILL_LINES_WRITTEN),
)
_FAILED = (
    *(Metric.ITEMS_FAILED, Metric.ENTITIES_FAILED, Metric.SKILLS_FAILED, Metric.AGENT_SKILLS_FAILED),
    *(Metric.MAIL_FAILED, Metric.SKILL_LINES_FAILED),
)
METRICS: Mapping[str, tuple[Metric, ...]] = {
    "searches": (Metric.SEARCH,),
    "empty": (Metric.SEARCH_EMPTY,),
    "degraded": (Metric.SEARCH_DEGRADED,),
    "refused": (Metric.SEARCH_REFUSED,),
    "failed": (Metric.SEARCH_FAILED,),
    "writes": _WRITTEN,
    "writes_failed": _FAILED,
}
"""The metrics that each figure of `Counts` is the sum of."""


class Recorder:
    """Writes what was counted since it was made, or since it wrote last.

    Parameters
    ----------
    file : HistoryFile
    waiting : callable
        Returns what waits now. What of it cannot be read is None; it raises nothing.
    counts, times : callable
        Return what the process has counted, by metric, and the times of searches since they were last taken.
    now : callable
        Seconds of the epoch.
    clock : Clock
        Measures how much of a minute was recorded. It stands still while the machine sleeps.
    """

    def __init__(
        self,
        file: HistoryFile,
        waiting: Callable[[], Waiting],
        *,
        counts: Callable[[], Mapping[str, float]] = counted,
        times: Callable[[], list[float]] = taken_times,
        now: Callable[[], float] = time.time,
        clock: Clock = time.monotonic,
    ) -> None:
        self._file, self._waiting = file, waiting
        self._counts, self._times = counts, times
        self._now, self._clock = now, clock
        self._before, self._since = dict(counts()), clock()
        self._untold: Counter[int] = Counter()  # times that could not be written yet, by class: they stay few
        times()

    def step(self) -> None:
        """Write a row; where that fails it is logged, and the next row has what this one would have had."""
        read, clock = dict(self._counts()), self._clock()
        self._untold.update(classes_of(self._times()))
        seconds = clock - self._since
        # The minute that most of it was in: a step comes a little after the full minute.
        at = int(self._now() - min(seconds, MINUTE_S) / 2)
        happened = Counts(**{name: self._more(read, metrics) for name, metrics in METRICS.items()})
        span = Span(at - at % MINUTE_S, seconds, happened, self._waiting(), self._untold)
        try:
            self._file.add(span)
        except (sqlite3.Error, OSError) as error:
            logger.warning("history not written", extra={"reason": str(error)})
            return
        self._before, self._since = read, clock
        self._untold = Counter()

    def _more(self, read: Mapping[str, float], metrics: tuple[Metric, ...]) -> float:
        return sum(read.get(metric.value, 0.0) - self._before.get(metric.value, 0.0) for metric in metrics)


class EachMinute:
    """Has a recorder write at each full minute, in a thread of its own, and once more at the end."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(MINUTE_S - time.time() % MINUTE_S):
            self._step()
        self._step()

    def _step(self) -> None:
        try:
            self._recorder.step()
        except Exception:  # noqa: BLE001 (logged; the next minute is tried again)
            logger.exception("history not written")


def waiting_in(parts: Parts) -> Waiting:
    """Return what waits in the queues and for the index of this process; None for what cannot be read."""
    with suppress(SkillrouteError):
        return replace(queued_in(parts), index_lag=parts.replica.lag())
    return queued_in(parts)


def queued_in(parts: Parts) -> Waiting:
    """Return what waits in the queues; None for what cannot be read."""
    try:
        work = work_in(parts.database)
    except SkillrouteError:
        return Waiting()
    dead = {queue: depth.dead for queue, depth in work.items()}
    with suppress(SkillrouteError):
        for queue, depth in (messages_in(parts.queue) if parts.queue else {}).items():
            dead[queue] = max(dead.get(queue, 0), depth.dead or 0)  # the same work, as both have it
    return Waiting(
        classify=next((depth.waiting for queue, depth in work.items() if queue == CLASSIFY), 0),
        queued=sum(depth.waiting for depth in work.values()),
        dead=sum(dead.values()),
    )
