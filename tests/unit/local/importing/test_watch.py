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

    due = [(places, time.now) for places in islice(watch.changes(), 3)]

    assert due == [([0], 1 * LOOK_EVERY_S), ([0], 3 * LOOK_EVERY_S), ([0], 7 * LOOK_EVERY_S)]


def test_a_change_of_the_time_alone_counts(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    file.write_text("1", encoding="utf-8")
    time = Time(nothing, lambda: os.utime(file, ns=(1, 1)))
    watch = Watch([Watched(file)], sleep=time.sleep, clock=time.clock)

    assert [time.now for _ in islice(watch.changes(), 2)] == [1 * LOOK_EVERY_S, 3 * LOOK_EVERY_S]


@pytest.mark.parametrize("keeps_time", [False, True])
def test_a_file_is_read_when_two_looks_at_it_were_equal_in_time_and_in_content(
    tmp_path: Path, keeps_time: bool
) -> None:
    # GIVEN a file that is written in four steps, the second and the fourth between two looks each
    file = tmp_path / "tools.json"
    file.write_text("0", encoding="utf-8")

    def write(text: str) -> Callable[[], object]:
        def write_it() -> None:
            file.write_text(text, encoding="utf-8")
            if keeps_time:  # as some file systems do, and whoever copies times; the size is the same too
                os.utime(file, ns=(1, 1))

        return write_it

    # WHEN it is looked at every second, at first and when it changes
    time = Time(write("1"), write("2"), nothing, write("3"), write("4"), nothing)
    read = [
        (file.read_text(encoding="utf-8"), time.now)
        for _ in islice(Watch([Watched(file)], sleep=time.sleep, clock=time.clock).changes(), 1 if keeps_time else 2)
    ]

    # THEN only what stayed as it was is read
    assert read == [("2", 3 * LOOK_EVERY_S), ("4", 6 * LOOK_EVERY_S)][: len(read)]


def test_a_folder_is_due_when_a_file_in_it_changed_whatever_leads_back_to_it(tmp_path: Path) -> None:
    skill = tmp_path / "skills" / "pdf" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("a", encoding="utf-8")
    (skill.parent / "round").symlink_to(tmp_path / "skills")
    time = Time(nothing, nothing, lambda: skill.write_text("bb", encoding="utf-8"))
    other = tmp_path / "other.json"
    other.write_text("1", encoding="utf-8")
    watch = Watch([Watched(other), Watched(tmp_path / "skills")], sleep=time.sleep, clock=time.clock)

    assert [(places, time.now) for places in islice(watch.changes(), 2)] == [
        ([0, 1], 1 * LOOK_EVERY_S),
        ([1], 4 * LOOK_EVERY_S),
    ]
    assert len(signature(tmp_path / "skills")) == 1


def test_what_has_no_file_is_due_by_the_clock() -> None:
    time = Time()
    watch = Watch([Watched(None, every_s=5.0)], sleep=time.sleep, clock=time.clock)

    assert [time.now for _ in islice(watch.changes(), 3)] == [0.0, 5.0, 10.0]


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

    first = LOOK_EVERY_S
    changed = first + 2 * RETRY_AFTER_S + 5 * LOOK_EVERY_S
    assert made == [
        ([0, 1], first),
        ([0], first + RETRY_AFTER_S),
        ([1], first + RETRY_AFTER_S),
        ([1], first + 2 * RETRY_AFTER_S),
        ([1], changed),
        ([1], changed + RETRY_AFTER_S),
    ]
