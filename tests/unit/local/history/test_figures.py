"""Figures that are put together: counts add up, times stay percentiles, and gaps stay gaps."""

from __future__ import annotations

import pytest
from skillroute_local.history.figures import (
    Counts,
    Span,
    Waiting,
    class_of,
    classes_of,
    in_steps,
    percentile,
    series_of,
)

AT = 1_800_000_000


@pytest.mark.parametrize("took_ms", [0.4, 7.3, 12.0, 250.0, 61_000.0])
def test_a_time_is_known_to_three_percent(took_ms: float) -> None:
    assert percentile({class_of(took_ms): 1}, 50) == pytest.approx(took_ms, rel=0.03)


def test_percentiles_of_spans_together_are_those_of_all_their_times() -> None:
    quick = Span(AT, 60.0, times=classes_of([10.0] * 95))
    slow = Span(AT + 60, 60.0, times=classes_of([400.0] * 5 + [900.0] * 6))
    both = quick.plus(slow).times
    assert percentile(both, 50) == pytest.approx(10.0, rel=0.03)
    assert percentile(both, 95) == pytest.approx(900.0, rel=0.03)
    assert percentile({}, 50) is None


def test_counts_add_up_and_what_waits_is_what_waited_last() -> None:
    first = Span(AT, 60.0, Counts(searches=3, empty=1, writes=2), Waiting(index_lag=5, classify=4, queued=6, dead=1))
    second = Span(AT + 60, 30.0, Counts(searches=4, refused=2), Waiting(index_lag=0, classify=0, queued=0, dead=1))
    both = first.plus(second)
    assert (both.at, both.seconds) == (AT, 90.0)
    assert both.counts == Counts(searches=7, empty=1, refused=2, writes=2)
    assert both.waiting == second.waiting
    # A database that was away says nothing of what waits.
    assert first.plus(Span(AT + 60, 60.0)).waiting == first.waiting


def test_steps_have_gaps_where_nothing_was_recorded() -> None:
    spans = [Span(AT + at, 60.0, Counts(searches=each)) for at, each in ((0, 6.0), (60, 4.0), (600, 2.0))]
    steps = in_steps([*spans, Span(AT - 60, 60.0), Span(AT + 900, 60.0)], AT, 300, 3)
    series = series_of(steps, AT, 300)
    assert series["at"] == [AT, AT + 300, AT + 600]
    assert series["searches"] == [10.0, None, 2.0]
    # A minute, also where half of a step was recorded.
    assert series["rate"] == [5.0, None, 2.0]
    assert series["p95"] == [None, None, None]
