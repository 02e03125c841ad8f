"""The figures of a span of time: counts that add up, times in classes, and what waited at its end."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields

_CLASS = math.log(1.05)  # a time is known to 2.5 %, and a thousand ms is class 142


@dataclass(frozen=True, slots=True)
class Counts:
    """How often something happened in a span.

    Attributes
    ----------
    searches : float
        Answered ones.
    empty, degraded : float
        Of these, the ones that found nothing that fits, and the ones that went on without a part.
    refused, failed : float
        Searches without an answer: for want of rights or budget, and by an error.
    writes, writes_failed : float
        Items of all kinds.
    """

    searches: float = 0.0
    empty: float = 0.0
    degraded: float = 0.0
    refused: float = 0.0
    failed: float = 0.0
    writes: float = 0.0
    writes_failed: float = 0.0

    def plus(self, other: Counts) -> Counts:
        """Return the sum of both."""
        return Counts(*(getattr(self, name) + getattr(other, name) for name in COUNTS))


@dataclass(frozen=True, slots=True)
class Waiting:
    """How much waits at a moment; None for what could not be read.

    Attributes
    ----------
    index_lag : float or None
        Changes that are not in the index.
    classify : float or None
        Tools that wait to be classified.
    queued : float or None
        Work of all queues, classification with it.
    dead : float or None
        Work that was given up.
    """

    index_lag: float | None = None
    classify: float | None = None
    queued: float | None = None
    dead: float | None = None


COUNTS = tuple(each.name for each in fields(Counts))
WAITING = tuple(each.name for each in fields(Waiting))


@dataclass(frozen=True, slots=True)
class Span:
    """Figures from a moment on.

    Attributes
    ----------
    at : int
        When it begins, in seconds of the epoch.
    seconds : float
        How much of it was recorded.
    times : mapping of int to int
        How many searches took how long, by class; see `class_of`.
    """

    at: int
    seconds: float
    counts: Counts = Counts()
    waiting: Waiting = Waiting()
    times: Mapping[int, int] = field(default_factory=dict)

    def plus(self, later: Span) -> Span:
        """Return both as one, with the later one's waiting work; that of the earlier where it could not be read."""
        last = later.waiting if later.waiting != Waiting() else self.waiting
        times = Counter(self.times) + Counter(later.times)
        return Span(self.at, self.seconds + later.seconds, self.counts.plus(later.counts), last, times)


def class_of(took_ms: float) -> int:
    """Return the class of a time: each is 5 % longer than the one before."""
    return round(math.log(max(took_ms, 0.01)) / _CLASS)


def classes_of(took_ms: Iterable[float]) -> dict[int, int]:
    """Return how many times there are of each class."""
    return dict(Counter(map(class_of, took_ms)))


def percentile(times: Mapping[int, int], percent: int) -> float | None:
    """Return the time in milliseconds that so many percent do not exceed, to 2.5 %; None where there is none."""
    left = max(1, math.ceil(percent * sum(times.values()) / 100))
    for class_ in sorted(times):
        left -= times[class_]
        if left <= 0:
            return round(math.exp(class_ * _CLASS), 2)
    return None


def in_steps(spans: Iterable[Span], start: int, step_s: int, steps: int) -> list[Span | None]:
    """Return the spans put together by steps from `start` on; None for a step without any, which is a gap."""
    found: list[Span | None] = [None] * steps
    for span in sorted(spans, key=lambda each: each.at):
        place = (span.at - start) // step_s
        if 0 <= place < steps:
            before = found[place]
            found[place] = span if before is None else before.plus(span)
    return found


def series_of(steps: Sequence[Span | None], start: int, step_s: int) -> dict[str, list[float | None]]:
    """Return each figure as a list with a value for each step, None in gaps: as charts take them.

    `rate` is searches a minute of what was recorded.
    """
    made: dict[str, list[float | None]] = {"at": [start + place * step_s for place in range(len(steps))]}
    for name in COUNTS:
        made[name] = [None if span is None else getattr(span.counts, name) for span in steps]
    for name in WAITING:
        made[name] = [None if span is None else getattr(span.waiting, name) for span in steps]
    for percent in (50, 95):
        made[f"p{percent}"] = [None if span is None else percentile(span.times, percent) for span in steps]
    made["rate"] = [
        None if span is None else round(60.0 * span.counts.searches / max(span.seconds, 1.0), 2) for span in steps
    ]
    return made
