"""Live states in the memory of a process: how much of them there is, and threads that want the same one at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest
from skillroute.core.errors.model import DatabaseUnavailable
from skillroute.learning.states.live import LOOK_EVERY_S, LiveStates

from tests.builders import of_org
from tests.component.learning.conftest import TABLE, TEXTS, Used
from tests.doubles import FakeClock


def states(used: Used, clock: FakeClock) -> LiveStates:
    return LiveStates(used.system.database, clock=clock)


class Remembering:
    """Live states as a process remembers them, and whether it reads one anew."""

    def __init__(self, used: Used) -> None:
        self.live, self.model = states(used, FakeClock()), used.system.embedder.model
        self._database = used.system.database

    def reads(self, *orgs: str | None) -> int:
        """Ask for these organisations' states, and return how often PostgreSQL was asked."""
        calls = self._database.calls
        for org in orgs:
            self.live.of(of_org(org), self.model)
        return self._database.calls - calls


def test_of_many_organisations_the_least_recently_used_is_not_remembered(
    used: Used, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillroute.learning.states.live.MAX_ORGS", 2)
    process = Remembering(used)
    assert process.reads("a", "b", "a", "c") == 3
    assert process.reads("c", "a") == 0
    assert process.reads("b") == 1


def test_so_is_it_where_their_states_are_large_together(used: Used, monkeypatch: pytest.MonkeyPatch) -> None:
    for org in ("a", "b", "c"):
        used.lives(used.meant, org=org)
    process = Remembering(used)
    one = process.live.of(of_org("a"), process.model)
    assert one is not None
    monkeypatch.setattr("skillroute.learning.states.live.MAX_BYTES", 2 * one.n_bytes)  # type: ignore[attr-defined]
    assert process.reads("b", "a", "c") == 2
    assert process.reads("c", "a") == 0
    assert process.reads("b") == 1


def test_one_that_is_too_large_by_itself_is_remembered_until_another_is_used(
    used: Used, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skillroute.learning.states.live.MAX_BYTES", 1)
    used.lives(used.meant)
    process = Remembering(used)
    assert process.reads("a", "a") == 1
    assert process.reads("b", "a") == 2


def test_the_global_state_is_in_memory_once_for_all_organisations(used: Used, monkeypatch: pytest.MonkeyPatch) -> None:
    used.lives(used.meant, org=None)
    used.lives(used.rivals[0], org="a")
    process = Remembering(used)
    of = {org: process.live.of(of_org(org), process.model) for org in (None, "a", "b")}
    assert of[None] is of["b"]
    assert of["a"] is not None
    assert of["b"] is not None
    assert of["a"].near(TABLE[TEXTS[0]]).keys() == {str(used.meant), str(used.rivals[0])}
    monkeypatch.setattr("skillroute.learning.states.live.MAX_BYTES", 2 * of["b"].n_bytes)  # type: ignore[attr-defined]
    assert process.reads("c", "d", None, "a", "b") == 2, "two states are in memory, whatever number go by them"


# Threads


class Waiting(Future[Any]):
    """Says that a thread waits for what another one does."""

    seen: Event

    def result(self, timeout: float | None = None) -> Any:
        if not self.done():
            self.seen.set()
        return super().result(timeout)


class Slow:
    """A database whose reads last until they are let go."""

    def __init__(self, used: Used) -> None:
        self.database, self.begun, self.end = used.system.database, Event(), Event()

    def __enter__(self) -> Slow:
        self.database.before_read = self._read
        return self

    def __exit__(self, *_: object) -> None:
        self.end.set()
        self.database.before_read = lambda: None

    def _read(self) -> None:
        self.begun.set()
        assert self.end.wait(30.0)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> Event:
    monkeypatch.setattr(Waiting, "seen", Event(), raising=False)
    monkeypatch.setattr("skillroute.learning.states.live.Future", Waiting)
    return Waiting.seen


def test_while_one_thread_looks_the_others_go_by_what_is_known(used: Used, threads: ThreadPoolExecutor) -> None:
    clock, model = FakeClock(), used.system.embedder.model
    live = states(used, clock)
    used.lives(used.meant)
    known = live.of(of_org("a"), model)
    used.lives(used.rivals[0], org=None)
    clock.advance(LOOK_EVERY_S)
    calls = used.system.database.calls
    with Slow(used) as slow:
        looking = threads.submit(live.of, of_org("a"), model)
        assert slow.begun.wait(30.0)
        assert live.of(of_org("a"), model) is known
        assert used.system.database.calls == calls + 1
    found = looking.result(30.0)
    assert found is not None
    assert str(used.rivals[0]) in found.near(TABLE[TEXTS[0]])
    assert live.of(of_org("a"), model) is found


def test_threads_of_one_organisation_wait_for_one_reading(
    used: Used, threads: ThreadPoolExecutor, waits: Event
) -> None:
    used.lives(used.meant)
    live, model, calls = states(used, FakeClock()), used.system.embedder.model, used.system.database.calls
    with Slow(used) as slow:
        first = threads.submit(live.of, of_org("a"), model)
        assert slow.begun.wait(30.0)
        second = threads.submit(live.of, of_org("a"), model)
        assert waits.wait(30.0)
    assert first.result(30.0) is second.result(30.0) is not None
    assert used.system.database.calls == calls + 1


def test_threads_that_wait_learn_that_it_failed_and_the_next_search_reads_anew(
    used: Used, threads: ThreadPoolExecutor, waits: Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    used.lives(used.meant)
    live, model, database = states(used, FakeClock()), used.system.embedder.model, used.system.database
    begun, end = Event(), Event()

    def fail() -> None:
        begun.set()
        assert end.wait(30.0)
        raise DatabaseUnavailable("away")

    monkeypatch.setattr(database, "before_read", fail)
    first = threads.submit(live.of, of_org("a"), model)
    assert begun.wait(30.0)
    second = threads.submit(live.of, of_org("a"), model)
    assert waits.wait(30.0)
    end.set()
    for each in (first, second):
        with pytest.raises(DatabaseUnavailable):
            each.result(30.0)
    monkeypatch.setattr(database, "before_read", lambda: None)
    assert live.of(of_org("a"), model) is not None


def test_an_organisation_does_not_wait_for_another(used: Used, threads: ThreadPoolExecutor) -> None:
    live, model = states(used, FakeClock()), used.system.embedder.model
    used.lives(used.meant, org="b")
    known = live.of(of_org("b"), model)
    with Slow(used) as slow:
        threads.submit(live.of, of_org("a"), model)
        assert slow.begun.wait(30.0)
        assert live.of(of_org("b"), model) is known
