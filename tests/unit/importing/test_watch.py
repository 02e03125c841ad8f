"""When a source that is watched is imported again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path

import pytest
from skillroute_local.importing.watch import LOOK_EVERY_S, RETRY_AFTER_S, Watch, Watched, signature


class Time:
    """A clock that goes on when somebody sleeps, and lets things happen then."""

    def __init__(self, *events: Callable[[], object]) -> None:
        self.now = 0.0
        self._events = list(events)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self._events:
            self._events.pop(0)()

    def clock(self) -> float:
        return self.now


def nothing() -> None:
    pass


def test_a_file_is_due_when_it_changed_and_not_while_it_is_away(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text("1", encoding="utf-8")

    def write(text: str) -> Callable[[], object]:
        return lambda: file.write_text(text, encoding="utf-8")

    time = Time(nothing, write("22"), nothing, file.unlink, nothing, write("333"), nothing)
    watch = Watch([Watched(file)], sleep=time.sleep, clock=time.clock)

    due = [(place, time.now) for place in islice(watch.changes(), 2)]

    assert due == [(0, 2 * LOOK_EVERY_S), (0, 6 * LOOK_EVERY_S)]


def test_a_change_of_the_time_alone_counts_and_one_between_two_looks_is_seen(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text("1", encoding="utf-8")
    watch = Watch([Watched(file)], sleep=nothing_of_it, clock=lambda: 0.0)

    os.utime(file, ns=(1, 1))  # before the first look

    assert next(watch.changes()) == 0


def nothing_of_it(seconds: float) -> None:
    del seconds


def test_a_folder_is_due_when_a_file_in_it_changed_whatever_leads_back_to_it(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "pdf" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("a", encoding="utf-8")
    (skill.parent / "round").symlink_to(tmp_path / "skills")
    time = Time(nothing, lambda: skill.write_text("bb", encoding="utf-8"))
    other = tmp_path / "other.json"
    other.write_text("1", encoding="utf-8")
    watch = Watch([Watched(other), Watched(tmp_path / "skills")], sleep=time.sleep, clock=time.clock)

    assert (next(watch.changes()), time.now) == (1, 2 * LOOK_EVERY_S)
    assert len(signature(tmp_path / "skills")) == 1


def test_what_has_no_file_is_due_by_the_clock() -> None:
    time = Time()
    watch = Watch([Watched(None, every_s=5.0)], sleep=time.sleep, clock=time.clock)

    assert [time.now for _ in islice(watch.changes(), 2)] == [5.0, 10.0]


def test_an_import_that_failed_is_made_again_though_nothing_changed(tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        file.write_text("1", encoding="utf-8")

    class Ended(Exception):
        pass

    def end() -> None:
        raise Ended

    looks = int(RETRY_AFTER_S / LOOK_EVERY_S)
    time = Time(*[nothing] * (2 * looks + 4), lambda: files[1].write_text("22", encoding="utf-8"), *[nothing] * 20, end)
    # The first import fails, and the next of b; then b changes and fails once more.
    outcomes = iter([False, True, False, True, False, True])
    made: list[tuple[list[int], float]] = []

    def import_(places: Sequence[int]) -> bool:
        made.append((list(places), time.now))
        return next(outcomes)

    with pytest.raises(Ended):
        Watch([Watched(file) for file in files], sleep=time.sleep, clock=time.clock).run(import_)

    changed = 2 * RETRY_AFTER_S + 5 * LOOK_EVERY_S
    assert made == [
        ([0, 1], 0.0),
        ([0], RETRY_AFTER_S),
        ([1], RETRY_AFTER_S),
        ([1], 2 * RETRY_AFTER_S),
        ([1], changed),
        ([1], changed + RETRY_AFTER_S),
    ]
