"""Which events wait, which are written at once, and what is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from skillroute.core import observability
from skillroute.core.caller import LAPTOP
from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.core.trace.model import Kind, TraceEvent
from skillroute.core.trace.recorder import TraceRecorder

from tests.doubles import FakeClock


def event(kind: Kind, what: str = "x") -> TraceEvent:
    return TraceEvent(
        at=datetime(2026, 11, 27, tzinfo=UTC), kind=kind, outcome="ok", caller=LAPTOP, door="http", what=what, took_ms=1
    )


class Written:
    def __init__(self) -> None:
        self.whats: list[list[str]] = []
        self.failure: Exception | None = None

    def __call__(self, rows: Sequence[Mapping[str, Any]]) -> None:
        if self.failure is not None:
            raise self.failure
        self.whats.append([row["what"] for row in rows])


@pytest.mark.parametrize("kind", ["call", "refusal", "change"])
def test_all_but_searches_are_written_at_once(kind: Kind) -> None:
    written = Written()
    TraceRecorder(written, starts=False).record(event(kind))
    assert written.whats == [["x"]]


def test_searches_wait_and_the_oldest_beyond_the_bound_are_lost_and_counted() -> None:
    written, before = Written(), observability.counts().get("TraceLost", 0)
    recorder = TraceRecorder(written, most=2, starts=False, clock=FakeClock())
    for what in "abc":
        recorder.record(event("search", what))
    assert written.whats == []
    recorder.step()
    assert written.whats == [["b", "c"]]
    assert observability.counts()["TraceLost"] == before + 1


def test_searches_are_left_out_where_they_are_not_asked_for() -> None:
    written = Written()
    recorder = TraceRecorder(written, searches=False, starts=False)
    recorder.record(event("search"))
    assert (recorder.step(), written.whats) == (None, [])


@pytest.mark.parametrize("failure", [DatabaseUnavailable("gone"), ValueError("a row that cannot be written")])
def test_what_cannot_be_written_is_counted_logged_and_raises_nothing(
    failure: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    written, before = Written(), observability.counts().get("TraceLost", 0)
    written.failure = failure
    TraceRecorder(written, starts=False).record(event("change"))
    assert observability.counts()["TraceLost"] == before + 1
    assert "trace lost" in [record.getMessage() for record in caplog.records]


def test_arguments_are_kept_where_they_are_asked_for_alone() -> None:
    assert TraceRecorder(Written()).arguments({"city": "Rome"}) is None
    kept = TraceRecorder(Written(), arguments=True).arguments({"city": "Rome", "password": "hunter2"})
    assert kept is not None and "Rome" in kept and "hunter2" not in kept
