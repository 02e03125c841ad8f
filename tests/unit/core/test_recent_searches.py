"""What a process remembers of its last searches, and whose requests it does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count

from skillroute.core.caller import Caller
from skillroute.core.recent_searches import REQUESTS_KEPT, SEARCHES_KEPT, FoundNothing, RecentSearches, StageTimes

EVERYBODY = Caller(org_id=None)
START = datetime(2026, 11, 24, tzinfo=UTC)


def remembering() -> RecentSearches:
    """Return one whose searches are a second apart."""
    seconds = count()
    return RecentSearches(now=lambda: START + timedelta(seconds=next(seconds)))


def test_times_are_of_the_searches_in_which_a_stage_ran() -> None:
    recent = remembering()
    for took in range(1, 21):
        stages = {"total": float(took), "rerank": 5.0 if took == 3 else 0.0, "schema_load": 0.0}
        recent.note(stages, unserved=[], caller=EVERYBODY)
    assert recent.latency() == {"total": StageTimes(20, 10.0, 19.0), "rerank": StageTimes(1, 5.0, 5.0)}
    assert recent.found_nothing() == []


def test_old_searches_are_forgotten() -> None:
    recent = remembering()
    for took in (100.0, *(1.0 for _ in range(SEARCHES_KEPT))):
        recent.note({"total": took}, unserved=[], caller=EVERYBODY)
    assert recent.latency() == {"total": StageTimes(SEARCHES_KEPT, 1.0, 1.0)}


def test_requests_that_found_nothing_come_last_first_and_once() -> None:
    recent = remembering()
    for query in ("tea", "coffee", "tea"):
        recent.note({"total": 1.0}, unserved=[query], caller=EVERYBODY)
    assert recent.found_nothing() == [
        FoundNothing("tea", 2, START + timedelta(seconds=2)),
        FoundNothing("coffee", 1, START + timedelta(seconds=1)),
    ]


def test_the_requests_that_are_kept_are_bounded() -> None:
    recent = remembering()
    for number in range(REQUESTS_KEPT + 5):
        recent.note({"total": 1.0}, unserved=[f"request {number}"], caller=EVERYBODY)
    kept = [found.query for found in recent.found_nothing()]
    assert kept == [f"request {number}" for number in range(REQUESTS_KEPT + 4, 4, -1)]


def test_requests_of_organisations_are_not_kept() -> None:
    recent = remembering()
    recent.note({"total": 1.0}, unserved=["a secret plan"], caller=Caller(org_id="acme"))
    assert recent.found_nothing() == []
    assert recent.latency()["total"].searches == 1
